import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { captureFile } from '../../../src/app/archive/capture-file.ts';
import { eraseArchived, listReceipts } from '../../../src/app/archive/erase-archived.ts';
import { changeHolds } from '../../../src/app/archive/holds.ts';
import { restoreCaptured } from '../../../src/app/archive/restore-captured.ts';
import type { EraseSelector } from '../../../src/app/archive/select.ts';
import type { ArchiveEraseReport } from '../../../src/app/contract/retention-reports.ts';
import { restoreFile } from '../../../src/app/restore/restore-file.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { collect } from '../../support/collect.ts';
import { findLeftovers } from '../../support/leftovers.ts';
import { benchFor, reportOf, type Workbench } from '../../support/workbench.ts';

/** A word that occurs nowhere else, and that stemming leaves alone. */
const SECRET = 'zanzibarquux';
const SECRET_LINE = `${chatLine({ role: 'user', content: `My password is ${SECRET}, never write it down.` })}\n`;
const TALK = SECRET_LINE + chatTranscript(30);
const OTHER = chatTranscript(30, 400);

/** A conversation with the secret, compacted twice and captured, beside one without. */
async function sceneFor(t: TestContext): Promise<Workbench> {
  const bench = benchFor(t);
  bench.write('talk.jsonl', TALK);
  bench.write('other.jsonl', OTHER);
  for (const name of ['talk.jsonl', 'other.jsonl']) {
    const captured = await captureFile(bench.deps, {
      input: { path: bench.path(name), name, format: null },
      isDryRun: false,
      rereads: false,
    });
    assert.ok(captured.ok);
    reportOf(await bench.compact(name));
  }
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 200));
  reportOf(await bench.compact('talk.jsonl'));
  return bench;
}

async function erase(
  { deps }: Workbench,
  selector: EraseSelector,
  options: { readonly isConfirmed?: boolean; readonly despiteHold?: boolean } = {},
): Promise<ArchiveEraseReport> {
  const erased = await eraseArchived(deps, {
    selector,
    reason: 'a request',
    isConfirmed: true,
    despiteHold: false,
    ...options,
  });
  assert.ok(erased.ok, JSON.stringify(erased));
  return erased.value;
}

async function damages(bench: Workbench): Promise<readonly unknown[]> {
  return (await collect(bench.archive().check())).filter(({ kind }) => kind === 'damage');
}

async function conversationOf(bench: Workbench, name: string): Promise<string> {
  const found = (await bench.archive().listCompactions()).find(({ sourcePath }) => sourcePath === bench.path(name));
  return found?.conversations[0]?.id ?? '';
}

for (const kind of ['conversation', 'source', 'match'] as const) {
  test(`no byte of a text is left after its ${kind} is erased`, async (t) => {
    const bench = await sceneFor(t);
    const selector: EraseSelector =
      kind === 'conversation'
        ? { kind, id: await conversationOf(bench, 'talk.jsonl') }
        : kind === 'source'
          ? { kind, glob: 'talk.*' }
          : { kind, text: SECRET };
    const before = findLeftovers(bench.archivePath, SECRET);
    for (const place of [
      'plain',
      'FROM blocks',
      'FROM captured_blocks',
      'FROM inserted_lines',
      'message_search',
      'batch_search',
    ])
      assert.ok(
        before.some((one) => one.includes(place)),
        `${place}: ${before.join('; ')}`,
      );
    const report = await erase(bench, selector);
    assert.deepEqual([report.result, report.isPurged], ['erased', true]);
    assert.deepEqual(findLeftovers(bench.archivePath, SECRET), []);
    assert.deepEqual(await damages(bench), []);
    assert.equal((await bench.verify('other.jsonl')).result, 'verified');
    assert.deepEqual(await bench.restore('other.jsonl'), Buffer.from(OTHER));
  });
}

test('without --yes nothing changes, and the report says what would go', async (t) => {
  const bench = await sceneFor(t);
  const report = await erase(bench, { kind: 'match', text: SECRET }, { isConfirmed: false });
  assert.deepEqual(
    [report.result, report.receipt, report.lines, report.captured, report.isEverything],
    ['planned', null, 2, { files: 0, lines: 1 }, false],
  );
  assert.deepEqual(report.files, [bench.path('talk.jsonl')]);
  assert.equal((await bench.verify('talk.jsonl')).result, 'verified');
});

test('verify and restore name the receipt of erased lines, and a partial restore gives the rest', async (t) => {
  const bench = await sceneFor(t);
  const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
  assert.ok(receipt);
  const erased = `erased by policy on ${receipt.at.slice(0, 10)}, receipt ${receipt.receipt}`;
  const verified = await bench.verify('talk.jsonl');
  assert.deepEqual(
    [verified.result, verified.problems],
    ['failed', [{ kind: 'erased', message: `line 1 of the original was ${erased}` }]],
  );
  const input = { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null };
  const whole = await restoreFile(bench.deps, { input, output: { kind: 'stdout' }, all: true });
  assert.ok(!whole.ok && whole.error.kind === 'erased');
  assert.equal(whole.error.receipt, receipt.receipt);
  const output = { kind: 'file', path: bench.path('rest.jsonl') } as const;
  const partial = await restoreFile(bench.deps, { input, output, all: true, partial: true });
  assert.ok(partial.ok, JSON.stringify(partial));
  assert.deepEqual(
    [partial.value.result, partial.value.erased],
    ['partial', { lines: 1, receipt: receipt.receipt, at: receipt.at }],
  );
  assert.equal(bench.read('rest.jsonl').toString(), TALK.slice(SECRET_LINE.length) + chatTranscript(20, 200));
});

test('of an erased conversation, the lines that its transcript kept can be restored', async (t) => {
  const bench = await sceneFor(t);
  const kept = bench.read('other.jsonl').toString().split('\n').slice(1).join('\n');
  const { receipt } = await erase(bench, { kind: 'source', glob: 'other.jsonl' });
  const verified = await bench.verify('other.jsonl');
  assert.deepEqual(
    verified.problems.map(({ kind, message }) => [kind, message.includes(receipt?.receipt ?? '-')]),
    [['erased', true]],
  );
  const input = { path: bench.path('other.jsonl'), name: 'other.jsonl', format: null };
  const output = { kind: 'file', path: bench.path('rest.jsonl') } as const;
  const partial = await restoreFile(bench.deps, { input, output, all: true, partial: true });
  assert.ok(partial.ok, JSON.stringify(partial));
  assert.equal(bench.read('rest.jsonl').toString(), kept);
  const captured = await restoreCaptured(bench.deps, {
    file: bench.path('other.jsonl'),
    version: null,
    at: null,
    output: { kind: 'stdout' },
  });
  assert.ok(!captured.ok && captured.error.kind === 'not-captured');
});

test('a captured file with an erased line cannot be restored, and says why', async (t) => {
  const bench = await sceneFor(t);
  const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
  const captured = await restoreCaptured(bench.deps, {
    file: bench.path('talk.jsonl'),
    version: null,
    at: null,
    output: { kind: 'stdout' },
  });
  assert.ok(!captured.ok && captured.error.kind === 'archive' && captured.error.failure.kind === 'erased');
  assert.equal(captured.error.failure.receipt, receipt?.receipt);
});

test('a text is found in JSON that is escaped, also within a string of JSON', async (t) => {
  const bench = benchFor(t);
  const said = { tool: JSON.stringify({ text: 'Zoë says "stop"' }) };
  const escaped = JSON.stringify({ role: 'user', content: JSON.stringify(said) }).replaceAll('ë', '\\u00eb');
  bench.write('talk.jsonl', `${escaped}\n${chatTranscript(20)}`);
  reportOf(await bench.compact('talk.jsonl'));
  const report = await erase(bench, { kind: 'match', text: 'Zoë says "stop"' });
  assert.equal(report.lines, 1);
});

test('a message is erased by its id, and search finds the others', async (t) => {
  const bench = benchFor(t);
  const lines = chatTranscript(20).trimEnd().split('\n');
  const named = lines.map((line, at) => `${JSON.stringify({ id: `m${at}`, ...JSON.parse(line) })}\n`);
  named[2] = `${JSON.stringify({ id: 'm2', role: 'user', content: `It is ${SECRET}.` })}\n`;
  bench.write('talk.jsonl', named.join(''));
  reportOf(await bench.compact('talk.jsonl'));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 200));
  reportOf(await bench.compact('talk.jsonl'));
  assert.equal((await bench.archive().findLines({ kind: 'message', messageId: 'm2' }, 5)).length, 1);
  const report = await erase(bench, { kind: 'message', id: 'm2' });
  assert.equal(report.lines, 1);
  assert.deepEqual(findLeftovers(bench.archivePath, SECRET), []);
  assert.deepEqual(await bench.archive().findLines({ kind: 'message', messageId: 'm2' }, 5), []);
  assert.equal((await bench.archive().findLines({ kind: 'message', messageId: 'm3' }, 5)).length, 1);
});

test('what a hold protects is erased only despite it', async (t) => {
  const bench = await sceneFor(t);
  const scope = { kind: 'source', value: 'talk.*' } as const;
  const added = await changeHolds(bench.deps, { kind: 'add', scope, reason: 'lawsuit 7' });
  assert.ok(added.ok && added.value.result === 'added');
  const refused = await erase(bench, { kind: 'match', text: SECRET });
  assert.deepEqual(
    [refused.result, refused.receipt, refused.held.map(({ reason }) => reason)],
    ['refused', null, ['lawsuit 7']],
  );
  assert.equal((await bench.verify('talk.jsonl')).result, 'verified');
  assert.equal((await erase(bench, { kind: 'source', glob: 'other.jsonl' })).result, 'erased');
  const erased = await erase(bench, { kind: 'match', text: SECRET }, { despiteHold: true });
  assert.equal(erased.result, 'erased');
  const removed = await changeHolds(bench.deps, { kind: 'remove', scope });
  assert.ok(removed.ok && removed.value.result === 'removed' && removed.value.holds.length === 0);
  const again = await changeHolds(bench.deps, { kind: 'remove', scope });
  assert.ok(again.ok && again.value.result === 'missing');
});

test('the receipts stay in the archive, with counts and hashes and without text', async (t) => {
  const bench = await sceneFor(t);
  const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
  const listed = await listReceipts(bench.deps);
  assert.ok(listed.ok);
  assert.deepEqual(listed.value.receipts, [receipt]);
  assert.equal(receipt?.reason, 'a request');
  assert.equal(receipt?.captured.lines, 1);
});

test('an erased transcript that grows is compacted again, and its capture goes on', async (t) => {
  const bench = await sceneFor(t);
  await erase(bench, { kind: 'source', glob: 'other.jsonl' });
  appendFileSync(bench.path('other.jsonl'), chatTranscript(20, 600));
  const grown = bench.read('other.jsonl');
  reportOf(await bench.compact('other.jsonl'));
  assert.deepEqual(await bench.restore('other.jsonl', false), grown);
  const captured = await captureFile(bench.deps, {
    input: { path: bench.path('other.jsonl'), name: 'other.jsonl', format: null },
    isDryRun: false,
    rereads: false,
  });
  assert.ok(captured.ok);
  assert.deepEqual(await damages(bench), []);
});
