import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createExtractiveProvider } from '../../src/adapters/model/extractive.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { createRateLimiter } from '../../src/app/summarize/limits.ts';
import { ModelError } from '../../src/core/model-request.ts';
import { chatTranscript } from '../support/chat.ts';
import { answer, scriptedModel } from '../support/models.ts';
import { type BenchDeps, benchFor, benchWith, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const runtime = { ...createNodeRuntime(), sleep: async () => undefined };

function serviceWith(model: BenchDeps['model'], more: Partial<BenchDeps> = {}): Partial<BenchDeps> {
  const limits = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };
  const service = {
    paidAs: { provider: 'some-service', scope: 'plain' },
    inFlight: new Map(),
    limiter: createRateLimiter(runtime, limits),
    createRedactor: null,
    notice: () => undefined,
  };
  return { runtime, model, service, ...more };
}

const down = () => scriptedModel(() => new ModelError('auth', 'wrong key (401)', { retryable: false }));
const up = () => scriptedModel(() => answer('They agreed on port 8080 and mended the parser.'));

async function compactedOffline(t: TestContext): Promise<Workbench> {
  const bench = benchWith(t, 'talk.jsonl', original, serviceWith(down(), { fallback: createExtractiveProvider() }));
  const report = reportOf(await bench.compact('talk.jsonl'));
  assert.deepEqual(
    report.conversations[0]?.batches.map(({ level }) => level),
    ['fallback'],
  );
  return bench;
}

test('what was summarized offline because the model failed is not taken for the model’s when it is there again', async (t) => {
  const bench = await compactedOffline(t);
  const model = up();
  const later = rerun(t, bench, serviceWith(model));
  later.write('copy.jsonl', original);
  const report = reportOf(await later.compact('copy.jsonl'));
  assert.equal(model.requests.length, 1);
  assert.deepEqual(
    report.conversations[0]?.batches.map(({ level }) => level),
    [undefined],
  );
  assert.deepEqual((await later.verify('copy.jsonl')).problems, []);
  assert.equal((await later.restore('talk.jsonl')).toString(), original);
});

test('two transcripts that ask for the same at the same time pay once', async (t) => {
  const model = up();
  const bench = benchWith(t, 'a.jsonl', original, serviceWith(model));
  bench.write('b.jsonl', original);
  const reports = (await Promise.all([bench.compact('a.jsonl'), bench.compact('b.jsonl')])).map(reportOf);
  assert.deepEqual(
    reports.map(({ usage }) => (usage?.calls ?? 0) + (usage?.reused ?? 0)),
    [1, 1],
  );
  assert.equal(model.requests.length, 1);
});

test('a summary of summaries is audited like any other: what it loses is added to it, and counted', async (t) => {
  const PATHS = Array.from({ length: 9 }, (_, at) => `src/deep/module-${at}/index.ts`);
  const model = scriptedModel((_, { source }) =>
    source?.kind === 'batches'
      ? answer(
          'They talked about things, at length and without any haste, for a whole day and the better part of a night.',
        )
      : answer(`They changed ${PATHS.join(', ')} and agreed that port 8080 must never be used again in production.`),
  );
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(60), serviceWith(model, { stem: (word) => word }));
  const settings = { compaction: { chunkSize: 12, appendixShare: 0.25, minRetention: 0.5 } };
  const done = await bench.compact('talk.jsonl', settings);
  assert.equal(done.ok ? 'compacted' : done.error.kind, 'low-retention');
  assert.equal(bench.read('talk.jsonl').toString(), chatTranscript(60));
});

test('an error of the audit’s second request is no answer: the next run asks again', async (t) => {
  const bench = benchFor(t);
  const wanted = { compaction: { minRetention: 1, maxRetries: 0 } };
  const asked: number[] = [];
  for (const _run of [1, 2]) {
    const model = scriptedModel((call) =>
      call === 0 && asked.length === 0
        ? answer('They talked.')
        : new ModelError('api_error', 'overloaded (529)', { retryable: true }),
    );
    const run = rerun(t, bench, serviceWith(model, { stem: (word) => word }));
    run.write('talk.jsonl', original.replaceAll('the build', 'never touch src/deep/index.ts, the build'));
    const done = await run.compact('talk.jsonl', wanted);
    assert.equal(done.ok ? 'compacted' : done.error.kind, 'low-retention');
    asked.push(model.requests.length);
  }
  assert.deepEqual(asked, [2, 1]);
});

test('a run that came to nothing says what it cost', async (t) => {
  const model = scriptedModel((call) =>
    call < 2 ? answer('') : new ModelError('auth', 'key withdrawn', { retryable: false }),
  );
  const bench = benchWith(t, 'talk.jsonl', original, serviceWith(model));
  const done = await bench.compact('talk.jsonl', { compaction: { chunkSize: 100, maxRetries: 2 } });
  assert.ok(!done.ok && done.error.kind === 'no-summary');
  assert.deepEqual(
    [done.error.usage?.calls, done.error.usage?.inputTokens, done.error.usage?.retries, done.error.usage?.cost],
    [3, 20, 0, null],
  );
});
