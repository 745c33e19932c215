import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { openSyncArchive } from '../../../src/adapters/archive/sqlite.ts';
import { findVectorExtension } from '../../../src/adapters/archive/vectors/extension.ts';
import { cosine, signBits, vectorBytes } from '../../../src/adapters/archive/vectors/nearest.ts';
import type { SearchFilter } from '../../../src/ports/archive-lookup.ts';
import type { VectorDraft, VectorModel } from '../../../src/ports/vector-store.ts';
import { becomeOrdinaryUser } from '../../support/ordinary-user.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  openAt,
  sha256,
  tempArchive,
  tempFolder,
  type TestArchive,
} from './drafts.ts';

const found = await findVectorExtension();
assert.ok(found.ok, JSON.stringify(found));
const extension = found.value;

becomeOrdinaryUser();

const MODEL: VectorModel = { provider: 'ollama', model: 'tiny', dimensions: 12 };
const ANY: SearchFilter = { conversationId: null, role: null, since: null, until: null, source: null };
const ALL = { sourceSha256: null, isRemade: false } as const;
const START = { lineId: 0, batchId: 0 } as const;
const PAGE = { after: START, limit: 100 } as const;

/** A direction of its own for each place, nearer to those of places near it. */
function direction(place: number): Float32Array {
  return Float32Array.from({ length: 12 }, (_, at) => Math.cos(place / 9 - at) + Math.sin((place * at) / 31));
}

/** Messages in two conversations by turns, each with one batch. */
function filled(archive: TestArchive, count: number): readonly number[] {
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
  applied(archive, compactionDraft(count, { cycles }), lines);
  return lines.map(({ line }) => line);
}

function keepAll(archive: TestArchive, ids: readonly number[], model = MODEL): void {
  const drafts = ids.map((id): VectorDraft => ({ kind: 'message', id, vector: direction(id) }));
  assert.equal(archive.vectors.keep(model, drafts, { mayReplace: false }), 'kept');
}

function missingIds(archive: TestArchive): readonly string[] {
  return archive.vectors
    .listMissing(ALL, PAGE)
    .map((one) => (one.kind === 'message' ? `message ${one.lineId}` : `batch ${one.batchId}`));
}

test('the messages whose vectors point most nearly the same way are the nearest', (t) => {
  const archive = tempArchive(t, extension);
  keepAll(archive, filled(archive, 40));
  const near = archive.vectors.nearestMessages(direction(17), { filter: ANY, limit: 10 });
  const exact = Array.from({ length: 40 }, (_, at) => at + 1)
    .map((id) => [id, cosine(direction(17), vectorBytes(direction(id)))] as const)
    .toSorted((a, b) => b[1] - a[1]);
  assert.deepEqual(
    near,
    exact.slice(0, 10).map(([id]) => id),
  );
});

test('no more can be asked for than there are, and any number may be asked for', (t) => {
  const archive = tempArchive(t, extension);
  keepAll(archive, filled(archive, 40));
  assert.equal(archive.vectors.nearestMessages(direction(17), { filter: ANY, limit: 5000 }).length, 40);
});

test('vectors of the longest kind are kept and compared', (t) => {
  const archive = tempArchive(t, extension);
  const ids = filled(archive, 3);
  const vector = (id: number): Float32Array => Float32Array.from({ length: 8192 }, (_, at) => Math.sin(at * id));
  const drafts = ids.map((id): VectorDraft => ({ kind: 'message', id, vector: vector(id) }));
  archive.vectors.keep({ ...MODEL, dimensions: 8192 }, drafts, { mayReplace: false });
  assert.deepEqual(archive.vectors.nearestMessages(vector(2), { filter: ANY, limit: 1 }), [2]);
});

test('a filter is heeded before the nearest are chosen, not after', (t) => {
  const archive = tempArchive(t, extension);
  keepAll(archive, filled(archive, 400));
  const filter = { ...ANY, conversationId: 'quay' };
  const near = archive.vectors.nearestMessages(direction(17), { filter, limit: 20 });
  assert.deepEqual([near.length, near.filter((id) => id % 2 === 1)], [20, []]);
});

test('more may be asked for than the extension finds at a time', (t) => {
  const archive = tempArchive(t, extension);
  keepAll(archive, filled(archive, 3));
  const near = archive.vectors.nearestMessages(direction(1), { filter: ANY, limit: 5000 });
  assert.deepEqual([...near], [1, 2, 3]);
});

test('vectors longer than the extension indexes are kept whole and found', (t) => {
  const archive = tempArchive(t, extension);
  const [first = 0, second = 0] = filled(archive, 2);
  const long = (place: number): Float32Array =>
    Float32Array.from({ length: 9001 }, (_, at) => (at < 9000 ? Math.sin(at) : place));
  const drafts = [
    { kind: 'message', id: first, vector: long(-90) },
    { kind: 'message', id: second, vector: long(90) },
    { kind: 'batch', id: 1, vector: long(90) },
  ] satisfies readonly VectorDraft[];
  archive.vectors.keep({ ...MODEL, dimensions: 9001 }, drafts, { mayReplace: false });
  assert.deepEqual(archive.vectors.nearestMessages(long(90), { filter: ANY, limit: 2 }), [second, first]);
  assert.ok((archive.vectors.nearestBatches(long(90), { filter: ANY, limit: 1 })[0]?.score ?? 0) > 0.99);
});

test('how much alike messages are is told for those that have a vector', (t) => {
  const archive = tempArchive(t, extension);
  const [first = 0, second = 0, third = 0] = filled(archive, 3);
  keepAll(archive, [first]);
  archive.vectors.keep(MODEL, [{ kind: 'message', id: second, vector: null }], { mayReplace: false });
  const alike = archive.vectors.similarities(direction(first), [first, second, third]);
  assert.deepEqual([...alike.keys()], [first]);
  assert.ok((alike.get(first) ?? 0) > 0.999);
});

test('live batches are ranked by their vectors, and have no role', (t) => {
  const archive = tempArchive(t, extension);
  filled(archive, 2);
  const drafts = [1, 2].map((id): VectorDraft => ({ kind: 'batch', id, vector: direction(id * 10) }));
  archive.vectors.keep(MODEL, drafts, { mayReplace: false });
  const near = archive.vectors.nearestBatches(direction(20), { filter: ANY, limit: 5 });
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
    filters.map((filter) => archive.vectors.nearestBatches(direction(20), { filter, limit: 5 }).length),
    [1, 0],
  );
});

test('what has no vector is listed page by page, messages first, and what has no text counts as done', (t) => {
  const archive = tempArchive(t, extension);
  filled(archive, 4);
  keepAll(archive, [2]);
  archive.vectors.keep(MODEL, [{ kind: 'message', id: 3, vector: null }], { mayReplace: false });
  assert.deepEqual(missingIds(archive), ['message 1', 'message 4', 'batch 1', 'batch 2']);
  const rest = archive.vectors.listMissing(ALL, { after: { lineId: 1, batchId: 1 }, limit: 2 });
  assert.deepEqual(
    rest.map((one) => (one.kind === 'message' ? one.lineId : one.content)),
    [4, 'Of quay'],
  );
  assert.deepEqual([archive.vectors.count(), archive.vectors.countMissing(ALL)], [{ done: 2, total: 6 }, 4]);
});

test('a batch that was replaced as soon as it was made needs no vector', (t) => {
  const archive = tempArchive(t, extension);
  const newBatches = [batchDraft(), batchDraft({ depth: 1, sources: [{ kind: 'new', position: 0 }] })];
  const cycle = cycleDraft({ newBatches, live: [{ kind: 'new', position: 1 }] });
  applied(archive, compactionDraft(1, { cycles: [cycle] }), [lineDraft(1)]);
  assert.deepEqual(missingIds(archive), ['batch 2']);
});

test('of one source only what its compactions archived is listed, and nothing of one that is not applied', (t) => {
  const archive = tempArchive(t, extension);
  filled(archive, 2);
  const source = { sha256: sha256('another'), sizeBytes: 100, lineCount: 1, hasBom: false };
  const draft = compactionDraft(1, { source, cycles: [cycleDraft({ clipSha256: sha256('c') })] });
  const id = archive.store(draft, [lineDraft(1, { message: messageDraft() })]);
  const scope = { sourceSha256: source.sha256, isRemade: false };
  assert.equal(archive.vectors.countMissing(scope), 0);
  archive.markApplied(id);
  assert.equal(archive.vectors.countMissing(scope), 2);
  assert.deepEqual(
    archive.vectors.listMissing(scope, PAGE).map((one) => one.kind),
    ['message', 'batch'],
  );
});

test('vectors of another model are kept only in the place of all that are there', (t) => {
  const archive = tempArchive(t, extension);
  filled(archive, 3);
  keepAll(archive, [1, 2]);
  const other: VectorModel = { provider: 'ollama', model: 'small', dimensions: 20 };
  const draft: VectorDraft = { kind: 'message', id: 3, vector: new Float32Array(20).fill(1) };
  assert.equal(archive.vectors.keep(other, [draft], { mayReplace: false }), 'other-model');
  assert.deepEqual([archive.vectors.findModel(), archive.vectors.count().done], [MODEL, 2]);
  assert.equal(archive.vectors.keep(other, [draft], { mayReplace: true }), 'replaced');
  assert.deepEqual([archive.vectors.findModel(), archive.vectors.count().done], [other, 1]);
  const near = archive.vectors.nearestMessages(new Float32Array(20).fill(1), { filter: ANY, limit: 5 });
  assert.deepEqual(near, [3]);
});

test('what another run has kept meanwhile stays', (t) => {
  const folder = tempFolder(t);
  const [one, another] = [0, 1].map(() => openAt(join(folder, 'archive.db'), extension));
  assert.ok(one !== undefined && another !== undefined);
  filled(one, 3);
  keepAll(one, [1, 2]);
  keepAll(another, [2, 3]);
  assert.deepEqual(one.vectors.nearestMessages(direction(2), { filter: ANY, limit: 9 }).length, 3);
  one.close();
  another.close();
});

test('an archive with vectors is read, searched, checked and added to where the extension is not there', (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const before = openAt(path, extension);
  const ids = filled(before, 5);
  const damage = (archive: TestArchive): unknown => [...archive.check()].filter(({ kind }) => kind === 'damage');
  const without = damage(before); // a draft's hashes are made up
  keepAll(before, ids);
  before.close();
  const archive = openAt(path);
  assert.equal(archive.messages.listHits({ forms: ['boat'], isBeginning: false }, ANY).length, 5);
  assert.deepEqual(damage(archive), without);
  const more = compactionDraft(1, { source: { sha256: sha256('2'), sizeBytes: 9, lineCount: 1, hasBom: false } });
  const drafted = { ...more, cycles: [cycleDraft({ clipSha256: sha256('c'), conversationId: 'pier' })] };
  applied(archive, drafted, [lineDraft(1, { message: messageDraft() })]);
  assert.deepEqual([archive.vectors.findModel(), archive.vectors.count()], [MODEL, { done: 5, total: 9 }]);
  archive.close();
});

for (const [what, sql, told] of [
  [
    'a vector is too short',
    "UPDATE message_vectors SET vector = x'01' WHERE line_id = 2",
    'the vectors: of another length than their model gives: 1',
  ],
  [
    'a vector would not be found',
    'DELETE FROM message_vector_search_rowids WHERE rowid = 2',
    'the search index of vectors: not in it, and so never found: 1',
  ],
  [
    'a row of the index leads to nothing',
    'DELETE FROM message_vectors WHERE line_id = 3',
    'the search index of vectors: rows that lead to nothing: 1',
  ],
] as const) {
  test(`a check tells that ${what}`, (t) => {
    const path = join(tempFolder(t), 'archive.db');
    const archive = openAt(path, extension);
    keepAll(archive, filled(archive, 5));
    const messages = (): readonly string[] =>
      [...archive.check()].flatMap((step) => (step.kind === 'damage' ? [step.damage.message] : []));
    const before = messages();
    const db = new Database(path);
    db.exec(sql);
    db.close();
    assert.deepEqual(messages(), [...before, told]);
    archive.close();
  });
}

test('the nearest are found in an archive that may not be written', (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const before = openAt(path, extension);
  keepAll(before, filled(before, 5));
  before.close();
  chmodSync(path, 0o400);
  const opened = openSyncArchive({ path, create: false, vectorExtension: extension });
  assert.ok(opened.ok);
  const archive = opened.value;
  assert.ok(archive.isReadOnly);
  assert.deepEqual(archive.vectors.nearestMessages(direction(4), { filter: ANY, limit: 1 }), [4]);
  archive.close();
});

test('a vector as it is stored points nearly the same way, whatever its length', () => {
  const numbers = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 70 });
  fc.assert(
    fc.property(numbers, fc.constantFrom(1e-6, 1, 1e6), (list, scale) => {
      const vector = Float32Array.from(list, (number) => number * scale);
      fc.pre(vector.some((number) => Math.abs(number) > 1e-9 * scale));
      const stored = vectorBytes(vector);
      assert.equal(stored.length, vector.length);
      assert.ok(cosine(vector, stored) > 0.99);
    }),
  );
});

test('a bit tells of each number whether it is above 0, and bits that stand for nothing are 0', () => {
  assert.deepEqual(signBits(Float32Array.from([1, -1, 0, 2, -3, 4, 5, 6, 7])), Uint8Array.from([0b1110_1001, 1]));
});
