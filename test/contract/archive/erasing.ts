import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { listReceipts } from '../../../src/app/archive/erase-archived.ts';
import type { EraseSelector } from '../../../src/app/archive/select.ts';
import type { ArchiveEraseReport } from '../../../src/app/contract/archive-reports.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../../../src/core/policy.ts';
import { restoreFile } from '../../../src/app/restore/restore-file.ts';
import { capture, tryRestore } from '../../support/captures.ts';
import { chatLine, chatTranscript, prose } from '../../support/chat.ts';
import { erase as eraseAny, hold, meanwhile, release, tryErase } from '../../support/retention.ts';
import { findMessages } from '../../support/searching.ts';
import { reportOf, type Workbench } from '../../support/workbench.ts';
import { compactionDraft, lineDraft } from '../../adapters/archive/drafts.ts';
import { benchOn, type Engine, problemsOf } from './engine.ts';

/**
 * A word that occurs nowhere else, and that stemming leaves alone. In Postgres, rows that earlier tests left are deleted, but the files keep
 * their bytes until an erasure rewrites the table. So a test that erases only captures needs a word of its own, and short texts: a compressed
 * block of more than 2 kB is stored in pieces, in which no word is found.
 */
const SECRET = 'zanzibarquux';
const SECRET_LINE = lineWith(SECRET);
/** Short: a pack of more than 2 kB is stored in pieces in Postgres, in which no word is found. */
const TALK = SECRET_LINE + chatTranscript(10);
const OTHER = chatTranscript(30, 400);

const SESSION = '6b6f4218-0000-4000-8000-000000000001';
const OTHER_SESSION = '7c7f4218-0000-4000-8000-000000000002';

/** Records of Claude Code. */
function claudeLines(sessionId: string, ...texts: readonly string[]): string {
  return texts
    .map((content, at) => ({
      type: 'user',
      sessionId,
      uuid: `${sessionId.slice(0, -1)}${at}`,
      parentUuid: null,
      isSidechain: false,
      cwd: '/data',
      version: '2.1.0',
      timestamp: '2026-11-22T12:00:00.000Z',
      message: { role: 'user', content },
    }))
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');
}

function lineWith(word: string): string {
  return `${chatLine({ role: 'user', content: `My password is ${word}, never write it down.` })}\n`;
}

/** A conversation with the secret, compacted twice and captured, beside one without. */
async function sceneFor(engine: Engine, t: TestContext): Promise<Workbench> {
  const bench = await benchOn(engine, t);
  bench.write('talk.jsonl', TALK);
  bench.write('other.jsonl', OTHER);
  for (const name of ['talk.jsonl', 'other.jsonl']) {
    await capture(bench, name);
    reportOf(await bench.compact(name));
  }
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 200));
  const dropRules = [`Never say ${SECRET}.`];
  reportOf(await bench.compact('talk.jsonl', { compaction: { ...DEFAULT_COMPACTION_CONFIG, dropRules } }));
  return bench;
}

async function erase(...[bench, selector, options]: Parameters<typeof eraseAny>): Promise<ArchiveEraseReport> {
  const erased = await eraseAny(bench, selector, { reason: 'a request', ...options });
  if (erased.result === 'erased') assert.ok(erased.isPurged, JSON.stringify(erased));
  return erased;
}

async function conversationOf(bench: Workbench, name: string): Promise<string> {
  const found = (await bench.archive().listCompactions()).find(({ sourcePath }) => sourcePath === bench.path(name));
  return found?.conversations[0]?.id ?? '';
}

type Meanwhile = readonly [what: string, act: (bench: Workbench) => Promise<unknown>];
const MEANWHILE: readonly Meanwhile[] = [
  ['something was compacted', async (bench) => reportOf(await bench.compact('other.jsonl'))],
  ['a hold was added', (bench) => hold(bench, { kind: 'source', value: 'other.jsonl' })],
  [
    'a compaction began',
    async (bench) => {
      const writer = await bench.archive().begin({ batchCounts: [1] });
      await writer.append([lineDraft(1)]);
      await writer.commit(compactionDraft(1));
    },
  ],
];

/** Each engine rewrites its files in its own way. */
export function purgeContract(engine: Engine, kinds: readonly ('conversation' | 'source' | 'match')[]): void {
  for (const kind of kinds) {
    test(`no byte of a text is left after its ${kind} is erased`, async (t) => {
      const bench = await sceneFor(engine, t);
      const selector: EraseSelector =
        kind === 'conversation'
          ? { kind, id: await conversationOf(bench, 'talk.jsonl') }
          : kind === 'source'
            ? { kind, glob: 'talk.*' }
            : { kind, text: SECRET };
      const conversationId = await conversationOf(bench, 'talk.jsonl');
      const choice = { conversationId, path: '/talk.jsonl', text: `Never say ${SECRET}.`, chosenAt: new Date(0) };
      await bench.archive().choices.add({ kind: 'drop-rule', ...choice });
      const titlesWithSecret = async (): Promise<number> =>
        (await bench.archive().listCompactions()).filter(({ title }) => title?.includes(SECRET)).length;
      assert.equal(await titlesWithSecret(), 2);
      const before = await engine.findLeftovers(bench.archive(), SECRET);
      for (const place of ['plain', 'compressed'])
        assert.ok(
          before.some((one) => one.includes(place)),
          `${place}: ${before.join('; ')}`,
        );
      const report = await erase(bench, selector);
      assert.deepEqual([report.result, report.isPurged], ['erased', true]);
      assert.deepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
      assert.deepEqual(await bench.archive().choices.list(), []);
      assert.equal(report.receipt?.choices, 1);
      assert.deepEqual(await problemsOf(bench.archive()), []);
      assert.equal((await bench.verify('other.jsonl')).result, 'verified');
      assert.deepEqual(await bench.restore('other.jsonl'), Buffer.from(OTHER));
    });
  }
}

export function eraseContract(engine: Engine): void {
  purgeContract(engine, ['conversation', 'source', 'match']);

  test('the archive remembers choices until they are taken back', async (t) => {
    const { choices } = (await benchOn(engine, t)).archive();
    const said = {
      kind: 'drop-rule',
      conversationId: 'a',
      text: 'Sprich \ud800 nie.',
      chosenAt: new Date(1000),
    } as const;
    const [first, second] = [
      { ...said, path: '/a.jsonl' },
      { ...said, path: '/b\ud800.jsonl' },
    ];
    const pin = { ...first, kind: 'pin' } as const;
    assert.deepEqual([await choices.add(second), await choices.add(pin), await choices.add(first)], [true, true, true]);
    assert.equal(await choices.add({ ...first, chosenAt: new Date(9000) }), false);
    assert.deepEqual(await choices.list(), [first, second, pin]);
    await choices.remove(first);
    assert.deepEqual(await choices.list(), [second, pin]);
  });

  test('without --yes nothing changes, and the report says what would go', async (t) => {
    const bench = await sceneFor(engine, t);
    const report = await erase(bench, { kind: 'match', text: SECRET }, { isConfirmed: false });
    assert.deepEqual(
      [report.result, report.receipt, report.lines, report.captured, report.isEverything],
      ['planned', null, 2, { files: 0, lines: 1 }, false],
    );
    assert.deepEqual(report.files, [bench.path('talk.jsonl')]);
    assert.equal((await bench.verify('talk.jsonl')).result, 'verified');
  });

  test('verify and restore name the receipt of erased lines, and a partial restore gives the rest', async (t) => {
    const bench = await sceneFor(engine, t);
    const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
    assert.ok(receipt);
    const verified = await bench.verify('talk.jsonl');
    assert.deepEqual(
      [verified.result, verified.problems, verified.erased],
      // The line, and the summary of the first compaction that quoted it.
      ['reduced', [], [{ receipt: receipt.receipt, at: receipt.at, lines: 2 }]],
    );
    const altered = bench
      .read('talk.jsonl')
      .toString()
      .replace(/"[^"]*"\}\n$/, '"altered"}\n');
    bench.write('altered.jsonl', altered);
    assert.equal((await bench.verify('altered.jsonl')).result, 'failed');
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
    const bench = await sceneFor(engine, t);
    const kept = bench.read('other.jsonl').toString().split('\n').slice(1).join('\n');
    const { receipt } = await erase(bench, { kind: 'source', glob: 'other.jsonl' });
    const verified = await bench.verify('other.jsonl');
    assert.deepEqual(
      [verified.result, verified.erased?.map((one) => [one.receipt, one.lines > 0])],
      ['reduced', [[receipt?.receipt, true]]],
    );
    const input = { path: bench.path('other.jsonl'), name: 'other.jsonl', format: null };
    const output = { kind: 'file', path: bench.path('rest.jsonl') } as const;
    const partial = await restoreFile(bench.deps, { input, output, all: true, partial: true });
    assert.ok(partial.ok, JSON.stringify(partial));
    assert.equal(bench.read('rest.jsonl').toString(), kept);
    const captured = await tryRestore(bench, 'other.jsonl', { output: { kind: 'stdout' } });
    assert.ok(!captured.ok && captured.error.kind === 'not-captured');
  });

  test('a captured file with an erased line cannot be restored, and says why', async (t) => {
    const bench = await sceneFor(engine, t);
    const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
    const captured = await tryRestore(bench, 'talk.jsonl', { output: { kind: 'stdout' } });
    assert.ok(!captured.ok && captured.error.kind === 'archive' && captured.error.failure.kind === 'erased');
    assert.equal(captured.error.failure.receipt, receipt?.receipt);
  });

  test('a text is found in JSON that is escaped, also within a string of JSON', async (t) => {
    const bench = await benchOn(engine, t);
    const said = { tool: JSON.stringify({ text: 'Zoë says "stop"' }) };
    const escaped = JSON.stringify({ role: 'user', content: JSON.stringify(said) }).replaceAll('ë', '\\u00eb');
    bench.write('talk.jsonl', `${escaped}\n${chatTranscript(20)}`);
    reportOf(await bench.compact('talk.jsonl'));
    const report = await erase(bench, { kind: 'match', text: 'Zoë says "stop"' });
    assert.equal(report.lines, 1);
  });

  test('a text is erased from compressed captured files, and from lines that were captured in two parts', async (t) => {
    const bench = await benchOn(engine, t);
    const [first, second] = ['timbuk', 'tuquux'];
    const secret = `${first}${second}`;
    const line = lineWith(secret);
    bench.write('packed.jsonl.gz', gzipSync(`${line}${chatTranscript(4)}`));
    const torn = line.indexOf(second);
    bench.write('torn.jsonl', `${chatTranscript(4, 400)}${line.slice(0, torn)}`);
    for (const name of ['packed.jsonl.gz', 'torn.jsonl']) await capture(bench, name);
    appendFileSync(bench.path('torn.jsonl'), `${line.slice(torn)}${chatTranscript(5, 900)}`);
    await capture(bench, 'torn.jsonl');
    assert.ok((await engine.findLeftovers(bench.archive(), secret)).length > 0);
    const report = await erase(bench, { kind: 'match', text: secret });
    assert.deepEqual([report.result, report.unsearched, report.captured.lines], ['erased', 0, 3]);
    for (const part of [first, second]) assert.deepEqual(await engine.findLeftovers(bench.archive(), part), []);
    assert.deepEqual(await problemsOf(bench.archive()), []);
    assert.equal((await erase(bench, { kind: 'match', text: secret })).result, 'nothing');
  });

  test('what is left of a captured block whose last line was erased is sound, and a capture does not bring it back', async (t) => {
    const bench = await benchOn(engine, t);
    const secret = 'lastquux';
    // Longer than all that is left, so that the block ends before the place at which the line stood.
    bench.write('last.jsonl', `${chatTranscript(2)}${lineWith(`${secret} ${prose(3, 20_000)}`)}`);
    await capture(bench, 'last.jsonl');
    assert.equal((await erase(bench, { kind: 'match', text: secret })).captured.lines, 1);
    assert.deepEqual(await problemsOf(bench.archive()), []);
    await capture(bench, 'last.jsonl', { rereads: true });
    assert.deepEqual(await engine.findLeftovers(bench.archive(), secret), []);
    assert.equal((await erase(bench, { kind: 'match', text: secret })).result, 'nothing');
  });

  test("files of subagents and renamed copies belong to their records' session", async (t) => {
    const bench = await benchOn(engine, t);
    const [own, kept] = ['sessionquux', 'otherquux'];
    const other = OTHER_SESSION;
    bench.write(`${SESSION}.jsonl`, claudeLines(SESSION, 'the main thread'));
    bench.write('agent-a1b2c3d4.jsonl', claudeLines(SESSION, own));
    bench.write('copy.jsonl', claudeLines(SESSION, own, 'a copy'));
    bench.write('mixed.jsonl', claudeLines(other, kept) + claudeLines(SESSION, own, 'in another file'));
    bench.write('other.jsonl', claudeLines(other, 'quotes', `"sessionId":"${SESSION}"`));
    const names = [`${SESSION}.jsonl`, 'agent-a1b2c3d4.jsonl', 'copy.jsonl', 'mixed.jsonl', 'other.jsonl'];
    for (const name of names) await capture(bench, name);
    appendFileSync(bench.path('other.jsonl'), claudeLines(other, 'more'));
    await capture(bench, 'other.jsonl');
    const sessionsOf = async (name: string): Promise<unknown> =>
      (await bench.archive().captures.find(bench.path(name)))?.sessions;
    assert.deepEqual(await sessionsOf('mixed.jsonl'), [SESSION, other].toSorted());
    assert.deepEqual(await sessionsOf('other.jsonl'), [other]);
    const scope = { kind: 'conversation', value: SESSION } as const;
    assert.equal((await hold(bench, scope)).protects?.capturedFiles, 4);
    for (const name of names.slice(1, 4)) {
      const refused = await erase(bench, { kind: 'source', glob: bench.path(name) });
      assert.deepEqual([name, refused.result], [name, 'refused']);
    }
    await release(bench, scope);
    const report = await erase(bench, { kind: 'conversation', id: SESSION.toUpperCase() });
    assert.deepEqual(report.capturedFiles, names.slice(0, 3).map(bench.path).toSorted());
    assert.deepEqual([report.captured, report.unsearched], [{ files: 3, lines: 2 }, 0]);
    assert.deepEqual(report.files, names.slice(0, 4).map(bench.path).toSorted());
    assert.deepEqual(await engine.findLeftovers(bench.archive(), own), []);
    assert.ok((await engine.findLeftovers(bench.archive(), kept)).length > 0);
    assert.deepEqual(await problemsOf(bench.archive()), []);
  });

  test('a compressed file with records of two conversations is named, not erased', async (t) => {
    const bench = await benchOn(engine, t);
    bench.write('mixed.jsonl.gz', gzipSync(claudeLines(OTHER_SESSION, 'one') + claudeLines(SESSION, 'two')));
    await capture(bench, 'mixed.jsonl.gz');
    const report = await erase(bench, { kind: 'conversation', id: SESSION });
    assert.deepEqual([report.result, report.unsearched], ['nothing', 1]);
  });

  test('a message is erased by its id, and search finds the others', async (t) => {
    const bench = await benchOn(engine, t);
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
    assert.deepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
    assert.deepEqual(await bench.archive().findLines({ kind: 'message', messageId: 'm2' }, 5), []);
    assert.equal((await bench.archive().findLines({ kind: 'message', messageId: 'm3' }, 5)).length, 1);
  });

  test('what a hold protects is erased only despite it', async (t) => {
    const bench = await sceneFor(engine, t);
    const scope = { kind: 'source', value: 'talk.*' } as const;
    assert.equal((await hold(bench, scope, 'lawsuit 7')).result, 'added');
    const refused = await erase(bench, { kind: 'match', text: SECRET });
    assert.deepEqual(
      [refused.result, refused.receipt, refused.held.map(({ reason }) => reason)],
      ['refused', null, ['lawsuit 7']],
    );
    assert.equal((await bench.verify('talk.jsonl')).result, 'verified');
    assert.equal((await erase(bench, { kind: 'source', glob: 'other.jsonl' })).result, 'erased');
    const erased = await erase(bench, { kind: 'match', text: SECRET }, { despiteHold: true });
    assert.equal(erased.result, 'erased');
    const { result, holds } = await release(bench, scope);
    assert.deepEqual([result, holds, (await release(bench, scope)).result], ['removed', [], 'missing']);
  });

  test('the receipts stay in the archive, with counts and hashes and without text', async (t) => {
    const bench = await sceneFor(engine, t);
    const { receipt } = await erase(bench, { kind: 'match', text: SECRET });
    const listed = await listReceipts(bench.deps);
    assert.ok(listed.ok);
    assert.deepEqual(listed.value.receipts, [receipt]);
    assert.equal(receipt?.reason, 'a request');
    assert.equal(receipt?.captured.lines, 1);
  });

  test('an erased transcript that grows is compacted again, and its capture goes on', async (t) => {
    const bench = await sceneFor(engine, t);
    await erase(bench, { kind: 'source', glob: 'other.jsonl' });
    appendFileSync(bench.path('other.jsonl'), chatTranscript(20, 600));
    const grown = bench.read('other.jsonl');
    reportOf(await bench.compact('other.jsonl'));
    assert.deepEqual(await bench.restore('other.jsonl', false), grown);
    await capture(bench, 'other.jsonl');
    assert.deepEqual(await problemsOf(bench.archive()), []);
  });

  for (const byMessage of [false, true]) {
    test(`a hold protects summaries of the lineage and captured copies (${byMessage ? 'message' : 'match'})`, async (t) => {
      const bench = await benchOn(engine, t);
      const named = `${JSON.stringify({ id: 'm1', role: 'user', content: `It is ${SECRET}.` })}\n${chatTranscript(30)}`;
      bench.write('talk.jsonl', named);
      bench.write('copy.jsonl', named);
      reportOf(await bench.compact('talk.jsonl'));
      copyFileSync(bench.path('talk.jsonl'), bench.path('later.jsonl'));
      appendFileSync(bench.path('later.jsonl'), chatTranscript(30, 200));
      reportOf(await bench.compact('later.jsonl'));
      await capture(bench, 'copy.jsonl');
      const selector: EraseSelector = byMessage ? { kind: 'message', id: 'm1' } : { kind: 'match', text: SECRET };
      for (const name of ['later.jsonl', 'copy.jsonl']) {
        const scope = { kind: 'source', value: bench.path(name) } as const;
        await hold(bench, scope);
        const refused = await erase(bench, selector);
        assert.deepEqual([refused.result, refused.held.map(({ value }) => value)], ['refused', [scope.value]]);
        await release(bench, scope);
      }
      assert.equal((await erase(bench, selector)).result, 'erased');
    });
  }

  test('a captured file with an erased line is captured and searched as before, and never stored again', async (t) => {
    const bench = await benchOn(engine, t);
    const secret = 'samarkandquux';
    bench.write('talk.jsonl', `${lineWith(secret)}${chatTranscript(4)}`);
    await capture(bench, 'talk.jsonl');
    bench.write('other.jsonl', `${chatLine({ role: 'user', content: 'A marmalade sandwich.' })}\n${chatTranscript(5)}`);
    await capture(bench, 'other.jsonl');
    assert.ok((await engine.findLeftovers(bench.archive(), secret)).length > 0);
    await erase(bench, { kind: 'match', text: secret });
    await capture(bench, 'talk.jsonl');
    appendFileSync(bench.path('talk.jsonl'), chatTranscript(5, 200));
    await capture(bench, 'talk.jsonl');
    assert.deepEqual(await engine.findLeftovers(bench.archive(), secret), []);
    assert.equal((await findMessages(bench, 'marmalade')).length, 1);
  });

  for (const [what, act] of MEANWHILE) {
    test(`nothing is erased if ${what} since it was selected`, async (t) => {
      const bench = await benchOn(engine, t);
      bench.write('talk.jsonl', TALK);
      bench.write('other.jsonl', chatTranscript(30, 100));
      reportOf(await bench.compact('talk.jsonl'));
      const erased = await tryErase(meanwhile(bench, act), { kind: 'match', text: SECRET });
      assert.ok(!erased.ok && erased.error.kind === 'archive' && erased.error.failure.kind === 'busy');
      assert.ok((await engine.findLeftovers(bench.archive(), SECRET)).length > 0);
    });
  }
}
