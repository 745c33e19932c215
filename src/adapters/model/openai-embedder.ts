import { z } from 'zod';
import type { Embedder, Embedding, EmbedRequest } from '../../ports/model.ts';
import { validate, createGuardedFetch } from './answer.ts';
import { askAdapting, callService } from './call-service.ts';
import {
  connectionFailure,
  type ServiceFailure,
  failureBehind,
  isHtml,
  parseJson,
  ServiceFailureError,
} from './service-failure.ts';
import { ADVICE, classifyOpenAi } from './openai-errors.ts';
import { openService, type ReachableService, requestHeaders, serviceError, type ServiceOptions } from './service.ts';
import { namesUnsupported } from './translate.ts';

export type OpenAiEmbedderOptions = Omit<ServiceOptions, 'log'> & {
  readonly flavor: 'openai' | 'ollama';
  readonly model: string;
  /** Numbers per vector, requested and required; null: the model's default. */
  readonly dimensions: number | null;
};

/** The limit of the vector index. */
const MAX_DIMENSIONS = 8192;

type Form = { readonly namesDimensions: boolean };

/**
 * Embeddings by any server with OpenAI's API; `baseUrl` is what precedes `/embeddings`. No SDK is needed for one kind
 * of request.
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const opened = openService(options, ADVICE[options.flavor]);
  if (!opened.ok) return { embed: () => Promise.reject(opened.error) };
  const reachable = opened.value;
  const state: { form: Form } = { form: { namesDimensions: options.dimensions !== null } };
  return {
    embed: (request, signal) =>
      callService(
        { service: reachable.service, classify: classifyOpenAi },
        { timeoutMs: request.timeoutMs, signal, lateAdvice: 'is the server busy with something else?' },
        (own) => askAdapting(state, (form) => ask(reachable, { options, request, form, signal: own }), adaptForm),
      ),
  };
}

type Asked = {
  readonly options: OpenAiEmbedderOptions;
  readonly request: EmbedRequest;
  readonly form: Form;
  readonly signal: AbortSignal;
};

async function ask({ base, key, service }: ReachableService, asked: Asked): Promise<Embedding> {
  const { model, dimensions } = asked.options;
  const { texts } = asked.request;
  const body = { model, input: texts, ...(asked.form.namesDimensions ? { dimensions } : {}) };
  const fetchGuarded = createGuardedFetch(requestHeaders(key));
  const response = await fetchGuarded(`${base.url}/embeddings`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: asked.signal,
  });
  const answer = await readEmbeddings(response, texts.length);
  const given = answer.vectors[0]?.length ?? 0;
  if (given > MAX_DIMENSIONS) {
    throw serviceError(service, `sent vectors of ${given} numbers, and no more than ${MAX_DIMENSIONS} can be kept`, {
      code: 'api_error',
      retryable: false,
      advice: 'use another model, or set dimensions',
    });
  }
  if (dimensions === null || given === dimensions) return answer;
  throw serviceError(service, `sent vectors of ${given} numbers where dimensions says ${dimensions}`, {
    code: 'api_error',
    retryable: false,
    advice: `set dimensions = ${given}, or remove it`,
  });
}

/** Models with one fixed length refuse the parameter; the length of their vectors is checked anyway. */
function adaptForm(used: Form, failure: ServiceFailure): Partial<Form> | null {
  return used.namesDimensions && namesUnsupported(failure, ['dimensions']) ? { namesDimensions: false } : null;
}

const answerSchema = z.looseObject({
  // Numbers, or base64 of 32-bit floats in little-endian order.
  data: z.array(
    z.looseObject({ index: z.int().min(0).optional(), embedding: z.union([z.array(z.number()), z.string()]) }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(undefined),
});

/**
 * Reads the answer to a request for `count` embeddings. Each belongs to the text that its index names, in any order.
 */
async function readEmbeddings(response: Response, count: number): Promise<Embedding> {
  const { data, usage } = validate(answerSchema, await readValue(response), 'answer');
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count });
  data.forEach(({ index, embedding }, position) => {
    const at = index ?? position;
    if (at >= count || vectors[at] !== undefined) throw wrongShape(`data.${position}.index`);
    vectors[at] = toVector(embedding, `data.${position}.embedding`);
  });
  const whole = vectors.map((vector, at) => {
    if (vector === undefined) throw wrongShape(`${data.length} embeddings for ${count} texts, none for text ${at + 1}`);
    if (vector.length !== vectors[0]?.length) throw wrongShape('embeddings of different lengths');
    return vector;
  });
  return { vectors: whole, inputTokens: usage?.prompt_tokens ?? null };
}

async function readValue(response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw failureBehind(error) === null ? new ServiceFailureError(connectionFailure(error)) : error;
  });
  if (text.trim() === '') throw new ServiceFailureError({ kind: 'empty' });
  if (isHtml(text)) throw new ServiceFailureError({ kind: 'html' });
  const value = parseJson(text);
  if (value === undefined) throw new ServiceFailureError({ kind: 'no-json' });
  if (typeof value === 'object' && value !== null && 'error' in value && value.error !== null) {
    throw new ServiceFailureError({ kind: 'error-body', body: value });
  }
  return value;
}

function toVector(embedding: readonly number[] | string, where: string): Float32Array {
  const vector = typeof embedding === 'string' ? readFloats(embedding, where) : Float32Array.from(embedding);
  if (vector.length === 0) throw wrongShape(`${where}: it is empty`);
  if (!vector.every(Number.isFinite)) throw wrongShape(`${where}: a value in it is not a number`);
  // A zero vector has no direction, so nothing can be compared with it.
  if (vector.every((number) => number === 0)) throw wrongShape(`${where}: all of its values are zero`);
  return vector;
}

const FLOAT_BYTES = 4;

function readFloats(base64: string, where: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length % FLOAT_BYTES !== 0) throw wrongShape(`${where}: its last float is incomplete`);
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, at) => bytes.readFloatLE(at * FLOAT_BYTES));
}

function wrongShape(what: string): ServiceFailureError {
  return new ServiceFailureError({ kind: 'shape', what });
}
