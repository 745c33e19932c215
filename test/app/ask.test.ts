import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { askWithFallback, type FallbackDeps, type SummaryAnswer } from '../../src/app/summarize/ask.ts';
import { createRateLimiter } from '../../src/app/summarize/limits.ts';
import { createPaidSummaries } from '../../src/app/summarize/paid-summaries.ts';
import { ModelError, type ModelRequest } from '../../src/core/model-request.ts';
import type { CachedSummary, SummaryCache } from '../../src/ports/archive.ts';
import { answer, scriptedModel } from '../support/models.ts';

type ScriptedModel = ReturnType<typeof scriptedModel>;

const request: ModelRequest = {
  system: 'Summarize.',
  messages: [
    { role: 'user', content: 'The parser fails at line 42 of config.json.' },
    { role: 'user', content: [{ type: 'text', text: 'Write the summary.' }] },
  ],
  model: 'some-model',
  max_tokens: 100,
  temperature: 0,
  timeout: 5,
};

const OPTIONS = { inputTokens: 10_000, maxRetries: 2, canHalve: false, halvings: 0 };

type Asking = {
  readonly answer: SummaryAnswer;
  readonly waits: readonly number[];
  readonly notices: readonly string[];
};

async function ask(
  model: ScriptedModel,
  { options = {}, ...deps }: Partial<FallbackDeps> & { readonly options?: Partial<typeof OPTIONS> } = {},
): Promise<Asking> {
  const waits: number[] = [];
  const notices: string[] = [];
  const runtime = { ...createNodeRuntime(), random: () => 0, sleep: async (ms: number) => void waits.push(ms) };
  const all = { model, runtime, notice: (sentence: string) => void notices.push(sentence), ...deps };
  return { answer: await askWithFallback(all, request, { ...OPTIONS, ...options }), waits, notices };
}

const overloaded = (retryAfterMs?: number): ModelError =>
  new ModelError('api_error', 'the service is overloaded (529)', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const lastBlocks = ({ messages }: ModelRequest): readonly string[] => {
  const content = messages.at(-1)?.content ?? '';
  return typeof content === 'string' ? [content] : content.map(({ text }) => text);
};

suite('a call that fails', () => {
  test('is repeated after the wait that the service asks for, and says so', async () => {
    const model = scriptedModel((call) => (call === 0 ? overloaded(20_000) : answer('They fixed line 42.')));
    const asked = await ask(model);
    assert.deepEqual(asked.waits, [20_000]);
    assert.deepEqual(asked.notices, ['the service is overloaded (529); trying again in 20 s (1 of 2)']);
    assert.deepEqual(asked.answer.usage, {
      calls: 2,
      inputTokens: asked.answer.usage.inputTokens,
      cachedInputTokens: 0,
      outputTokens: asked.answer.usage.outputTokens,
      reused: 0,
      retries: 1,
      waitedMs: 20_000,
    });
  });

  test('is not waited for longer than a minute', async () => {
    const model = scriptedModel((call) => (call === 0 ? overloaded(86_400_000) : answer('They fixed it.')));
    assert.deepEqual((await ask(model)).waits, [60_000]);
  });

  test('is given up after maxRetries, bad summaries between them or not', async () => {
    const model = scriptedModel((call) => (call === 1 ? answer('') : overloaded()));
    const asked = await ask(model);
    assert.equal(asked.answer.kind, 'failed');
    assert.equal(model.requests.length, 4); // a failed call, its repetition with a bad answer, that one's, and a last repetition
  });

  test('for good is not repeated', async () => {
    const model = scriptedModel(() => new ModelError('auth', 'wrong key (401)', { retryable: false }));
    const asked = await ask(model);
    assert.deepEqual([asked.answer.kind, model.requests.length, asked.waits], ['failed', 1, []]);
  });

  test('is not repeated once a signal has come', async () => {
    const abort = new AbortController();
    const model = scriptedModel(() => {
      abort.abort();
      return overloaded();
    });
    assert.equal((await ask(model, { signal: abort.signal })).answer.kind, 'failed');
    assert.equal(model.requests.length, 1);
  });
});

suite('a bad summary', () => {
  test('is asked for again with what was wrong with it, behind the directive and apart from it', async () => {
    const model = scriptedModel((call) => (call === 0 ? answer('') : answer('They fixed line 42.')));
    const asked = await ask(model);
    assert.deepEqual(asked.answer.kind === 'summary' && [asked.answer.text, asked.answer.neededFeedback], [
      'They fixed line 42.',
      true,
    ]);
    const [first, second] = model.requests;
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(lastBlocks(first), ['Write the summary.']);
    assert.equal(lastBlocks(second)[0], 'Write the summary.');
    assert.match(lastBlocks(second)[1] ?? '', /could not be used: the model answered with no text\./);
    assert.deepEqual(second.messages.slice(0, -1), request.messages.slice(0, -1));
  });

  test('that stays bad is worth a smaller request where that can be, else it is a failure', async () => {
    const model = scriptedModel(() => answer('API Error: 500 Internal Server Error'));
    assert.equal((await ask(model, { options: { canHalve: true } })).answer.kind, 'smaller');
    assert.equal((await ask(model)).answer.kind, 'failed');
    assert.equal(model.requests.length, 6);
  });
});

suite('the fallback', () => {
  const offline = (): ScriptedModel => ({
    ...scriptedModel(() => answer('Sorry, I cannot help with that.')),
    isVerbatim: true,
  });

  test('summarizes where the model fails for good, and costs nothing', async () => {
    const model = scriptedModel(() => new ModelError('auth', 'wrong key (401)', { retryable: false }));
    const asked = await ask(model, { fallback: offline() });
    assert.deepEqual(asked.answer.kind === 'summary' && [asked.answer.isFallback, asked.answer.usage.calls], [true, 1]);
    assert.deepEqual(asked.notices, ['wrong key (401): summarized offline instead']);
  });

  test('is not asked while a smaller request may do', async () => {
    const model = scriptedModel(() => new ModelError('context_length', 'too long', { retryable: false }));
    const asked = await ask(model, { fallback: offline(), options: { canHalve: true } });
    assert.equal(asked.answer.kind, 'smaller');
  });

  test('is not asked after an interruption', async () => {
    const model = scriptedModel(() => overloaded());
    const asked = await ask(model, { fallback: offline(), signal: AbortSignal.abort() });
    assert.equal(asked.answer.kind, 'failed');
  });
});

suite('what was paid once', () => {
  function memory(): SummaryCache & { readonly rows: Map<string, CachedSummary> } {
    const rows = new Map<string, CachedSummary>();
    return {
      rows,
      find: async (key) => rows.get(key) ?? null,
      keep: async (key, summary) => {
        if (!rows.has(key)) rows.set(key, summary);
      },
      keepAll: async () => assert.fail('one call has one answer'),
    };
  }
  const paidBy = (cache: SummaryCache, provider = 'anthropic', scope = '') =>
    createPaidSummaries(cache, createNodeRuntime(), { provider, scope });

  test('is not asked for again, also when it took a second try', async () => {
    const cache = memory();
    const model = scriptedModel((call) => (call === 0 ? answer('') : answer('They fixed line 42.')));
    await ask(model, { paid: paidBy(cache) });
    const again = await ask(model, { paid: paidBy(cache) });
    assert.equal(model.requests.length, 2);
    assert.deepEqual(
      again.answer.kind === 'summary' && [again.answer.text, again.answer.usage.reused, again.answer.usage.calls],
      ['They fixed line 42.', 1, 0],
    );
  });

  test('is another provider’s, model’s or request’s business, but not another time limit’s', async () => {
    const cache = memory();
    const runtime = createNodeRuntime();
    const keys = (provider: string, scope: string, asked: ModelRequest): number => {
      createPaidSummaries(cache, runtime, { provider, scope }).keep(asked, { text: 'x', usage: answer('x').usage });
      return cache.rows.size;
    };
    assert.deepEqual(
      [
        keys('anthropic', '', request),
        keys('anthropic', '', { ...request, timeout: 9, source: { kind: 'batches', batches: [] } }),
        keys('ollama', '', request),
        keys('anthropic', 'masked', request),
        keys('anthropic', '', { ...request, model: 'other' }),
        keys('anthropic', '', { ...request, max_tokens: 7 }),
        keys('anthropic', '', { ...request, messages: request.messages.slice(1) }),
      ],
      [1, 1, 2, 3, 4, 5, 6],
    );
  });

  test('bad summaries and the fallback’s are not kept', async () => {
    const cache = memory();
    await ask(
      scriptedModel(() => answer('')),
      { paid: paidBy(cache), fallback: scriptedModel(() => answer('offline')) },
    );
    assert.equal(cache.rows.size, 0);
  });
});

test('a request waits for its turn, and gives back what it did not use', async () => {
  const state = { ms: 0 };
  const clock = { now: () => new Date(state.ms), sleep: async (ms: number) => void (state.ms += ms) };
  const limiter = createRateLimiter(clock, {
    requestsPerMinute: null,
    inputTokensPerMinute: null,
    outputTokensPerMinute: 100,
  });
  const model = scriptedModel(() => answer('They fixed line 42.'));
  await ask(model, { limiter });
  const second = await ask(model, { limiter });
  assert.equal(second.answer.usage.waitedMs, state.ms);
  assert.ok(state.ms > 0 && state.ms < 30_000, `${state.ms}`);
});
