import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cosine, vectorBytes } from '../../../src/adapters/archive/vectors/vector-store.ts';
import type { SearchFilter, VectorDraft, VectorModel } from '../../../src/ports/archive-lookup.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
} from '../../adapters/archive/drafts.ts';
import { type Engine, applied, stored } from './engine.ts';

export const MODEL: VectorModel = { provider: 'ollama', model: 'tiny', dimensions: 12 };
export const ANY: SearchFilter = { conversationId: null, role: null, since: null, until: null, source: null };
const ALL = { sourceSha256: null, isRemade: false } as const;
const START = { lineId: 0, batchId: 0 } as const;
const PAGE = { after: START, limit: 100 } as const;

/** A direction of its own for each place, nearer to those of places near it. */
export function direction(place: number): Float32Array {
  return Float32Array.from({ length: 12 }, (_, at) => Math.cos(place / 9 - at) + Math.sin((place * at) / 31));
}

/** Messages in two conversations by turns, each with one batch. */
export async function filled(archive: Archive, count: number): Promise<readonly number[]> {
  const cycles = ['harbor', 'quay'].map((conversationId) =>
    cycleDraft({
      conversationId,
      clipSha256: sha256(conversationId),
      newBatches: [batchDraft({ content: `Of ${conversationId}` })],
    }),
  );
  const lines = Array.from({ length: count }, (_, at) =>
    lineDraft(at + 1, { cycle: at % 2, message: messageDraft({ id: `m${at + 1}`, text: `boat ${at}` }) }),
  );
  await applied(archive, compactionDraft(count, { cycles }), lines);
  return lines.map(({ line }) => line);
}

export async function keepAll(archive: Archive, ids: readonly number[], model = MODEL): Promise<void> {
  const drafts = ids.map((id): VectorDraft => ({ kind: 'message', id, vector: direction(id) }));
  assert.equal(await archive.vectors.keep(model, drafts, { mayReplace: false }), 'kept');
}

async function missingIds(archive: Archive): Promise<readonly string[]> {
  return (await archive.vectors.listMissing(ALL, PAGE)).map((one) =>
    one.kind === 'message' ? `message ${one.lineId}` : `batch ${one.batchId}`,
  );
}

export function vectorContract(engine: Engine): void {
  test('the messages whose vectors point most nearly the same way are the nearest', async (t) => {
    const archive = await engine.open(t);
    await keepAll(archive, await filled(archive, 40));
    const near = await archive.vectors.nearestMessages(direction(17), { filter: ANY, limit: 10 });
    const exact = Array.from({ length: 40 }, (_, at) => at + 1)
      .map((id) => [id, cosine(direction(17), vectorBytes(direction(id)))] as const)
      .toSorted((a, b) => b[1] - a[1]);
    assert.deepEqual(
      near,
      exact.slice(0, 10).map(([id]) => id),
    );
  });

  test('no more can be asked for than there are, and any number may be asked for', async (t) => {
    const archive = await engine.open(t);
    await keepAll(archive, await filled(archive, 40));
    assert.equal((await archive.vectors.nearestMessages(direction(17), { filter: ANY, limit: 5000 })).length, 40);
  });

  test('a filter is heeded before the nearest are chosen, not after', async (t) => {
    const archive = await engine.open(t);
    await keepAll(archive, await filled(archive, 400));
    const filter = { ...ANY, conversationId: 'quay' };
    const near = await archive.vectors.nearestMessages(direction(17), { filter, limit: 20 });
    assert.deepEqual([near.length, near.filter((id) => id % 2 === 1)], [20, []]);
  });

  test('how much alike messages are is told for those that have a vector', async (t) => {
    const archive = await engine.open(t);
    const [first = 0, second = 0, third = 0] = await filled(archive, 3);
    await keepAll(archive, [first]);
    await archive.vectors.keep(MODEL, [{ kind: 'message', id: second, vector: null }], { mayReplace: false });
    const alike = await archive.vectors.similarities(direction(first), [first, second, third]);
    assert.deepEqual([...alike.keys()], [first]);
    assert.ok((alike.get(first) ?? 0) > 0.999);
  });

  test('live batches are ranked by their vectors, and have no role', async (t) => {
    const archive = await engine.open(t);
    await filled(archive, 2);
    const drafts = [1, 2].map((id): VectorDraft => ({ kind: 'batch', id, vector: direction(id * 10) }));
    await archive.vectors.keep(MODEL, drafts, { mayReplace: false });
    const near = await archive.vectors.nearestBatches(direction(20), { filter: ANY, limit: 5 });
    assert.deepEqual(
      near.map(({ content }) => content),
      ['Of quay', 'Of harbor'],
    );
    assert.ok((near[0]?.score ?? 0) > 0.999);
    const filters = [
      { ...ANY, conversationId: 'harbor' },
      { ...ANY, role: 'user' as const },
    ];
    assert.deepEqual(
      await Promise.all(
        filters.map(
          async (filter) => (await archive.vectors.nearestBatches(direction(20), { filter, limit: 5 })).length,
        ),
      ),
      [1, 0],
    );
  });

  test('what has no vector is listed page by page, messages first, and what has no text counts as done', async (t) => {
    const archive = await engine.open(t);
    await filled(archive, 4);
    await keepAll(archive, [2]);
    await archive.vectors.keep(MODEL, [{ kind: 'message', id: 3, vector: null }], { mayReplace: false });
    assert.deepEqual(await missingIds(archive), ['message 1', 'message 4', 'batch 1', 'batch 2']);
    const rest = await archive.vectors.listMissing(ALL, { after: { lineId: 1, batchId: 1 }, limit: 2 });
    assert.deepEqual(
      rest.map((one) => (one.kind === 'message' ? one.lineId : one.content)),
      [4, 'Of quay'],
    );
    assert.deepEqual(
      [await archive.vectors.count(), await archive.vectors.countMissing(ALL)],
      [{ done: 2, total: 6 }, 4],
    );
  });

  test('a batch that was replaced as soon as it was made needs no vector', async (t) => {
    const archive = await engine.open(t);
    const newBatches = [batchDraft(), batchDraft({ depth: 1, sources: [{ kind: 'new', position: 0 }] })];
    const cycle = cycleDraft({ newBatches, live: [{ kind: 'new', position: 1 }] });
    await applied(archive, compactionDraft(1, { cycles: [cycle] }), [lineDraft(1)]);
    assert.deepEqual(await missingIds(archive), ['batch 2']);
  });

  test('of one source only what its compactions archived is listed, and nothing of one that is not applied', async (t) => {
    const archive = await engine.open(t);
    await filled(archive, 2);
    const source = { sha256: sha256('another'), sizeBytes: 100, lineCount: 1, hasBom: false };
    const draft = compactionDraft(1, { source, cycles: [cycleDraft({ clipSha256: sha256('c') })] });
    const id = await stored(archive, draft, [lineDraft(1, { message: messageDraft() })]);
    const scope = { sourceSha256: source.sha256, isRemade: false };
    assert.equal(await archive.vectors.countMissing(scope), 0);
    await archive.markApplied(id);
    assert.equal(await archive.vectors.countMissing(scope), 2);
    assert.deepEqual(
      (await archive.vectors.listMissing(scope, PAGE)).map((one) => one.kind),
      ['message', 'batch'],
    );
  });

  test('vectors of another model are kept only in the place of all that are there', async (t) => {
    const archive = await engine.open(t);
    await filled(archive, 3);
    await keepAll(archive, [1, 2]);
    const other: VectorModel = { provider: 'ollama', model: 'small', dimensions: 20 };
    const draft: VectorDraft = { kind: 'message', id: 3, vector: new Float32Array(20).fill(1) };
    assert.equal(await archive.vectors.keep(other, [draft], { mayReplace: false }), 'other-model');
    assert.deepEqual([await archive.vectors.findModel(), (await archive.vectors.count()).done], [MODEL, 2]);
    assert.equal(await archive.vectors.keep(other, [draft], { mayReplace: true }), 'replaced');
    assert.deepEqual([await archive.vectors.findModel(), (await archive.vectors.count()).done], [other, 1]);
    const near = await archive.vectors.nearestMessages(new Float32Array(20).fill(1), { filter: ANY, limit: 5 });
    assert.deepEqual(near, [3]);
  });
}
