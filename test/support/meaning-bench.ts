import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { findVectorExtension } from '../../src/adapters/archive/sqlite/extension.ts';
import type { EmbeddingService } from '../../src/app/search/embeddings/embed-texts.ts';
import { createRateLimiter } from '../../src/app/summarize/limits.ts';
import type { Embedder } from '../../src/ports/model.ts';
import { toyVector } from './embedding-server.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

const found = await findVectorExtension();
assert.ok(found.ok, JSON.stringify(found));
export const VECTOR_EXTENSION = found.value;

/** A bench whose archive can keep vectors. */
export function meaningBench(context: TestContext): Workbench {
  const bench = createWorkbench({}, undefined, { vectorExtension: VECTOR_EXTENSION });
  context.after(bench.remove);
  return bench;
}

export type FakeService = EmbeddingService & {
  /** What was sent, a list a request. */
  readonly sent: readonly (readonly string[])[];
  readonly notices: readonly string[];
};

/** What the toy answers; the other arguments are those of `toyVector`. */
export async function toyVectors(
  texts: readonly string[],
  ...[dimensions, synonyms]: readonly [dimensions?: number, synonyms?: Readonly<Record<string, string>>]
): Promise<readonly Float32Array[]> {
  return texts.map((text) => Float32Array.from(toyVector(text, dimensions, synonyms)));
}

/** A service without a network: by default each text gets its toy vector. */
export function fakeService(
  changes: Partial<EmbeddingService> = {},
  respond: (texts: readonly string[], index: number) => Promise<readonly Float32Array[]> = (texts) => toyVectors(texts),
): FakeService {
  const sent: (readonly string[])[] = [];
  const notices: string[] = [];
  const embed: Embedder['embed'] = async ({ texts }) => {
    const vectors = await respond(texts, sent.push(texts) - 1);
    return { vectors, inputTokens: null };
  };
  const runtime = { now: () => new Date(0), sleep: () => Promise.resolve() };
  const none = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };
  return {
    embedder: { embed },
    provider: 'ollama',
    model: 'toy',
    dimensions: null,
    limiter: createRateLimiter(runtime, none),
    createRedactor: null,
    notice: (sentence) => notices.push(sentence),
    ...changes,
    sent,
    notices,
  };
}
