import { z } from 'zod';
import type { Embedding } from '../../ports/embedder.ts';
import { checked } from './checked.ts';
import { isHtml, parseJson } from './error-body.ts';
import { connectionFault, faultBehind, ServiceFault } from './fault.ts';

const answerSchema = z.looseObject({
  // Numbers, or base64 of floats of 32 bits, the lowest byte first.
  data: z.array(
    z.looseObject({ index: z.int().min(0).optional(), embedding: z.union([z.array(z.number()), z.string()]) }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(undefined),
});

/** Reads the answer to a request for so many embeddings: each stands for the text that its index names, in whatever order they came. */
export async function readEmbeddings(response: Response, count: number): Promise<Embedding> {
  const { data, usage } = checked(answerSchema, await readValue(response), 'answer');
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
    throw faultBehind(error) === null ? new ServiceFault(connectionFault(error)) : error;
  });
  if (text.trim() === '') throw new ServiceFault({ kind: 'empty' });
  if (isHtml(text)) throw new ServiceFault({ kind: 'html' });
  const value = parseJson(text);
  if (value === undefined) throw new ServiceFault({ kind: 'no-json' });
  if (typeof value === 'object' && value !== null && 'error' in value && value.error !== null) {
    throw new ServiceFault({ kind: 'error-body', body: value });
  }
  return value;
}

function toVector(embedding: readonly number[] | string, where: string): Float32Array {
  const vector = typeof embedding === 'string' ? readFloats(embedding, where) : Float32Array.from(embedding);
  if (vector.length === 0) throw wrongShape(`${where}: it is empty`);
  if (!vector.every(Number.isFinite)) throw wrongShape(`${where}: a number in it is none`);
  // It points nowhere, so that nothing can be compared with it.
  if (vector.every((number) => number === 0)) throw wrongShape(`${where}: nothing but zeros`);
  return vector;
}

const FLOAT_BYTES = 4;

function readFloats(base64: string, where: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length % FLOAT_BYTES !== 0) throw wrongShape(`${where}: no whole number of floats`);
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, at) => bytes.readFloatLE(at * FLOAT_BYTES));
}

function wrongShape(what: string): ServiceFault {
  return new ServiceFault({ kind: 'shape', what });
}
