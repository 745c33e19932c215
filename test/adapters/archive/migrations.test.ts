import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import {
  APPLICATION_ID,
  migrate,
  migrateFile,
  MIGRATIONS,
  readSchemaVersion,
  removeCopies,
  SCHEMA_VERSION,
} from '../../../src/adapters/archive/sqlite/schema.ts';
import { openAt, sha256, tempFolder } from './drafts.ts';
import { frozenVersions, thawArchive } from './frozen.ts';

/** A step as a later version might have it: another column with what it is for every row, and an index. */
const NEXT_STEP = `
ALTER TABLE batches ADD COLUMN size_chars INTEGER NOT NULL DEFAULT 0;
UPDATE batches SET size_chars = length(label_end);
CREATE INDEX batches_by_size ON batches (size_chars);`;

function openDatabase(t: TestContext, path: string): Database.Database {
  const db = new Database(path);
  t.after(() => db.close());
  return db;
}

/** Every row of every table that is ours, by table. */
function dump(db: Database.Database): Readonly<Record<string, readonly unknown[]>> {
  const tables = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%search' ORDER BY name",
    )
    .pluck()
    .all();
  return Object.fromEntries(
    tables.map((table) => {
      const rows = db.prepare(`SELECT * FROM ${table}`);
      const order = rows.columns().length > 1 ? '1, 2' : '1';
      return [table, db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all()];
    }),
  );
}

test('an empty database is brought to the newest schema and marked as ours', () => {
  const db = new Database(':memory:');
  migrate(db);
  assert.deepEqual(
    [readSchemaVersion(db), db.pragma('application_id', { simple: true })],
    [SCHEMA_VERSION, APPLICATION_ID],
  );
});

test('every version of the schema has an archive as it was written then', () => {
  assert.deepEqual(
    frozenVersions(),
    MIGRATIONS.map((_, at) => at + 1),
    'run: npx node test/support/freeze-archive.ts',
  );
});

test('a schema that was released is what it was: each frozen archive has what its step makes', (t) => {
  for (const version of frozenVersions()) {
    const fresh = openDatabase(t, ':memory:');
    migrate(fresh, MIGRATIONS.slice(0, version));
    const frozen = openDatabase(t, thawArchive(version, tempFolder(t)));
    const list = (db: Database.Database): readonly unknown[] =>
      db
        .prepare(
          "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name NOT LIKE 'message_vector_search%' ORDER BY name",
        )
        .all();
    assert.deepEqual([list(frozen), readSchemaVersion(frozen)], [list(fresh), version]);
  }
});

test('a frozen archive has rows in every table, so that a step meets each', (t) => {
  for (const version of frozenVersions()) {
    const rows = dump(openDatabase(t, thawArchive(version, tempFolder(t))));
    assert.deepEqual(
      Object.entries(rows).flatMap(([table, { length }]) => (length === 0 ? [table] : [])),
      [],
    );
  }
});

test('a later step takes a file of version 1 forward, and what was in it is there', (t) => {
  const db = openDatabase(t, thawArchive(1, tempFolder(t)));
  const { batches = [], ...before } = dump(db);
  migrate(db, [...MIGRATIONS.slice(0, 1), NEXT_STEP]);
  const { batches: after, ...rest } = dump(db);
  assert.equal(readSchemaVersion(db), 2);
  assert.deepEqual(rest, before);
  assert.deepEqual(
    after,
    batches.map((row) => ({ ...Object(row), size_chars: String(Object(row).label_end).length })),
  );
});

test('if one of several steps fails, the file is as it was', (t) => {
  const path = thawArchive(1, tempFolder(t));
  const before = sha256(readFileSync(path));
  const db = new Database(path);
  const steps = [...MIGRATIONS.slice(0, 1), NEXT_STEP, 'CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);'];
  assert.throws(() => migrate(db, steps), { message: 'no such table: nowhere' });
  db.close();
  assert.equal(sha256(readFileSync(path)), before);
});

test('a file that is newer than the steps that are known is left alone', (t) => {
  const path = thawArchive(1, tempFolder(t));
  const db = openDatabase(t, path);
  db.pragma('user_version = 7');
  migrate(db, [...MIGRATIONS.slice(0, 1), NEXT_STEP]);
  assert.equal(readSchemaVersion(db), 7);
});

test('two processes that migrate at once take each step once', async (t) => {
  const path = thawArchive(1, tempFolder(t));
  const other = openDatabase(t, path);
  other.exec('BEGIN IMMEDIATE'); // so that both stand in line
  const steps = JSON.stringify([...MIGRATIONS.slice(0, 1), NEXT_STEP, 'CREATE TABLE once (x)']);
  const children = [1, 2].map(() =>
    spawn(process.execPath, [join(import.meta.dirname, 'migrator-process.ts'), path, steps], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const ended = Promise.all(children.map(async (child) => once(child, 'exit')));
  await Promise.all(children.map(async ({ stdout }) => once(stdout, 'data')));
  other.exec('COMMIT');
  assert.deepEqual(await ended, [
    [0, null],
    [0, null],
  ]);
  assert.deepEqual([readSchemaVersion(other), other.prepare('SELECT count(*) FROM once').pluck().get()], [3, 0]);
});

test('every reference to another row can be followed back without reading a whole table', (t) => {
  const path = join(tempFolder(t), 'archive.db');
  openAt(path).close();
  const db = openDatabase(t, path);
  const references = db
    .prepare<[], { readonly child: string; readonly column: string }>(
      `SELECT t.name AS child, f."from" AS column FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
       WHERE t.type = 'table' AND f."table" <> 'erasures'`, // a receipt is never removed
    )
    .all();
  const scans = references.filter(({ child, column }) => {
    const plan = db
      .prepare<[], { readonly detail: string }>(`EXPLAIN QUERY PLAN SELECT 1 FROM ${child} WHERE ${column} = 1`)
      .all();
    return plan.some(({ detail }) => detail.startsWith('SCAN'));
  });
  assert.deepEqual([scans, references.length], [[], 26]);
});

test('before an archive is brought up to date, a copy of it is kept until a later run has stored something', (t) => {
  for (const version of frozenVersions()) {
    const folder = tempFolder(t);
    const path = thawArchive(version, folder);
    const copy = `${path}.before-${version}`;
    const db = openDatabase(t, path);
    const before = dump(db);
    writeFileSync(copy, 'of an upgrade that was killed long ago');
    const later = [...MIGRATIONS, NEXT_STEP];
    migrateFile(db, path, later);
    assert.equal(readSchemaVersion(db), later.length);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.before-')),
      [basename(copy)],
    );
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    const kept = openDatabase(t, copy);
    assert.deepEqual([readSchemaVersion(kept), dump(kept)], [version, before]);
    kept.close();
    migrateFile(db, path, later); // another process of the same run
    assert.equal(existsSync(copy), true);
    utimesSync(copy, 1, 1);
    migrateFile(db, path, later);
    assert.equal(existsSync(copy), false);
    writeFileSync(copy, '');
    removeCopies(path, { migrations: later }); // as after an erasure
    assert.equal(existsSync(copy), false);
  }
});

test('an archive that cannot be copied is left as it is', (t) => {
  const folder = tempFolder(t);
  const version = frozenVersions().at(-1) ?? 0;
  const path = thawArchive(version, folder);
  const db = openDatabase(t, path);
  // Where the copy would be, the folder is missing.
  assert.throws(() => migrateFile(db, join(folder, 'gone/archive.db'), [...MIGRATIONS, NEXT_STEP]), { code: 'ENOENT' });
  assert.equal(readSchemaVersion(db), version);
});
