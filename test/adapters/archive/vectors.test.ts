import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { findVectorExtension } from '../../../src/adapters/archive/sqlite/extension.ts';
import { cosine, signBits, vectorBytes } from '../../../src/adapters/archive/vectors/vector-store.ts';
import type { ErasurePlan } from '../../../src/ports/retention.ts';
import type { VectorDraft } from '../../../src/ports/archive-lookup.ts';
import { becomeOrdinaryUser } from '../../support/ordinary-user.ts';
import { collect } from '../../support/collect.ts';
import { indexAll } from '../../support/indexing.ts';
import { ANY, direction, filled, keepAll, MODEL } from '../../contract/archive/comparing.ts';
import {
  applied,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  openAt,
  rejectedFailure,
  sha256,
  tempArchive,
  tempFolder,
  type TestArchive,
} from './drafts.ts';
const found = await findVectorExtension();
assert.ok(found.ok, JSON.stringify(found));
const extension = found.value;

becomeOrdinaryUser();

test('vectors of the longest kind are kept and compared', async (t) => {
  const archive = tempArchive(t, extension);
  const ids = await filled(archive.port, 3);
  const vector = (id: number): Float32Array => Float32Array.from({ length: 8192 }, (_, at) => Math.sin(at * id));
  const drafts = ids.map((id): VectorDraft => ({ kind: 'message', id, vector: vector(id) }));
  await archive.vectors.keep({ ...MODEL, dimensions: 8192 }, drafts, { mayReplace: false });
  assert.deepEqual(await archive.vectors.nearestMessages(vector(2), { filter: ANY, limit: 1 }), [2]);
});

test('more may be asked for than the extension finds at a time', async (t) => {
  const archive = tempArchive(t, extension);
  await keepAll(archive.port, await filled(archive.port, 3));
  const near = await archive.vectors.nearestMessages(direction(1), { filter: ANY, limit: 5000 });
  assert.deepEqual([...near], [1, 2, 3]);
});

test('vectors longer than the extension indexes are kept whole and found', async (t) => {
  const archive = tempArchive(t, extension);
  const [first = 0, second = 0] = await filled(archive.port, 2);
  const long = (place: number): Float32Array =>
    Float32Array.from({ length: 9001 }, (_, at) => (at < 9000 ? Math.sin(at) : place));
  const drafts = [
    { kind: 'message', id: first, vector: long(-90) },
    { kind: 'message', id: second, vector: long(90) },
    { kind: 'batch', id: 1, vector: long(90) },
  ] satisfies readonly VectorDraft[];
  await archive.vectors.keep({ ...MODEL, dimensions: 9001 }, drafts, { mayReplace: false });
  assert.deepEqual(await archive.vectors.nearestMessages(long(90), { filter: ANY, limit: 2 }), [second, first]);
  // Only the last number, which the index does not have, is opposite.
  const likeness = async (place: number): Promise<number> =>
    (await archive.vectors.nearestBatches(long(place), { filter: ANY, limit: 1 }))[0]?.score ?? 0;
  assert.ok((await likeness(90)) > 0.98 && (await likeness(-90)) < 0);
});

test('what another run has kept meanwhile stays', async (t) => {
  const folder = tempFolder(t);
  const [one, another] = [0, 1].map(() => openAt(join(folder, 'archive.db'), extension));
  assert.ok(one !== undefined && another !== undefined);
  await filled(one.port, 3);
  await keepAll(one.port, [1, 2]);
  await keepAll(another.port, [2, 3]);
  assert.equal((await one.vectors.nearestMessages(direction(2), { filter: ANY, limit: 9 })).length, 3);
  one.close();
  another.close();
});

test('an archive with vectors is read, searched, checked and added to where the extension is not there', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const before = openAt(path, extension);
  const ids = await filled(before.port, 5);
  const damage = async (archive: TestArchive): Promise<unknown> =>
    (await collect(archive.port.check())).filter(({ kind }) => kind === 'damage');
  const without = await damage(before); // a draft's hashes are made up
  await keepAll(before.port, ids);
  before.close();
  const archive = openAt(path);
  await indexAll(archive);
  assert.equal((await archive.messages.listHits([{ forms: ['boat'], isBeginning: false }], ANY))[0]?.length, 5);
  assert.deepEqual(await damage(archive), without);
  const more = compactionDraft(1, { source: { sha256: sha256('2'), sizeBytes: 9, lineCount: 1, hasBom: false } });
  const drafted = { ...more, cycles: [cycleDraft({ clipSha256: sha256('c'), conversationId: 'pier' })] };
  await applied(archive, drafted, [lineDraft(1, { message: messageDraft() })]);
  assert.deepEqual([await archive.vectors.findModel(), await archive.vectors.count()], [MODEL, { done: 5, total: 9 }]);
  archive.close();
});

const ERASE_THIRD: ErasurePlan = {
  kind: 'erase',
  at: new Date('2026-05-01T00:00:00Z'),
  reason: null,
  despiteHold: false,
  paid: 'none',
  aside: { notes: 0, choices: 0 },
  kept: { count: 1, lastId: 1, lastFileId: 0 },
  holdIds: [],
  compactionIds: [],
  lineIds: [3],
  takesCopies: false,
  cycleIds: [],
  capturedFileIds: [],
  capturedLineIds: [],
};

test('vectors of erased lines and of their summaries leave the file and the index', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const archive = openAt(path, extension);
  await keepAll(archive.port, await filled(archive.port, 5));
  const drafts = [1, 2].map((id): VectorDraft => ({ kind: 'batch', id, vector: direction(id + 100) }));
  await archive.vectors.keep(MODEL, drafts, { mayReplace: false });
  const has = (place: number): boolean => {
    const vector = Buffer.from(vectorBytes(direction(place)));
    return [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(vector));
  };
  assert.deepEqual([3, 4, 101, 102].map(has), [true, true, true, true]);
  const { vectors } = await archive.port.retention.erase(ERASE_THIRD);
  assert.equal(await archive.port.retention.purge(), true);
  assert.deepEqual([vectors, ...[3, 4, 101, 102].map(has)], [2, false, true, false, true]);
  assert.deepEqual(
    (await archive.vectors.nearestMessages(direction(3), { filter: ANY, limit: 9 })).toSorted((a, b) => a - b),
    [1, 2, 4, 5],
  );
  archive.close();
});

test('an archive with vectors refuses to erase where the extension is missing', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const before = openAt(path, extension);
  await keepAll(before.port, await filled(before.port, 5));
  before.close();
  const archive = openAt(path);
  const failure = await rejectedFailure(() => archive.port.retention.erase(ERASE_THIRD));
  assert.ok(failure.kind === 'cannot-open' && failure.reason.includes('sqlite-vec'), JSON.stringify(failure));
  assert.equal((await archive.vectors.count()).done, 5);
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
  test(`a check tells that ${what}`, async (t) => {
    const path = join(tempFolder(t), 'archive.db');
    const archive = openAt(path, extension);
    await keepAll(archive.port, await filled(archive.port, 5));
    const messages = async (): Promise<readonly string[]> =>
      (await collect(archive.port.check())).flatMap((step) => (step.kind === 'damage' ? [step.damage.message] : []));
    const before = await messages();
    const db = new Database(path);
    db.exec(sql);
    db.close();
    assert.deepEqual(await messages(), [...before, told]);
    archive.close();
  });
}

test('the nearest are found in an archive that may not be written', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const before = openAt(path, extension);
  await keepAll(before.port, await filled(before.port, 5));
  before.close();
  chmodSync(path, 0o400);
  const opened = openSqliteArchive({ path, create: false, vectorExtension: extension });
  assert.ok(opened.ok);
  const archive = opened.value;
  assert.ok(archive.isReadOnly);
  assert.deepEqual(await archive.vectors.nearestMessages(direction(4), { filter: ANY, limit: 1 }), [4]);
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
