import { z } from 'zod';
import type { BatchService, RemoteBatch } from '../../ports/batch.ts';
import { validate } from './answer.ts';
import {
  type BatchApi,
  type BatchOptions,
  createBatchService,
  MAX_CLOCK_ERROR_MS,
  MAX_RESULT_BYTES,
  type RawResult,
} from './batches.ts';
import { type OpenAiApi, type OpenAiCompatibleOptions, openOpenAi } from './openai-compatible.ts';

type OpenAiBatchOptions = BatchOptions & Pick<OpenAiCompatibleOptions, 'maxTokensField'>;

/** OpenAI's Batch API, which other servers have too: a file of requests, and files of answers and of errors. */
export function createOpenAiBatches(options: OpenAiBatchOptions): BatchService {
  const opened = openOpenAi({ ...options, flavor: 'openai', maxAnswerBytes: MAX_RESULT_BYTES });
  return createBatchService(opened, describe, options);
}

/** Of the API. */
const MAX_REQUESTS = 50_000;
/** The longest time for which results can be kept, in seconds. */
const RESULTS_SECONDS = 30 * 86_400;
/** The key under which our word is stored with a batch. */
const MARK = 'compact_mark';

const seconds = z.number().nullish();
const batchSchema = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  created_at: z.number(),
  completed_at: seconds,
  cancelled_at: seconds,
  expired_at: seconds,
  output_file_id: z.string().nullish(),
  error_file_id: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  errors: z.looseObject({ data: z.array(z.looseObject({ message: z.string().nullish() })).nullish() }).nullish(),
});
const lineSchema = z.looseObject({
  custom_id: z.string(),
  response: z.looseObject({ status_code: z.int(), body: z.unknown().optional() }).nullish(),
  error: z.looseObject({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
});

function describe(client: OpenAiApi['client']): BatchApi {
  return {
    maxRequests: MAX_REQUESTS,
    formProblem: 'the model takes requests in another form',
    toLine: (customId, body) => ({ custom_id: customId, method: 'POST', url: '/v1/chat/completions', body }),
    create: async (mark, lines, signal) => {
      const expiry = { anchor: 'created_at', seconds: RESULTS_SECONDS } as const;
      // A file that no batch was made of costs nothing and expires.
      const upload = new File([`${lines.join('\n')}\n`], `compact-${mark}.jsonl`);
      const file = await client.files.create({ file: upload, purpose: 'batch', expires_after: expiry }, { signal });
      const { id } = validate(z.looseObject({ id: z.string().min(1) }), file, 'file');
      return client.batches.create(
        {
          input_file_id: id,
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
          metadata: { [MARK]: mark },
          output_expires_after: expiry,
        },
        { signal },
      );
    },
    retrieve: (id, signal) => client.batches.retrieve(id, { signal }),
    cancel: (id, signal) => client.batches.cancel(id, { signal }),
    toRemote,
    resultFiles: async (id, signal) => {
      const batch = validate(batchSchema, await client.batches.retrieve(id, { signal }), 'batch');
      // Errors are in a file of their own. A batch that did nothing has neither.
      const files = [batch.output_file_id, batch.error_file_id].flatMap((file) => file ?? []);
      return files.map((file) => () => client.files.content(file, { signal }).asResponse());
    },
    readResult,
    find: ({ mark, sentAt }, _others, { call }) =>
      call(async (signal) => {
        for await (const one of client.batches.list({ limit: 100 }, { signal })) {
          const { created_at: createdAt, metadata } = validate(batchSchema, one, 'batch');
          if (metadata?.[MARK] === mark) return { kind: 'found', batch: toRemote(one) };
          if (createdAt * 1000 < sentAt.getTime() - MAX_CLOCK_ERROR_MS) break;
        }
        return { kind: 'absent' };
      }),
  };
}

function readResult(line: unknown): RawResult {
  const { custom_id: customId, response, error } = validate(lineSchema, line, 'result');
  if (response === null || response === undefined) {
    const problem = error?.message ?? 'it was not answered';
    const isCanceled = error?.code === 'batch_cancelled';
    return { customId, result: isCanceled ? { kind: 'canceled' } : { kind: 'again', problem } };
  }
  const { status_code: status, body } = response;
  if (status >= 200 && status < 300) return { customId, result: { kind: 'answer', value: body } };
  const failure = { kind: 'status', status, headers: new Headers(), body: JSON.stringify(body ?? {}) } as const;
  return { customId, result: { kind: 'failure', failure } };
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

function toRemote(value: unknown): RemoteBatch {
  const batch = validate(batchSchema, value, 'batch');
  const { id, status, errors } = batch;
  const endedAt = batch.completed_at ?? batch.cancelled_at ?? batch.expired_at ?? null;
  const messages = (errors?.data ?? []).flatMap(({ message }) => message ?? []);
  return {
    id,
    status: ENDED.has(status) ? 'ended' : status === 'cancelling' ? 'canceling' : 'running',
    // The time counts from the creation of the output file.
    resultsExpireAt: endedAt === null ? null : new Date((endedAt + RESULTS_SECONDS) * 1000),
    problem: status === 'failed' ? messages.join('; ') || 'the provider refused the batch' : null,
  };
}
