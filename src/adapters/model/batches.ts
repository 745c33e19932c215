import { hash } from 'node:crypto';
import {
  type BatchOutcome,
  type BatchResult,
  type BatchService,
  MAX_BATCH_CALL_MS,
  type RemoteBatch,
} from '../../ports/batch.ts';
import type { ModelError } from '../../core/model-request.ts';
import { type Result, parseJson } from '../../core/result.ts';
import { type ChatApi, readAnswer } from './chat.ts';
import { failureBehind, type ServiceFailure, ServiceFailureError } from './service-failure.ts';
import { callService, type ServiceOptions, toModelError } from './service.ts';

export type BatchOptions = ServiceOptions & {
  readonly signal?: AbortSignal | undefined;
  /** By default well under what the provider allows, because a batch is held in memory while it is sent. */
  readonly limits?: Partial<{ readonly requests: number; readonly bytes: number }>;
};

/** A batch of this size takes a few hundred megabytes of memory while it is sent. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/** The results of a large batch have gigabytes. */
export const MAX_RESULT_BYTES = 64 * 1024 ** 3;

/** Batches that were created this long before ours, by the provider's clock, are not ours. */
export const MAX_CLOCK_ERROR_MS = 3_600_000;

/** A result as the provider has it: an answer of its API for chats, a failure of that, or what became of the request. */
export type RawResult = {
  readonly customId: string;
  readonly result:
    | { readonly kind: 'answer'; readonly value: unknown }
    | { readonly kind: 'failure'; readonly failure: ServiceFailure }
    | Extract<BatchOutcome, { readonly kind: 'again' | 'canceled' }>;
};

type Results = BatchService['results'];

/** What distinguishes the batch API of a vendor. Calls give what the vendor's client gives, which may be of any shape. */
export type BatchApi = {
  readonly maxRequests: number;
  /** One request, with its body without a stream. */
  readonly toLine: (customId: string, body: object) => object;
  readonly create: (mark: string, lines: readonly string[], signal: AbortSignal) => Promise<unknown>;
  readonly retrieve: (id: string, signal: AbortSignal) => Promise<unknown>;
  readonly cancel: (id: string, signal: AbortSignal) => Promise<unknown>;
  readonly toRemote: (batch: unknown) => RemoteBatch;
  /** The files with the results, each as lines of JSON. */
  readonly resultFiles: (id: string, signal: AbortSignal) => Promise<readonly (() => Promise<Response>)[]>;
  readonly readResult: (line: unknown) => RawResult;
  /** What to say if the model takes requests only in another form than was sent. */
  readonly formProblem: string;
  readonly find: (
    ...input: [...Parameters<BatchService['find']>, tools: { readonly call: Call; readonly results: Results }]
  ) => ReturnType<BatchService['find']>;
};

type Call = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** The batch service of one vendor. Throws a `ModelError` if its address or key cannot be used. */
export function createBatchService<Form extends object, Body extends object, Usage, Client>(
  opened: Result<ChatApi<Form, Body, Usage> & { readonly client: Client }, ModelError>,
  describe: (client: Client) => BatchApi,
  { signal, limits }: BatchOptions,
): BatchService {
  if (!opened.ok) throw opened.error;
  const chat = opened.value;
  const api = describe(chat.client);
  const { service } = chat;
  const state = { form: chat.firstForm };
  const call: Call = (work) =>
    callService(service, { timeoutMs: MAX_BATCH_CALL_MS, signal, lateAdvice: 'run the command again' }, work);

  const outcomeOf = async (result: RawResult['result']): Promise<BatchOutcome> => {
    switch (result.kind) {
      case 'answer':
        try {
          const response = await readAnswer(chat, { kind: 'whole', value: result.value }, []);
          return { kind: 'answered', response };
        } catch (error) {
          // It may be broken, which concerns one request only.
          const failure = failureBehind(error);
          if (failure === null) throw error;
          return outcomeOfError(toModelError(service, failure));
        }
      case 'failure': {
        const change = chat.adapt(state.form, result.failure);
        if (change === null) return outcomeOfError(toModelError(service, result.failure));
        state.form = { ...state.form, ...change };
        return { kind: 'again', problem: api.formProblem };
      }
      default:
        return result;
    }
  };

  const results: Results = (id, take) =>
    call(async (own) => {
      for (const fetchFile of await api.resultFiles(id, own)) {
        const response = await unlessGone(fetchFile);
        if (response === null) return false;
        for await (const line of readLines(response)) {
          const { customId, result } = api.readResult(line);
          await take({ customId, outcome: await outcomeOf(result) } satisfies BatchResult);
        }
      }
      return true;
    });

  return {
    // The same address and key reach the same batches. A key cannot be guessed from its hash.
    address: service.url,
    keyHash: hash('sha256', service.key ?? '').slice(0, 16),
    maxRequests: limits?.requests ?? api.maxRequests,
    maxBytes: limits?.bytes ?? MAX_BATCH_BYTES,
    write: (customId, request) => {
      const { stream: _stream, stream_options: _options, ...body } = Object(chat.buildBody(request, state.form));
      return JSON.stringify(api.toLine(customId, body));
    },
    create: ({ mark }, lines) =>
      call(async (own) => {
        try {
          return api.toRemote(await api.create(mark, lines, own));
        } catch (error) {
          const failure = failureBehind(error);
          if (failure === null || !isRefusal(failure)) throw error;
          return { refused: toModelError(service, failure).message };
        }
      }),
    find: (intent, others) => api.find(intent, others, { call, results }),
    look: (id) => call((own) => unlessGone(async () => api.toRemote(await api.retrieve(id, own)))),
    results,
    cancel: (id) => call(async (own) => api.toRemote(await api.cancel(id, own))),
  };
}

function outcomeOfError({ code, message, retryable }: ModelError): BatchOutcome {
  return retryable ? { kind: 'again', problem: message } : { kind: 'failed', code, problem: message };
}

/** HTTP statuses after which something may have been created all the same: a time-out, a conflict. */
const UNCLEAR_STATUSES: ReadonlySet<number> = new Set([408, 409]);
/** The connection was never made. */
const UNCONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether nothing was created; other failures leave that open. */
function isRefusal(failure: ServiceFailure): boolean {
  if (failure.kind === 'connection') return failure.codes.some((code) => UNCONNECTED.has(code));
  return (
    failure.kind === 'status' && failure.status >= 400 && failure.status < 500 && !UNCLEAR_STATUSES.has(failure.status)
  );
}

/** Null instead of an error if the service does not know what is asked for. */
async function unlessGone<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    const failure = failureBehind(error);
    if (failure?.kind === 'status' && (failure.status === 404 || failure.status === 410)) return null;
    throw error;
  }
}

/** One line has one answer. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** The values of a stream of JSON lines. */
async function* readLines(response: Response): AsyncIterable<unknown> {
  const decoder = new TextDecoder();
  let rest = '';
  const parse = (line: string): unknown => {
    const value = parseJson(line);
    if (value === undefined) throw new ServiceFailureError({ kind: 'no-json' });
    return value;
  };
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) throw new ServiceFailureError({ kind: 'too-large' });
    for (const line of lines) if (line.trim() !== '') yield parse(line);
  }
  if (rest.trim() !== '') yield parse(rest);
}
