import { cutMiddle } from '../../../core/chunk.ts';
import { ModelError } from '../../../core/model-request.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { estimateTokensByBytes } from '../../../core/tokens.ts';
import type { Embedder, Price, Redactor } from '../../../ports/model.ts';
import type { Runtime } from '../../../ports/runtime.ts';
import type { VectorModel } from '../../../ports/archive-lookup.ts';
import { backoffMs } from '../../summarize/ask.ts';
import type { RateLimiter } from '../../summarize/limits.ts';
import { type Meter, usageOf } from '../../summarize/usage.ts';

type EmbedDeps = Pick<EmbeddingService, 'embedder' | 'limiter' | 'notice'> & {
  readonly meter?: Meter;
  readonly runtime: Pick<Runtime, 'sleep' | 'random'>;
  readonly signal: AbortSignal;
};

export type EmbedOptions = {
  readonly timeoutMs: number;
  /** How often a call that may succeed later is repeated. */
  readonly maxRetries: number;
};

/** This much text shows what a message is about, and models take in about as much. */
const MAX_TEXT_CHARS = 8000;
/** A text that is too long for the model is halved, down to this length. */
const MIN_TEXT_CHARS = 250;
const TOLD_WAIT_MS = 5000;

/**
 * Makes one vector for each text; no text may be empty. Texts that are too long together are sent in halves, and a single one is cut in its
 * middle. The error is that of the last attempt.
 */
export async function embedTexts(
  deps: EmbedDeps,
  texts: readonly string[],
  options: EmbedOptions,
): Promise<Result<readonly Float32Array[], ModelError>> {
  const cut = texts.map((text) => cutMiddle(text, MAX_TEXT_CHARS));
  const tried = await tryUntilDone(deps, cut, options);
  if (tried.ok || tried.error.code !== 'context_length') return tried;
  const [only = ''] = cut;
  if (cut.length === 1) {
    if (only.length <= MIN_TEXT_CHARS) return tried;
    return embedTexts(deps, [cutMiddle(only, Math.max(MIN_TEXT_CHARS, Math.floor(only.length / 2)))], options);
  }
  const middle = Math.ceil(cut.length / 2);
  const first = await embedTexts(deps, cut.slice(0, middle), options);
  if (!first.ok) return first;
  const second = await embedTexts(deps, cut.slice(middle), options);
  return second.ok ? ok([...first.value, ...second.value]) : second;
}

async function tryUntilDone(deps: EmbedDeps, texts: readonly string[], { timeoutMs, maxRetries }: EmbedOptions) {
  for (let failed = 0; ; failed += 1) {
    const tried = await tryOnce(deps, texts, timeoutMs);
    if (tried.ok) return tried;
    const { error } = tried;
    if (!error.retryable || failed >= maxRetries || deps.signal.aborted) return tried;
    const waitMs = backoffMs(deps, failed, error.retryAfterMs);
    deps.notice(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s (${failed + 1} of ${maxRetries})`);
    await deps.runtime.sleep(waitMs, deps.signal);
  }
}

async function tryOnce(
  { embedder, limiter, notice, signal, meter }: EmbedDeps,
  texts: readonly string[],
  timeoutMs: number,
): Promise<Result<readonly Float32Array[], ModelError>> {
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
  const onWait = (ms: number): void => {
    if (ms >= TOLD_WAIT_MS) notice(`waiting ${Math.ceil(ms / 1000)} s, as the configured limits say`);
  };
  await limiter.take({ inputTokens, outputTokens: 0 }, { onWait, signal });
  if (signal.aborted) return err(new ModelError('api_error', 'it was interrupted', { retryable: false }));
  try {
    const { vectors, inputTokens: used } = await embedder.embed({ texts, timeoutMs }, signal);
    meter?.add(usageOf({ input_tokens: used ?? inputTokens, output_tokens: 0 }));
    if (used !== null) limiter.giveBack({ inputTokens: inputTokens - used, outputTokens: 0 });
    return ok(vectors);
  } catch (error) {
    if (error instanceof ModelError) return err(error);
    throw error;
  }
}

/** An embedder and what calling it needs. */
export type EmbeddingService = {
  readonly embedder: Embedder;
  readonly provider: string;
  readonly model: string;
  /** Null: the model's default. */
  readonly dimensions: number | null;
  readonly limiter: RateLimiter;
  /** Looks up the price of the model, which takes a while. Undefined: nobody knows it. */
  readonly findPrice?: (() => Promise<Price | undefined>) | undefined;
  /** Creates the redactor of one run, in which a secret always gets the same mask. Null: secrets are not masked. */
  readonly createRedactor: (() => Redactor) | null;
  /** Called with sentences for the person at the terminal, for example about waits. */
  readonly notice: (sentence: string) => void;
};

type Wanted = Pick<EmbeddingService, 'provider' | 'model' | 'dimensions'>;

/** Whether stored vectors can be compared with those of the service. */
export function isOfService(known: VectorModel, { provider, model, dimensions }: Wanted): boolean {
  return (
    known.provider === provider && known.model === model && (dimensions === null || known.dimensions === dimensions)
  );
}

/** "tiny (64 numbers)" */
export function describeVectors({ model, dimensions }: Pick<Wanted, 'model' | 'dimensions'>): string {
  return dimensions === null ? model : `${model} (${dimensions} numbers)`;
}

/** Cuts a text to length and removes what JSON or a tokenizer cannot handle. */
export function sendable(text: string): string {
  return cutMiddle(text.replaceAll('\0', ' ').trim(), MAX_TEXT_CHARS).toWellFormed();
}
