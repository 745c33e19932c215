import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../src/core/tokens.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf } from '../support/workbench.ts';

test('offline everything that goes becomes one batch of the size that was asked for', async (t) => {
  const bench = benchFor(t);
  bench.write('talk.jsonl', chatTranscript(120));
  const { conversations } = reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 } }));
  const batches = conversations[0]?.batches ?? [];
  assert.deepEqual(
    batches.map(({ depth, count }) => [depth, count]),
    [[0, 312]],
  );
  const tokens = estimateTokens(bench.archive().loadCompaction(1)?.cycles[0]?.live[0]?.content ?? '');
  assert.ok(tokens > 600 && tokens <= 900, `${tokens} tokens`);
});

test('a dry run counts one request and one summary', async (t) => {
  const bench = benchFor(t);
  bench.write('talk.jsonl', chatTranscript(120));
  const settings = { compaction: { summaryTokens: 900 }, output: { kind: 'none' } } as const;
  const { plan, conversations } = reportOf(await bench.compact('talk.jsonl', settings));
  assert.deepEqual([plan?.chunks, plan?.requests, plan?.tokensOut], [1, 1, 900]);
  const expected = conversations[0]?.tokens.after ?? 0;
  const done = reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 } }));
  assert.ok((done.conversations[0]?.tokens.after ?? 0) <= expected);
});

test('another size of the summary is another result', async (t) => {
  const bench = benchFor(t);
  bench.write('talk.jsonl', chatTranscript(60));
  const output = (name: string) => ({ kind: 'file', path: bench.path(name) }) as const;
  const small = reportOf(
    await bench.compact('talk.jsonl', { compaction: { summaryTokens: 300 }, output: output('small.jsonl') }),
  );
  const large = reportOf(
    await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 }, output: output('large.jsonl') }),
  );
  assert.notEqual(small.sha256.after, large.sha256.after);
  assert.doesNotMatch(large.notes.join('\n'), /stored summaries were used/);
});
