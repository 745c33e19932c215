import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { checkRoom } from '../../../src/adapters/archive/sqlite/later.ts';
import { SQLITE } from '../../../src/adapters/archive/sqlite/dialect.ts';
import { createQuery } from '../../../src/adapters/archive/sqlite/sql.ts';
import { applied, compactionDraft, lineDraft, tempArchive, thrownFailure } from './drafts.ts';

test('rewriting an archive needs its size on the disk of temporary files and on its own, and twice if they are one', async (t) => {
  const archive = tempArchive(t);
  await applied(archive, compactionDraft(1), [lineDraft(1)]);
  const db = new Database(archive.path);
  t.after(() => db.close());
  const bytes = db.prepare<[], number>(SQLITE.usedBytes).pluck().get() ?? 0;
  assert.ok(bytes > 0);
  const check = async (freeBytes: readonly [number, number], devices: readonly [number, number]): Promise<unknown> => {
    const folders: string[] = [];
    const findDisk = (folder: string) => {
      const at = folders.push(folder) === 1 ? 0 : 1;
      return { folder: at === 0 ? 'temp' : 'own', device: devices[at], freeBytes: freeBytes[at] };
    };
    try {
      await checkRoom(createQuery(db), archive.path, findDisk);
      return null;
    } catch (error) {
      const failure = thrownFailure(() => {
        throw error;
      });
      return failure.kind === 'no-space' ? failure.needs : failure;
    }
  };
  assert.equal(await check([bytes, bytes], [1, 2]), null);
  assert.equal(await check([2 * bytes, 2 * bytes], [1, 1]), null);
  assert.deepEqual(await check([bytes - 1, 9 * bytes], [1, 2]), {
    folder: 'temp',
    neededBytes: bytes,
    freeBytes: bytes - 1,
  });
  assert.deepEqual(await check([9 * bytes, 7], [1, 2]), { folder: 'own', neededBytes: bytes, freeBytes: 7 });
  const free = 2 * bytes - 1;
  assert.deepEqual(await check([free, free], [1, 1]), { folder: 'temp', neededBytes: 2 * bytes, freeBytes: free });
});
