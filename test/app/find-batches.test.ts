import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBatches } from '../../src/app/search/find-messages.ts';
import type { BatchQuery } from '../../src/ports/archive-lookup.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  tempArchive,
} from '../adapters/archive/drafts.ts';
import { VECTOR_EXTENSION } from '../support/meaning-bench.ts';

const ANY = { conversationId: null, role: null, since: null, until: null, source: null };
const ROPE: BatchQuery = { terms: ['rope'], filter: ANY, order: 'best', limit: 10 };

test('how much alike a batch is to the query is added to its words, and one that only means the same is found', async (t) => {
  const archive = tempArchive(t, VECTOR_EXTENSION);
  const texts = ['a rope', 'the rope of the boat', 'a hawser'];
  const newBatches = texts.map((content) => batchDraft({ content }));
  const live = texts.map((_, position) => ({ kind: 'new' as const, position }));
  await applied(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches, live })] }), [lineDraft(1)]);
  const vectors = [
    [-1, 0],
    [1, 0.1],
    [1, 0.2],
  ];
  await archive.vectors.keep(
    { provider: 'p', model: 'm', dimensions: 2 },
    vectors.map((vector, at) => ({ kind: 'batch', id: at + 1, vector: Float32Array.from(vector) })),
    { mayReplace: false },
  );
  const found = async (vector: Float32Array | null): Promise<readonly string[]> =>
    (await findBatches(archive.port, ROPE, vector)).map(({ content }) => content);
  assert.deepEqual(await found(null), ['a rope', 'the rope of the boat']);
  assert.deepEqual(await found(Float32Array.from([1, 0.1])), ['the rope of the boat', 'a rope', 'a hawser']);
});
