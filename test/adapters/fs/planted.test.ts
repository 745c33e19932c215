import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { suite, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();
const KEY = createHash('sha256').update('a.jsonl').digest('hex').slice(0, 12);
const LOCK = `.compact-${KEY}.lock`;
const SECRET = 'a private key\n';

/** A transcript in a folder of its own, and beside that folder a file that is nobody else's business. */
function sceneOf(t: TestContext): { readonly folder: string; readonly path: string; readonly secret: string } {
  const folder = folderWith(t, { 'logs/a.jsonl': 's\n', 'private/key': SECRET });
  return { folder: join(folder, 'logs'), path: join(folder, 'logs/a.jsonl'), secret: join(folder, 'private/key') };
}

async function refusal(path: string): Promise<unknown> {
  const locked = await store.lock(path);
  if (!locked.ok) return locked.error;
  locked.value.release();
  return 'taken';
}

suite('a planted second name of a file that was replaced', () => {
  const oldName = (inode: bigint): string => `.compact-${KEY}-moved-0-1-${inode}-1-2-1-0123456789abcdef=a.jsonl.old`;
  for (const { what, plant, is } of [
    {
      what: 'a symbolic link',
      plant: (secret: string, name: string): void => symlinkSync(secret, name),
      is: 'it is a symbolic link',
    },
    {
      what: 'a hard link',
      plant: (secret: string, name: string): void => linkSync(secret, name),
      is: 'it is a hard link to a file that has other names',
    },
    {
      what: 'a folder',
      plant: (_: string, name: string): void => mkdirSync(name),
      is: 'it is not a regular file',
    },
    {
      what: 'a copy, which has an inode of its own',
      plant: (secret: string, name: string): void => writeFileSync(name, readFileSync(secret)),
      is: 'it is not the file that was replaced',
    },
  ]) {
    test(`${what} is refused and named, and nothing of it comes into the transcript`, async (t) => {
      const { folder, path, secret } = sceneOf(t);
      const name = join(folder, oldName(statSync(secret, { bigint: true }).ino));
      plant(secret, name);
      writeFileSync(join(folder, LOCK), '');
      const failure = { kind: 'foreign-leftover', path: name, is };
      assert.deepEqual(await refusal(path), failure);
      assert.deepEqual(await store.clearLeftovers(path), { ok: false, error: failure });
      assert.deepEqual(
        [readFileSync(path, 'utf8'), readFileSync(secret, 'utf8'), existsSync(name)],
        ['s\n', SECRET, true],
      );
    });
  }

  test(
    'a file of another user is refused',
    { skip: getuid?.() !== 0 && 'only root may give a file away' },
    async (t) => {
      const { folder, path } = sceneOf(t);
      const name = join(folder, 'planted');
      writeFileSync(name, 'forged\n');
      chownSync(name, 65534, 65534);
      const old = join(folder, oldName(statSync(name, { bigint: true }).ino));
      linkSync(name, old);
      unlinkSync(name);
      writeFileSync(join(folder, LOCK), '');
      const failure = { kind: 'foreign-leftover', path: old, is: 'it belongs to another user (65534)' };
      assert.deepEqual([await refusal(path), readFileSync(path, 'utf8')], [failure, 's\n']);
    },
  );
});

suite('a planted lock file', () => {
  /** A database in WAL mode, as any program has them. */
  const databaseAt = (path: string): void => {
    const db = new Database(path);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES (1)');
    db.close();
  };
  for (const { what, plant, is } of [
    {
      what: 'a symbolic link',
      plant: (victim: string, lock: string): void => symlinkSync(victim, lock),
      is: 'it is a symbolic link',
    },
    {
      what: 'a hard link',
      plant: (victim: string, lock: string): void => linkSync(victim, lock),
      is: 'it is not empty',
    },
  ]) {
    test(`that is ${what} to a database is refused and named, and the database stays as it is`, async (t) => {
      const { folder, path, secret: victim } = sceneOf(t);
      rmSync(victim);
      databaseAt(victim);
      const before = readFileSync(victim);
      plant(victim, join(folder, LOCK));
      assert.deepEqual(await refusal(path), { kind: 'foreign-leftover', path: join(folder, LOCK), is });
      assert.deepEqual(readFileSync(victim), before);
      assert.deepEqual(readdirSync(join(victim, '..')), ['key']);
    });
  }

  test('that leads to no file is refused, and no file is made', async (t) => {
    const { folder, path, secret } = sceneOf(t);
    const victim = `${secret}.new`;
    symlinkSync(victim, join(folder, LOCK));
    const failure = { kind: 'foreign-leftover', path: join(folder, LOCK), is: 'it is a symbolic link' };
    assert.deepEqual([await refusal(path), existsSync(victim)], [failure, false]);
  });

  test('that is a hard link to an empty file is refused', async (t) => {
    const { folder, path, secret: victim } = sceneOf(t);
    writeFileSync(victim, '');
    linkSync(victim, join(folder, LOCK));
    const is = 'it is a hard link to a file that has other names';
    assert.deepEqual(await refusal(path), { kind: 'foreign-leftover', path: join(folder, LOCK), is });
    assert.equal(readFileSync(victim, 'utf8'), '');
  });

  test('that has a journal beside it is refused: SQLite would play it back, and remove what it names', async (t) => {
    const { folder, path } = sceneOf(t);
    writeFileSync(join(folder, LOCK), '');
    const journal = join(folder, `${LOCK}-journal`);
    writeFileSync(journal, 'x');
    assert.deepEqual(await refusal(path), {
      kind: 'foreign-leftover',
      path: journal,
      is: "SQLite would read it as the lock's log",
    });
    assert.equal(readFileSync(journal, 'utf8'), 'x');
  });

  test('of another user is refused', { skip: getuid?.() !== 0 && 'only root may give a file away' }, async (t) => {
    const { folder, path } = sceneOf(t);
    writeFileSync(join(folder, LOCK), '');
    chownSync(join(folder, LOCK), 65534, 65534);
    const is = 'it belongs to another user (65534)';
    assert.deepEqual(await refusal(path), { kind: 'foreign-leftover', path: join(folder, LOCK), is });
  });
});
