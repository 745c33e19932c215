import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { chatTranscript, chatTranscripts } from '../support/chat.ts';
import { answer, scriptedModel } from '../support/models.ts';
import { benchFor, benchWith, createWorkbench, reportOf } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

test('a compacted transcript begins with the clip-archive and ends with the kept lines, byte for byte', async (t) => {
  const bench = benchFor(t);
  const original = chatTranscript(30);
  bench.write('talk.jsonl', original);
  const report = reportOf(await bench.compact('talk.jsonl'));
  const [clip = '', ...kept] = bench.read('talk.jsonl').toString().split('\n');
  // It quotes tools, so it is not the system's.
  assert.equal(JSON.parse(clip).role, 'user');
  assert.match(
    JSON.parse(clip).content,
    /^\[Context Summary — \d+ messages compressed across 1 compaction cycle\]\nWhat follows is quoted .*\n\[Batch 1 — depth 0/,
  );
  assert.ok(original.endsWith(kept.join('\n')));
  assert.equal(report.ledger.kept, kept.length - 1);
});

test('the ledger counts every line once', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', `\n${chatTranscript(30)}{"no":"message"}\n`);
  const { ledger } = reportOf(await bench.compact('talk.jsonl'));
  assert.equal(ledger.kept + ledger.summarized + ledger.quoted + ledger.other, ledger.total);
  assert.equal(ledger.total, 82);
});

test('L8: the clip-archive of a later cycle counts all messages and shows the batches of all cycles in the order in which they were made', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  const first = reportOf(await bench.compact('talk.jsonl'));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(12, 100));
  const second = reportOf(await bench.compact('talk.jsonl'));
  const firstBatches = first.conversations[0]?.batches ?? [];
  const secondBatches = second.conversations[0]?.batches ?? [];
  assert.deepEqual(secondBatches.slice(0, firstBatches.length), firstBatches);
  const total = secondBatches.reduce((sum, { count }) => sum + count, 0);
  const { content } = JSON.parse(bench.read('talk.jsonl').toString().split('\n')[0] ?? '');
  assert.ok(content.startsWith(`[Context Summary — ${total} messages compressed across 2 compaction cycles]`));
});

test('A2, A3: too many batches are re-summarized, their sources stay in the archive, and restore still goes all the way back', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(60));
  const report = reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 20, maxSummaryTokens: 200 } }));
  const batches = report.conversations[0]?.batches ?? [];
  assert.deepEqual(
    batches.map(({ depth }) => depth),
    [1, 0, 0],
  );
  const { made } = (await bench.archive().loadCompaction(1))?.cycles[0] ?? { made: [] };
  assert.equal(made.at(-1)?.sources.length, made.length - 3);
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  assert.equal((await bench.restore('talk.jsonl')).toString(), chatTranscript(60));
});

test('A1: the same input with the same settings again gives the same bytes and no new row', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  const output = (name: string) => ({ output: { kind: 'file', path: bench.path(name) } as const });
  reportOf(await bench.compact('talk.jsonl', output('one.jsonl')));
  const again = reportOf(await bench.compact('talk.jsonl', output('two.jsonl')));
  assert.deepEqual(bench.read('two.jsonl'), bench.read('one.jsonl'));
  assert.equal(again.usage?.calls, 0);
  assert.equal(await bench.archive().loadCompaction(2), null);
  assert.deepEqual((await bench.verify('two.jsonl')).problems, []);
});

test('the same input in two archives gives the same bytes: nothing in them is random', async (t) => {
  const results = await Promise.all(
    [benchFor(t), benchFor(t)].map(async (bench) => {
      bench.write('talk.jsonl', chatTranscript(30));
      reportOf(await bench.compact('talk.jsonl'));
      return bench.read('talk.jsonl').toString();
    }),
  );
  assert.equal(results[0], results[1]);
});

test('L8: a copy under another name belongs to the same lineage, and two copies that went apart do not see each other’s batches', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  reportOf(await bench.compact('talk.jsonl'));
  copyFileSync(bench.path('talk.jsonl'), bench.path('fork.jsonl'));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(12, 100));
  appendFileSync(bench.path('fork.jsonl'), chatTranscript(20, 300));
  const talk = reportOf(await bench.compact('talk.jsonl')).conversations[0];
  const fork = reportOf(await bench.compact('fork.jsonl')).conversations[0];
  assert.equal(fork?.id, talk?.id);
  assert.deepEqual([talk?.cycles, fork?.cycles], [2, 2]);
  assert.equal(
    fork?.batches.some(({ label }) => label === talk?.batches.at(-1)?.label),
    false,
  );
  assert.equal((await bench.restore('fork.jsonl')).toString(), chatTranscript(30) + chatTranscript(20, 300));
});

test('two originals with the same summary are distinguished, and each is restored as itself', async (t) => {
  const bench = benchFor(t, { model: scriptedModel(() => answer('the same words')) });
  const originals = [chatTranscript(30), chatTranscript(30).replaceAll('retry', 'renew')];
  for (const [at, original] of originals.entries()) {
    bench.write(`${at}.jsonl`, original);
    reportOf(await bench.compact(`${at}.jsonl`, { compaction: { keepRecent: 0 } }));
  }
  for (const [at, original] of originals.entries()) {
    assert.deepEqual((await bench.verify(`${at}.jsonl`)).problems, []);
    assert.equal((await bench.restore(`${at}.jsonl`)).toString(), original);
  }
});

test('L8: a summary whose archive is elsewhere is kept as a batch of its own, quoted once however often it is carried on', async (t) => {
  const [first, second, third] = [benchFor(t), benchFor(t), benchFor(t)];
  first.write('talk.jsonl', chatTranscript(30));
  reportOf(await first.compact('talk.jsonl'));
  const compacted = first.read('talk.jsonl').toString();
  second.write('talk.jsonl', compacted + chatTranscript(20, 100));
  const report = reportOf(await second.compact('talk.jsonl', { isFresh: true }));
  const { content: before } = JSON.parse(compacted.split('\n')[0] ?? '');
  const { content: after } = JSON.parse(second.read('talk.jsonl').toString().split('\n')[0] ?? '');
  const quoted = before
    .split('\n')
    .slice(2)
    .join('\n')
    .replaceAll(/^(?=## |\[(?:Batch|Archive))/gm, '\\');
  assert.match(quoted, /^\\\[Batch 1/);
  assert.ok(after.includes(quoted));
  assert.equal(report.conversations[0]?.cycles, 2);
  assert.deepEqual((await second.verify('talk.jsonl')).problems, []);
  assert.equal((await second.restore('talk.jsonl', false)).toString(), compacted + chatTranscript(20, 100));
  third.write('talk.jsonl', second.read('talk.jsonl').toString() + chatTranscript(20, 200));
  reportOf(await third.compact('talk.jsonl', { isFresh: true }));
  const { content: last } = JSON.parse(third.read('talk.jsonl').toString().split('\n')[0] ?? '');
  assert.ok(last.includes(quoted));
});

test('L8: a summary with counts that cannot be is taken as text: the file is compacted and given back', async (t) => {
  for (const head of [
    '9007199254740991 messages compressed across 1',
    '3 messages compressed across 9007199254740991',
  ]) {
    const bench = benchFor(t);
    const clip = { role: 'system', content: `[Context Summary — ${head} compaction cycles]\nold` };
    const original = `${JSON.stringify(clip)}\n${chatTranscript(30)}`;
    bench.write('talk.jsonl', original);
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
    assert.equal((await bench.restore('talk.jsonl')).toString(), original);
  }
});

test('a target lets the best of the older messages survive as their own bytes, in their place in time', async (t) => {
  const bench = benchFor(t);
  const original = chatTranscript(40);
  bench.write('talk.jsonl', original);
  const report = reportOf(await bench.compact('talk.jsonl', { targetTokens: 5000 }));
  const lines = bench.read('talk.jsonl').toString().trimEnd().split('\n').slice(1);
  const places = lines.map((line) => original.split('\n').indexOf(line));
  assert.ok(!places.includes(-1));
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  );
  const { tokens } = report.conversations[0] ?? { tokens: { after: Number.NaN } };
  assert.ok(tokens.after <= 5000 && tokens.after > 3000, `${tokens.after}`);
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
});

test('a target is for each conversation: one that fits is skipped, the others are compacted until they fit', async (t) => {
  const bench = benchFor(t);
  const rows = (id: string, turns: number): string =>
    chatTranscript(turns)
      .trimEnd()
      .split('\n')
      .map(
        (line, at) =>
          `${JSON.stringify({ conversation_id: id, created_at: `2026-01-02T10:00:${String(at % 60).padStart(2, '0')}Z`, ...JSON.parse(line) })}\n`,
      )
      .join('');
  bench.write('rows.jsonl', rows('small', 8) + rows('large', 40));
  const report = reportOf(await bench.compact('rows.jsonl', { targetTokens: 4000 }));
  const [small, large] = report.conversations;
  assert.deepEqual([small?.cycles, small?.tokens.after], [0, small?.tokens.before]);
  assert.ok((large?.tokens.after ?? Number.NaN) <= 4000);
  assert.deepEqual(report.notes, []);
});

test('a BOM is read, not written, and given back', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', `\ufeff${chatTranscript(30)}`);
  reportOf(await bench.compact('talk.jsonl'));
  assert.notEqual(bench.read('talk.jsonl')[0], 0xef);
  assert.equal((await bench.restore('talk.jsonl')).toString(), `\ufeff${chatTranscript(30)}`);
});

test('restore(compact(x)) = x for any chat transcript and any settings, twice over, and what is written verifies', async () => {
  const settings = fc.record({
    keepRecent: fc.nat({ max: 9 }),
    chunkSize: fc.integer({ min: 1, max: 30 }),
    targetTokens: fc.option(fc.nat({ max: 600 })),
    keepSystem: fc.boolean(),
  });
  const bench = createWorkbench();
  try {
    await fc.assert(
      fc.asyncProperty(
        chatTranscripts,
        chatTranscripts,
        settings,
        async (original, more, { keepRecent, chunkSize, targetTokens, keepSystem }) => {
          const chosen = {
            targetTokens,
            keepSystem,
            keepInvalid: true,
            format: 'chat-lines',
            compaction: { keepRecent, chunkSize, maxSummaryTokens: 60 },
          };
          bench.write('any.jsonl', original);
          let expected = original;
          for (const appended of [more, more]) {
            const done = await bench.compact('any.jsonl', chosen);
            if (!done.ok)
              return assert.ok(['no-messages', 'not-a-transcript'].includes(done.error.kind), done.error.kind);
            if (done.value.result === 'compacted') {
              assert.deepEqual((await bench.verify('any.jsonl')).problems, []);
              assert.deepEqual(await bench.restore('any.jsonl'), expected);
            } else
              assert.deepEqual(
                bench.read('any.jsonl').equals(expected) || done.value.conversations.some(({ cycles }) => cycles > 0),
                true,
              );
            const gap = (file: Buffer): Buffer => Buffer.from(file.at(-1) === 0x0a ? '' : '\n');
            const tail = appended.subarray(appended[0] === 0xef ? 3 : 0);
            appendFileSync(bench.path('any.jsonl'), Buffer.concat([gap(bench.read('any.jsonl')), tail]));
            expected = Buffer.concat([expected, gap(expected), tail]);
          }
        },
      ),
      { numRuns: runsOf(150) },
    );
  } finally {
    bench.remove();
  }
});
