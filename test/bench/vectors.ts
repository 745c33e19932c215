import type { Archive } from '../../src/ports/archive.ts';
import type { MissingVector, VectorCursor, VectorDraft } from '../../src/ports/archive-lookup.ts';

/** As many numbers as common models give. */
const DIMENSIONS = 768;
const MODEL = { provider: 'bench', model: 'made up', dimensions: DIMENSIONS } as const;

/** Vectors that point anywhere, the same in every run. */
export function createVectors(seed: number): () => Float32Array {
  let state = seed;
  return () =>
    Float32Array.from({ length: DIMENSIONS }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 31 - 1;
    });
}

/** Gives a vector to everything in the archive. */
export async function fillVectors({ vectors }: Archive): Promise<void> {
  const next = createVectors(3);
  const draft = (one: MissingVector): VectorDraft =>
    one.kind === 'message'
      ? { kind: 'message', id: one.lineId, vector: next() }
      : { kind: 'batch', id: one.batchId, vector: next() };
  let after: VectorCursor = { lineId: 0, batchId: 0 };
  for (;;) {
    const missing = await vectors.listMissing({ sourceSha256: null, isRemade: false }, { after, limit: 1000 });
    if (missing.length === 0) return;
    await vectors.keep(MODEL, missing.map(draft), { mayReplace: false });
    for (const one of missing)
      after = one.kind === 'message' ? { ...after, lineId: one.lineId } : { ...after, batchId: one.batchId };
  }
}
