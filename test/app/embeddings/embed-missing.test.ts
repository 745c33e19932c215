import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { embedMissing, type EmbedOutcome, type EmbedScope } from '../../../src/app/search/embeddings/embed-archive.ts';
import { ModelError } from '../../../src/core/model-request.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { fakeService, type FakeService, meaningBench, toyVectors } from '../../support/meaning-bench.ts';
import { reportOf, type Workbench } from '../../support/workbench.ts';

const limits = { timeoutMs: 600_000, maxRetries: 4 };
const EVERYTHING: EmbedScope = { sourceSha256: null, mayReplace: true, limits };

async function benchWith(t: TestContext, messageCount: number, first = ''): Promise<Workbench> {
  const bench = meaningBench(t);
  bench.write('talk.jsonl', first + chatTranscript(messageCount));
  reportOf(await bench.compact('talk.jsonl'));
  return bench;
}

type Run = { readonly waits: readonly number[]; readonly outcome: EmbedOutcome };

async function run(
  bench: Workbench,
  service: FakeService,
  signal = new AbortController().signal,
  scope = EVERYTHING,
): Promise<Run> {
  const waits: number[] = [];
  const runtime = {
    ...bench.deps.runtime,
    random: () => 0,
    sleep: (ms: number) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
  const outcome = await embedMissing({ ...bench.deps, archive: bench.archive(), service, runtime, signal }, scope);
  return { waits, outcome };
}

const texts = (service: FakeService): readonly string[] => service.sent.flat();

test('everything archived gets a vector, each text is sent once, and a second run has nothing to do', async (t) => {
  const twice = chatLine({ role: 'user', content: 'the same words' });
  const bench = await benchWith(t, 205, `${twice}\n${twice}\n`);
  const service = fakeService();
  const { outcome } = await run(bench, service);
  const { done, total } = await bench.archive().vectors.count();
  assert.deepEqual(outcome, { done: total, total, dropped: 0, end: { kind: 'complete' } });
  assert.equal(done, total);
  assert.equal(texts(service).filter((text) => text === 'the same words').length, 1);
  assert.ok(service.sent.every(({ length }) => length <= 64));
  assert.deepEqual(await bench.archive().vectors.findModel(), { provider: 'ollama', model: 'toy', dimensions: 64 });
  const again = fakeService();
  assert.deepEqual((await run(bench, again)).outcome, { done: 0, total: 0, dropped: 0, end: { kind: 'complete' } });
  assert.deepEqual(again.sent, []);
});

test('what fails for good ends it, what came before is kept, and the next run does the rest', async (t) => {
  const bench = await benchWith(t, 205);
  const broken = fakeService({}, (asked, index) =>
    index === 0 ? toyVectors(asked) : Promise.reject(new ModelError('auth', 'host answered 401', { retryable: false })),
  );
  const { outcome } = await run(bench, broken);
  assert.deepEqual([outcome.done, outcome.end], [64, { kind: 'failed', message: 'host answered 401' }]);
  assert.equal((await bench.archive().vectors.count()).done, 64);
  const rest = fakeService();
  assert.equal((await run(bench, rest)).outcome.done, outcome.total - 64);
  assert.deepEqual(
    texts(rest).filter((text) => broken.sent[0]?.includes(text)),
    [],
  );
});

test('what may succeed later is tried again, after what the service asks for', async (t) => {
  const bench = await benchWith(t, 10);
  const service = fakeService({}, (asked, index) =>
    index < 2
      ? Promise.reject(
          new ModelError('rate_limit', 'host answered 429', { retryable: true, retryAfterMs: [7000][index] ?? 0 }),
        )
      : toyVectors(asked),
  );
  const { outcome, waits } = await run(bench, service);
  assert.deepEqual([outcome.end.kind, waits], ['complete', [7000, 2000]]);
  assert.deepEqual(service.notices, [
    'host answered 429; trying again in 7 s (1 of 4)',
    'host answered 429; trying again in 2 s (2 of 4)',
  ]);
});

test('a service that never comes back is given up after four more tries', async (t) => {
  const bench = await benchWith(t, 10);
  const service = fakeService({}, () => Promise.reject(new ModelError('timeout', 'late', { retryable: true })));
  const { outcome } = await run(bench, service);
  assert.deepEqual([outcome.end, service.sent.length], [{ kind: 'failed', message: 'late' }, 5]);
});

test('an interruption ends it between two requests, and what came is kept', async (t) => {
  const bench = await benchWith(t, 205);
  const interruption = new AbortController();
  const service = fakeService({}, (asked, index) => {
    if (index === 1) interruption.abort();
    return toyVectors(asked);
  });
  const { outcome } = await run(bench, service, interruption.signal);
  assert.deepEqual([outcome.end.kind, outcome.done, service.sent.length], ['interrupted', 128, 2]);
  assert.equal((await bench.archive().vectors.count()).done, 128);
});

test('another model replaces all vectors, and the old ones are dropped when its first ones are stored', async (t) => {
  const bench = await benchWith(t, 100);
  await run(bench, fakeService());
  const { total } = await bench.archive().vectors.count();
  const dead = fakeService({ model: 'other' }, () =>
    Promise.reject(new ModelError('auth', 'no', { retryable: false })),
  );
  assert.equal((await run(bench, dead)).outcome.end.kind, 'failed');
  assert.equal((await bench.archive().vectors.count()).done, total);
  const short = fakeService({ model: 'other', dimensions: 5 }, (asked) => toyVectors(asked, 5));
  const kept = await run(bench, short, undefined, { ...EVERYTHING, mayReplace: false });
  assert.deepEqual([kept.outcome.end.kind, short.sent.length], ['other-model', 0]);
  const { outcome } = await run(bench, short);
  assert.deepEqual(outcome, { done: total, total, dropped: total, end: { kind: 'complete' } });
  assert.deepEqual(await bench.archive().vectors.findModel(), { provider: 'ollama', model: 'other', dimensions: 5 });
});

test('a model whose vectors have another length than yesterday makes all of them anew; one that cannot decide is given up', async (t) => {
  const bench = await benchWith(t, 205);
  await run(bench, fakeService());
  const { total } = await bench.archive().vectors.count();
  reportOf(await (bench.write('more.jsonl', chatTranscript(30, 1000)), bench.compact('more.jsonl')));
  const longer = fakeService({}, (asked) => toyVectors(asked, 70));
  const { outcome } = await run(bench, longer);
  assert.deepEqual([outcome.dropped, outcome.end.kind], [total, 'complete']);
  assert.deepEqual(
    [outcome.done, outcome.total],
    [(await bench.archive().vectors.count()).total, (await bench.archive().vectors.count()).total],
  );
  const undecided = fakeService({ model: 'dice' }, (asked, index) => toyVectors(asked, 5 + index));
  const message = 'dice gives vectors of several lengths: name another model';
  assert.deepEqual((await run(bench, undecided)).outcome.end, { kind: 'failed', message });
});

test('a text that is too long is cut in its middle, and one that the model finds too long still, again', async (t) => {
  const long = 'keel '.repeat(20_000);
  const bench = await benchWith(t, 10, `${chatLine({ role: 'user', content: long })}\n`);
  const service = fakeService({}, (asked) =>
    asked.some((text) => text.length > 1000)
      ? Promise.reject(new ModelError('context_length', 'too long', { retryable: false }))
      : toyVectors(asked),
  );
  assert.equal((await run(bench, service)).outcome.end.kind, 'complete');
  assert.ok(texts(service).every((text) => text.length <= 8000));
  assert.ok(
    texts(service).some((text) => text.length <= 1000 && /^keel [\s\S]*characters left out[\s\S]*keel$/.test(text)),
  );
});

test('an empty message counts as done and is never sent; odd characters are made harmless', async (t) => {
  const odd = [chatLine({ role: 'user', content: '  \n ' }), chatLine({ role: 'user', content: 'a\0b \ud800' })];
  const bench = await benchWith(t, 10, `${odd.join('\n')}\n`);
  const service = fakeService();
  const { outcome } = await run(bench, service);
  assert.deepEqual([outcome.done, outcome.end.kind], [outcome.total, 'complete']);
  assert.ok(texts(service).every((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed()));
  assert.ok(texts(service).includes('a b \ufffd'));
});

test('secrets are masked before anything is sent, also where only a later text shows them to be secrets', async (t) => {
  const secret = 'hushQ7w9Z2k4';
  const said = [`it was ${secret}`, `key=${secret}`].map((content) => chatLine({ role: 'user', content }));
  const bench = await benchWith(t, 10, `${said.join('\n')}\n`);
  const seen = new Set<string>();
  const redact = (text: string): string => {
    if (text.includes('key=')) seen.add(secret);
    return seen.has(secret) ? text.replaceAll(secret, '[redacted:key:1]') : text;
  };
  const masked = () => (seen.size === 0 ? [] : [{ kind: 'key', count: seen.size }]);
  const service = fakeService({ createRedactor: () => ({ redact, masked }) });
  await run(bench, service);
  assert.ok(texts(service).includes('it was [redacted:key:1]'));
  assert.ok(!texts(service).join('\n').includes(secret));
});
