import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { ArchiveError } from '../../../src/ports/archive.ts';
import { problemsOf } from '../../contract/archive/engine.ts';
import { compactionDraft, lineDraft, openAt, tempFolder, type TestArchive } from './drafts.ts';

/** An archive that is copied in several steps. */
async function sceneFor(t: TestContext): Promise<{ readonly folder: string; readonly archive: TestArchive }> {
  const folder = tempFolder(t);
  const archive = openAt(join(folder, 'archive.db'));
  t.after(() => archive.close());
  await archive.markApplied(await archive.store(compactionDraft(1), [lineDraft(1, { bytes: randomBytes(6_000_000) })]));
  return { folder, archive };
}

test('a backup has the archive as it was at the beginning, however often others write to it meanwhile', async (t) => {
  const { folder, archive } = await sceneFor(t);
  const other = new Database(archive.path);
  const copy = join(folder, 'copy.db');
  const steps: number[] = [];
  await archive.backup(copy, (done) => {
    steps.push(done);
    other.prepare('INSERT INTO speakers (name) VALUES (?)').run(`Kim ${done}`);
  });
  other.close();
  assert.ok(steps.length > 1 && new Set(steps).size === steps.length, steps.join());
  assert.deepEqual(readdirSync(folder).toSorted(), ['archive.db', 'archive.db-shm', 'archive.db-wal', 'copy.db']);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  const found = openAt(copy);
  t.after(() => found.close());
  assert.deepEqual(await problemsOf(found.port), await problemsOf(archive.port)); // those of the draft
  assert.deepEqual(await found.listCompactions(), await archive.listCompactions());
  assert.deepEqual(
    [await found.messages.listSpeakers(), (await archive.messages.listSpeakers()).length > 0],
    [[], true],
  );
});

test('what a killed backup left in the folder goes with the next one', async (t) => {
  const { folder, archive } = await sceneFor(t);
  const dead = spawnSync(process.execPath, ['-e', '0']).pid;
  const ending = '0f0e0d0c-0000-4000-8000-000000000000.new';
  const left = [`monday.db.${dead}-${ending}`, `monday.db.${dead}-${ending}-journal`];
  const kept = [`monday.db.${process.pid}-${ending}`, `${dead}-${ending}`];
  for (const name of [...left, ...kept]) {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), 0, 0);
  }
  await archive.backup(join(folder, 'tuesday.db'), () => {
    const unfinished = readdirSync(folder).filter((name) => name.startsWith('tuesday.db.'));
    assert.match(unfinished.join(), new RegExp(`^tuesday\\.db\\.${process.pid}-[\\w-]+\\.new`));
  });
  const found = readdirSync(folder).filter((name) => !name.startsWith('archive.db'));
  assert.deepEqual(found.toSorted(), [...kept, 'tuesday.db'].toSorted());
});

test('a backup that is stopped or has no place leaves nothing, and none takes the name of another file', async (t) => {
  const { folder, archive } = await sceneFor(t);
  const stop = (): never => {
    throw new Error('stopped');
  };
  await assert.rejects(archive.backup(join(folder, 'copy.db'), stop), /stopped/);
  const refused = async (name: string): Promise<string> =>
    archive
      .backup(join(folder, name), () => undefined)
      .then(
        () => 'made',
        ({ failure }: ArchiveError) => failure.kind,
      );
  assert.deepEqual([await refused('archive.db'), await refused('gone/copy.db')], ['unsupported', 'unsupported']);
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('archive.db')),
    [],
  );
  const full = (): never => {
    throw new Database.SqliteError('disk is full', 'SQLITE_FULL');
  };
  await assert.rejects(archive.backup(join(folder, 'copy.db'), full), ({ failure }: ArchiveError) => {
    assert.deepEqual([failure.path, failure.kind], [join(folder, 'copy.db'), 'unsupported']);
    return true;
  });
  assert.equal(await refused('copy.db'), 'made');
});
