import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { QUOTATION_NOTICE } from '../../src/core/clip-archive.ts';
import type { ConversationMessage } from '../../src/core/message.ts';
import { type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../src/core/policy.ts';
import {
  type Compactor,
  createCompactor,
  createExtractiveProvider,
  ModelError,
  type ModelProvider,
} from '../../src/index.ts';
import { prose } from '../support/chat.ts';
import { conversations, messages } from '../support/messages.ts';
import { answer, scriptedModel, textOf } from '../support/models.ts';
import { benchFor, createWorkbench, type Workbench } from '../support/workbench.ts';
import { collect } from '../support/collect.ts';
import { runsOf } from '../support/runs.ts';

const history = (count: number): readonly ConversationMessage[] =>
  messages(
    ...Array.from({ length: count }, (_, at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: prose(at, 80),
      created_at: new Date(Date.UTC(2026, 0, 2, 10, at)),
    })),
  );

type Setup = { readonly bench: Workbench; readonly compactor: Compactor; readonly waits: number[] };

function setUp(t: TestContext, model: ModelProvider, config: Partial<CompactionConfig> = {}): Setup {
  const bench = benchFor(t);
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  const compactor = createCompactor({
    model,
    archive: bench.archive(),
    config: { ...DEFAULT_COMPACTION_CONFIG, chunkSize: 10, keepRecent: 5, ...config },
    modelName: 'm',
    runtime: { ...bench.deps.runtime, sleep, random: () => 0 },
  });
  return { bench, compactor, waits };
}

const numbered = scriptedModel.bind(null, (call: number) => answer(`summary ${call + 1}`));

test('the result is the clip-archive and the kept messages', async (t) => {
  const { compactor } = setUp(t, numbered());
  const said = history(25);
  const result = await compactor.compress(said, 'c1');
  assert.deepEqual(result.history.slice(1), said.slice(20));
  assert.equal(result.history[0]?.role, 'system');
  assert.equal(
    result.history[0]?.content.split('\n').slice(0, 4).join('\n'),
    `[Context Summary — 20 messages compressed across 1 compaction cycle]\n${QUOTATION_NOTICE}\n[Batch 1 — depth 0, 2026-01-02T10:00:00.000Z to 2026-01-02T10:13:00.000Z]\nsummary 1`,
  );
  assert.deepEqual([result.batchesCreated, result.messagesCompressed, result.failed], [2, 20, undefined]);
  assert.ok(result.tokensEstimateAfter < result.tokensEstimateBefore);
});

test('L1: each chunk gets the summary before it, the first gets none', async (t) => {
  const model = numbered();
  await setUp(t, model).compactor.compress(history(25), 'c1');
  const previous = model.requests.map(
    (request) => textOf(request).match(/Previous summary of conversation:\n(.*)/)?.[1],
  );
  assert.deepEqual(previous, [undefined, 'summary 1']);
});

test('C1: the messages of a chunk are sent in the order in which they were said', async (t) => {
  const model = numbered();
  await setUp(t, model).compactor.compress(history(25), 'c1');
  for (const { source } of model.requests) {
    const times = source?.kind === 'chunk' ? source.messages.map(({ created_at: at }) => at?.getTime() ?? 0) : [];
    assert.equal(times.length, 10);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  }
});

test('L8: a second compaction continues the first: batches of both, all messages, two cycles', async (t) => {
  const { compactor } = setUp(t, numbered());
  const first = await compactor.compress(history(25), 'c1');
  const second = await compactor.compress([...first.history, ...history(30).slice(5)], 'c1');
  const text = second.history[0]?.content ?? '';
  assert.match(text, /^\[Context Summary — 45 messages compressed across 2 compaction cycles\]/);
  assert.deepEqual(
    [...text.matchAll(/^\[Batch (\d) — depth 0,.*\]\n(.*)$/gm)].map((match) => `${match[1]}: ${match[2]}`),
    ['1: summary 1', '2: summary 2', '4: summary 4', '5: summary 5'],
  );
});

test('A3: more than clipFirst + clipLast + 2 batches are re-summarized, all but the last clipLast', async (t) => {
  const model = numbered();
  const { compactor, bench } = setUp(t, model);
  const result = await compactor.compress(history(75), 'c1');
  assert.equal(model.requests.length, 8);
  assert.equal(model.requests[7]?.messages.filter(({ role }) => role === 'system').length, 5);
  assert.match(result.history[0]?.content ?? '', /\[Batch 1 — depth 1, [^\]]*\]\nsummary 8\n/);
  assert.deepEqual(
    (await bench.archive().loadCompaction(1))?.cycles[0]?.live.map(({ depth, messageCount }) => [depth, messageCount]),
    [
      [1, 50],
      [0, 10],
      [0, 10],
    ],
  );
});

test('L3: a call that fails permanently leaves the history unchanged, and nothing in the archive', async (t) => {
  const { compactor, bench } = setUp(
    t,
    scriptedModel((call) =>
      call === 0 ? answer('summary') : new ModelError('auth', 'wrong key', { retryable: false }),
    ),
  );
  const said = history(25);
  const result = await compactor.compress(said, 'c1');
  assert.equal(result.history, said);
  assert.deepEqual([result.failed, result.batchesCreated, result.messagesCompressed], [true, 0, 0]);
  assert.equal(await bench.archive().loadCompaction(1), null);
});

test('L3: compress does not throw, whatever the model does', async (t) => {
  const { compactor } = setUp(t, { complete: () => Promise.reject(new TypeError('terminated')) });
  assert.equal((await compactor.compress(history(25), 'c1')).failed, true);
});

test('L5: a context that is too long halves the chunk, and every message still is in one batch', async (t) => {
  const model = scriptedModel((_, { source }) =>
    source?.kind === 'chunk' && source.messages.length > 4
      ? new ModelError('context_length', 'too long', { retryable: false })
      : answer('a summary'),
  );
  const { compactor, bench } = setUp(t, model, { clipLast: 9 });
  const result = await compactor.compress(history(25), 'c1');
  assert.equal(result.failed, undefined);
  assert.deepEqual(
    (await bench.archive().loadCompaction(1))?.cycles[0]?.made.map(({ messageCount }) => messageCount),
    [3, 2, 3, 2, 3, 2, 3, 2],
  );
});

test('L5: a chunk of two messages is not halved any more', async (t) => {
  const model = scriptedModel(() => new ModelError('context_length', 'too long', { retryable: false }));
  assert.equal(
    (await setUp(t, model, { chunkSize: 2, maxRetries: 5 }).compactor.compress(history(9), 'c1')).failed,
    true,
  );
  assert.equal(model.requests.length, 1);
});

test('L6: after three failures in a row the model is not called any more', async (t) => {
  const model = scriptedModel(() => new ModelError('auth', 'wrong key', { retryable: false }));
  const { compactor } = setUp(t, model);
  for (let run = 0; run < 5; run += 1) assert.equal((await compactor.compress(history(25), 'c1')).failed, true);
  assert.equal(model.requests.length, 3);
});

test('L7: what would not be smaller stays as it is, and nothing is stored', async (t) => {
  const { compactor, bench } = setUp(
    t,
    scriptedModel(() => answer('x'.repeat(1600))),
    { chunkSize: 20 },
  );
  const said = messages(...Array.from({ length: 10 }, () => ({ content: 'hi' })));
  const result = await compactor.compress(said, 'c1');
  assert.deepEqual(
    [result.history === said, result.failed, result.tokensEstimateAfter],
    [true, undefined, result.tokensEstimateBefore],
  );
  assert.equal(await bench.archive().loadCompaction(1), null);
});

test('no more than keepRecent messages: no call, the same history', async (t) => {
  const model = numbered();
  const said = history(5);
  assert.equal((await setUp(t, model).compactor.compress(said, 'c1')).history, said);
  assert.equal(model.requests.length, 0);
});

test('A1: the same history again gives the same result from the archive: no call, no new row', async (t) => {
  const model = numbered();
  const { compactor, bench } = setUp(t, model);
  const first = await compactor.compress(history(25), 'c1');
  const calls = model.requests.length;
  assert.deepEqual(await compactor.compress(history(25), 'c1'), first);
  assert.equal(model.requests.length, calls);
  assert.equal(await bench.archive().loadCompaction(2), null);
});

test('a message object that appears twice in a history is two messages', async (t) => {
  const { compactor, bench } = setUp(t, numbered());
  const [one, ...rest] = history(25);
  const said = one === undefined ? rest : [one, one, ...rest];
  const result = await compactor.compress(said, 'c1');
  assert.equal(result.messagesCompressed, 21);
  assert.match(result.history[0]?.content ?? '', /^\[Context Summary — 21 messages/);
  assert.deepEqual(
    new Set((await collect(bench.archive().readLines(1))).flat().map(({ outcome }) => outcome)),
    new Set(['summarized']),
  );
});

test('L6: a compaction that had nothing to ask is no success', async (t) => {
  const model = scriptedModel(() => new ModelError('auth', 'wrong key', { retryable: false }));
  const { compactor } = setUp(t, model);
  for (let run = 0; run < 5; run += 1) {
    await compactor.compress(history(25), 'c1');
    await compactor.compress(history(3), 'c2');
  }
  assert.equal(model.requests.length, 3);
});

test('C2: a message larger than the window is cut in its middle for the request, and the archive keeps it whole', async (t) => {
  const model = numbered();
  const { compactor, bench } = setUp(t, model, { modelMaxTokens: 5000 });
  const said = messages({ content: `begin ${'x'.repeat(100_000)} end` }, ...history(12));
  assert.equal((await compactor.compress(said, 'c1')).failed, undefined);
  const sent = model.requests.map(textOf).join();
  assert.ok(sent.length < 60_000 && sent.includes('begin xxx') && sent.includes('xxx end'));
  assert.ok((await collect(bench.archive().readLines(1))).flat().some(({ bytes }) => bytes.length > 100_000));
});

test('any history: every message is kept or archived, once, and nothing throws', async () => {
  const bench = createWorkbench();
  try {
    const config = { ...DEFAULT_COMPACTION_CONFIG, keepRecent: 3, chunkSize: 4, maxSummaryTokens: 40 };
    const compactor = createCompactor({
      model: createExtractiveProvider(),
      archive: bench.archive(),
      config,
      modelName: 'extractive',
    });
    let compacted = 0;
    await fc.assert(
      fc.asyncProperty(conversations, async (said) => {
        const result = await compactor.compress(
          said.map((one) => ({ ...one, content: `${one.content} ${prose(one.content.length, 90)}` })),
          'c1',
        );
        assert.equal(result.failed, undefined, result.reason);
        if (result.messagesCompressed === 0) return;
        compacted += 1;
        const archived = (await collect(bench.archive().readLines(compacted))).flat();
        assert.equal(archived.length + result.history.length - 1, said.length);
      }),
      { numRuns: runsOf(60) },
    );
    assert.ok(compacted > 3, `${compacted}`);
  } finally {
    bench.remove();
  }
});
