import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAnthropicProvider } from '../../../src/adapters/model/anthropic.ts';
import { createAnthropicBatches } from '../../../src/adapters/model/anthropic-batch.ts';
import { createCachedStemmer } from '../../../src/adapters/model/extractive.ts';
import { createOpenAiCompatibleProvider } from '../../../src/adapters/model/openai-compatible.ts';
import { createOpenAiBatches } from '../../../src/adapters/model/openai-batch.ts';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import { compactFile } from '../../../src/app/compact/compact-file.ts';
import type { ModelService } from '../../../src/app/contract/deps.ts';
import type { BatchDeps, BatchStep, FinishedFile } from '../../../src/app/jobs/records.ts';
import { collectBatches } from '../../../src/app/jobs/collect.ts';
import { batchStatus, type SubmittedFile, submitBatches } from '../../../src/app/jobs/submit.ts';
import { createBreaker, createRateLimiter } from '../../../src/app/summarize/limits.ts';
import { ModelError } from '../../../src/core/model-request.ts';
import { type BatchServer, serveBatches } from '../../support/batch-server.ts';
import { prose } from '../../support/chat.ts';
import { KEY, MODEL, talkOf } from '../../support/model-scene.ts';
import { benchWith, type BenchSettings, policyOf, reportOf, type Workbench } from '../../support/workbench.ts';

export const DIALECTS = ['anthropic', 'openai-compat'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Chunks of four messages, so that a short talk has several, which are then merged. */
export const SETTINGS: BenchSettings = {
  compaction: { chunkSize: 4, keepRecent: 2, keepRecentTokens: 0, foldIn: false },
};

/** The answer to a request depends on all of its messages, and on nothing else. */
export function replyTo({ messages }: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(messages ?? null);
  let seed = 7;
  for (let at = 0; at < text.length; at += 1) seed = (seed * 31 + text.charCodeAt(at)) % 9973;
  return `They worked on ${prose(seed, 25)}.`;
}

export type Said = {
  readonly warnings: string[];
  readonly problems: string[];
  readonly files: FinishedFile[];
};

type Options = {
  readonly url: string;
  readonly dialect: Dialect;
  readonly now: () => Date;
  readonly onStep?: (step: BatchStep) => void;
  readonly key?: string;
  readonly limits?: { readonly requests?: number; readonly bytes?: number };
};

/** What a run of the program on a workbench has, with the real adapters. */
export function batchRun(
  bench: Workbench,
  { url, dialect, now, onStep = () => undefined, key = KEY, limits }: Options,
): { readonly deps: BatchDeps; readonly said: Said } {
  const said: Said = { warnings: [], problems: [], files: [] };
  const options = { apiKey: key, now, ...(limits === undefined ? {} : { limits }) };
  const runtime = { ...createNodeRuntime(), now };
  const deps: BatchDeps = {
    ...bench.deps,
    runtime,
    archive: bench.archive(),
    service:
      dialect === 'anthropic'
        ? createAnthropicBatches({ ...options, baseUrl: url })
        : createOpenAiBatches({ ...options, baseUrl: `${url}/v1` }),
    summarizer: { ...bench.deps, service: serviceOf(dialect, runtime), stem: createCachedStemmer() },
    provider: dialect,
    priceOf: async () => undefined,
    onFile: (file) => void said.files.push(file),
    ask: async (call) => {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        said.problems.push(error.message);
        return null;
      }
    },
    onProblem: (sentence) => void said.problems.push(sentence),
    onWarning: (sentence) => void said.warnings.push(sentence),
    onStep,
  };
  return { deps, said };
}

export function serviceOf(provider: Dialect, runtime: Parameters<typeof createRateLimiter>[0]): ModelService {
  const none = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };
  return {
    paidAs: { provider, scope: 'plain' },
    inFlight: new Map(),
    limiter: createRateLimiter(runtime, none),
    createRedactor: null,
    notice: () => undefined,
  };
}

export function submitted(bench: Workbench, name: string, settings: BenchSettings = SETTINGS): SubmittedFile {
  return {
    path: join(bench.folder, name),
    name,
    format: null,
    output: { kind: 'in-place' },
    policy: policyOf(settings),
    model: MODEL,
  };
}

export const TALK = talkOf(26);

/** Compacts a file of a workbench with a live model, at the URL of a server of models. */
export async function compactLive(
  bench: Workbench,
  name: string,
  { dialect, url }: { readonly dialect: Dialect; readonly url: string },
): Promise<Buffer> {
  const model =
    dialect === 'anthropic'
      ? createAnthropicProvider({ apiKey: KEY, baseUrl: url })
      : createOpenAiCompatibleProvider({ apiKey: KEY, baseUrl: `${url}/v1`, flavor: 'openai' });
  const service = serviceOf(dialect, createNodeRuntime());
  const done = await compactFile(bench.deps, {
    input: { path: bench.path(name), name, format: null },
    output: { kind: 'in-place' },
    policy: policyOf(SETTINGS),
    provider: dialect,
    modelName: MODEL,
    summarizer: { model, service, stem: createCachedStemmer(), breaker: createBreaker(3) },
  });
  assert.equal(reportOf(done).result, 'compacted');
  return bench.read(name);
}

type Scene = {
  readonly bench: Workbench;
  readonly server: BatchServer;
  readonly submit: (...names: readonly string[]) => Promise<Said>;
  readonly collect: () => Promise<Said>;
  readonly pass: (ms: number) => void;
  readonly run: (options?: {
    readonly dialect?: Dialect;
    readonly url?: string;
    readonly key?: string;
    readonly limits?: { readonly requests?: number; readonly bytes?: number };
  }) => ReturnType<typeof batchRun>;
};

export async function openScene(t: TestContext, dialect: Dialect, reply = replyTo): Promise<Scene> {
  const clock = { ms: Date.parse('2026-11-20T08:00:00.000Z') };
  const now = (): Date => new Date(clock.ms);
  const server = await serveBatches({ reply, now });
  t.after(server.close);
  const bench = benchWith(t, 'talk.jsonl', TALK);
  const run: Scene['run'] = (options) => batchRun(bench, { url: server.url, dialect, now, ...options });
  return {
    bench,
    server,
    run,
    submit: async (...names) => {
      const { deps, said } = run();
      await submitBatches(
        deps,
        (names.length === 0 ? ['talk.jsonl'] : names).map((name) => submitted(bench, name)),
      );
      return said;
    },
    collect: async () => {
      const { deps, said } = run();
      await collectBatches(deps);
      return said;
    },
    pass: (ms) => {
      clock.ms += ms;
    },
  };
}

export async function stateOf({ bench }: Scene): Promise<string | undefined> {
  return (await batchStatus(bench.archive(), new Date(0))).files[0]?.state;
}

/** Ends batches and collects until nothing is open. */
export async function untilDone(scene: Scene, fate?: Parameters<BatchServer['finish']>[0]): Promise<Said> {
  const all: Said = { warnings: [], problems: [], files: [] };
  for (let round = 0; round < 12; round += 1) {
    scene.server.finish(fate);
    scene.pass(200_000);
    const said = await scene.collect();
    for (const key of ['warnings', 'problems', 'files'] as const) (all[key] as unknown[]).push(...said[key]);
    const { files } = await batchStatus(scene.bench.archive(), new Date(0));
    if (files.every(({ state }) => state !== 'planned' && state !== 'waiting')) return all;
  }
  return assert.fail(`it never ends: ${JSON.stringify(all)}`);
}
