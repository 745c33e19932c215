import { z } from 'zod';
import type { Embedder, Embedding } from '../../ports/model.ts';
import { createGuardedFetch, readValue, validate } from './answer.ts';
import { namesUnsupported, ServiceFailureError } from './service-failure.ts';
import {
  askAdapting,
  callService,
  OPENAI_VENDORS,
  openService,
  type Service,
  serviceError,
  type ServiceOptions,
} from './service.ts';

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
  const opened = openService(options, OPENAI_VENDORS[options.flavor]);
  if (!opened.ok) return { embed: () => Promise.reject(opened.error) };
  const service = opened.value;
  const { model, dimensions } = options;
  const state: { form: Form } = { form: { namesDimensions: dimensions !== null } };
  return {
    embed: ({ texts, timeoutMs }, signal) =>
      callService(service, { timeoutMs, signal, lateAdvice: 'is the server busy with something else?' }, (own) => {
        const ask = async ({ namesDimensions }: Form): Promise<Embedding> => {
          const body = JSON.stringify({ model, input: texts, ...(namesDimensions ? { dimensions } : {}) });
          const sent = { method: 'POST', body, signal: own };
          const response = await createGuardedFetch(service)(`${service.url}/embeddings`, sent);
          return checkLength(service, await readEmbeddings(response, texts.length), dimensions);
        };
        // Models with one fixed length refuse the parameter; the length of their vectors is checked anyway.
        return askAdapting(state, ask, (used, failure) =>
          used.namesDimensions && namesUnsupported(failure, ['dimensions']) ? { namesDimensions: false } : null,
        );
      }),
  };
}

function checkLength(service: Service, answer: Embedding, dimensions: number | null): Embedding {
  const given = answer.vectors[0]?.length ?? 0;
  const refuse = (limit: string, advice: string) =>
    serviceError(service, `sent vectors of ${given} numbers${limit}`, { code: 'api_error', retryable: false, advice });
  if (given > MAX_DIMENSIONS)
    throw refuse(`, and no more than ${MAX_DIMENSIONS} can be kept`, 'use another model, or set dimensions');
  if (dimensions !== null && given !== dimensions)
    throw refuse(` where dimensions says ${dimensions}`, `set dimensions = ${given}, or remove it`);
  return answer;
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
