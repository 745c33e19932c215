import { z } from 'zod';
import type { BatchService, RemoteBatch } from '../../ports/batch.ts';
import { validate } from './answer.ts';
import { type AnthropicApi, openAnthropic } from './anthropic.ts';
import {
  type BatchApi,
  type BatchOptions,
  createBatchService,
  MAX_CLOCK_ERROR_MS,
  MAX_RESULT_BYTES,
  type RawResult,
} from './batches.ts';

/** Anthropic's Message Batches. Nothing of ours can be stored with a batch, so one is recognized by its results. */
export function createAnthropicBatches(options: BatchOptions): BatchService {
  return createBatchService(openAnthropic({ ...options, maxAnswerBytes: MAX_RESULT_BYTES }), describe, options);
}

/** Of the API. */
const MAX_REQUESTS = 100_000;
const RESULTS_DAYS = 29;
const DAY_MS = 86_400_000;

const batchSchema = z.looseObject({
  id: z.string().min(1),
  processing_status: z.enum(['in_progress', 'canceling', 'ended']),
  created_at: z.string(),
  archived_at: z.string().nullish(),
  request_counts: z.looseObject({
    processing: z.int(),
    succeeded: z.int(),
    errored: z.int(),
    canceled: z.int(),
    expired: z.int(),
  }),
});
const resultSchema = z.looseObject({
  custom_id: z.string(),
  result: z.looseObject({ type: z.string(), message: z.unknown().optional(), error: z.unknown().optional() }),
});

function describe(client: AnthropicApi['client']): BatchApi {
  const { batches } = client.messages;
  return {
    maxRequests: MAX_REQUESTS,
    formProblem: 'the model knows no effort',
    toLine: (customId, params) => ({ custom_id: customId, params }),
    create: (_mark, lines, signal) => batches.create({ requests: lines.map((line) => JSON.parse(line)) }, { signal }),
    retrieve: (id, signal) => batches.retrieve(id, {}, { signal }),
    cancel: (id, signal) => batches.cancel(id, {}, { signal }),
    toRemote,
    resultFiles: async (id, signal) => {
      // Not with `batches.results`, which sends the key to wherever a URL in the answer leads.
      const path = `/v1/messages/batches/${encodeURIComponent(id)}/results`;
      return [() => client.get(path, { signal, __binaryResponse: true }).asResponse()];
    },
    readResult,
    find: async ({ sentAt, requests }, { isOurs, known }, { call, results }) => {
      const running: string[] = [];
      const ended: RemoteBatch[] = [];
      await call(async (signal) => {
        for await (const one of batches.list({ limit: 100 }, { signal })) {
          const { created_at: createdAt, request_counts: counts, id } = validate(batchSchema, one, 'batch');
          if (Date.parse(createdAt) < sentAt.getTime() - MAX_CLOCK_ERROR_MS) break;
          const { processing, succeeded, errored, canceled, expired } = counts;
          if (known.has(id) || processing + succeeded + errored + canceled + expired !== requests) continue;
          const batch = toRemote(one);
          if (batch.status === 'ended') ended.push(batch);
          else running.push(id);
        }
      });
      for (const batch of ended) {
        const id = await firstId(results, batch.id);
        if (id === null) running.push(batch.id);
        else if (await isOurs(id)) return { kind: 'found', batch };
      }
      return running.length > 0 ? { kind: 'unclear', ids: running } : { kind: 'absent' };
    },
  };
}

function readResult(line: unknown): RawResult {
  const { custom_id: customId, result } = validate(resultSchema, line, 'result');
  switch (result.type) {
    case 'succeeded':
      return { customId, result: { kind: 'answer', value: result.message } };
    case 'canceled':
      return { customId, result: { kind: 'canceled' } };
    case 'expired':
      return { customId, result: { kind: 'again', problem: 'it expired before it was answered' } };
    default:
      return { customId, result: { kind: 'failure', failure: { kind: 'error-body', body: result.error } } };
  }
}

async function firstId(results: BatchService['results'], batchId: string): Promise<string | null> {
  const first: { id: string | null } = { id: null };
  const stop = new Error('the first one is enough');
  try {
    await results(batchId, async ({ customId }) => {
      first.id = customId;
      throw stop;
    });
  } catch (error) {
    if (error !== stop) throw error;
  }
  return first.id;
}

function toRemote(value: unknown): RemoteBatch {
  const { id, processing_status: status, created_at: createdAt } = validate(batchSchema, value, 'batch');
  const createdMs = Date.parse(createdAt);
  return {
    id,
    status: status === 'in_progress' ? 'running' : status,
    resultsExpireAt: Number.isNaN(createdMs) ? null : new Date(createdMs + RESULTS_DAYS * DAY_MS),
    problem: null,
  };
}
