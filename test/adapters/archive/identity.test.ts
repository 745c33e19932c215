import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { refuseOtherBuild } from '../../../src/adapters/archive/failure.ts';
import { findForeignEntry, vectorIndexSql } from '../../../src/adapters/archive/sqlite/identity.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from '../../../src/adapters/archive/sqlite/schema.ts';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { findVectorExtension } from '../../../src/adapters/archive/sqlite/extension.ts';
import { change } from '../../support/full-archive.ts';
import { applied, compactionDraft, lineDraft, openAt, tempFolder } from './drafts.ts';
import { frozenVersions, thawArchive } from './frozen.ts';

/** An archive with one compaction, closed, and then changed by somebody else. */
async function changedArchive(t: TestContext, sql: string): Promise<string> {
  const path = join(tempFolder(t), 'archive.db');
  const archive = openAt(path);
  await applied(archive, compactionDraft(1), [lineDraft(1)]);
  archive.close();
  change(path, sql);
  return path;
}

const rewrite = (name: string, from: string, to: string): string => `
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = '${name}';
PRAGMA writable_schema = RESET;`;

for (const { what, sql, reason } of [
  {
    what: 'a trigger that blanks what is stored',
    sql: 'CREATE TRIGGER blank AFTER INSERT ON packs BEGIN UPDATE packs SET data = zeroblob(3); END',
    reason: 'compact did not make its trigger "blank"',
  },
  {
    what: 'a trigger that has the name of a table',
    sql: 'CREATE TRIGGER blocks AFTER INSERT ON lines BEGIN DELETE FROM lines; END',
    reason: 'its trigger "blocks" is not as compact makes it',
  },
  {
    what: 'a view',
    sql: 'CREATE VIEW everything AS SELECT * FROM lines',
    reason: 'compact did not make its view "everything"',
  },
  {
    what: 'a table',
    sql: 'CREATE TABLE notes (text)',
    reason: 'compact did not make its table "notes"',
  },
  {
    what: 'a table with a hostile name',
    sql: 'CREATE TABLE "\u001b]0;owned\u0007" (text)',
    reason: 'compact did not make its table "\\u001b]0;owned\\u0007"',
  },
  {
    what: 'a full-text table',
    sql: "CREATE VIRTUAL TABLE notes USING fts5 (text, tokenize = 'porter')",
    reason: 'compact did not make its table "notes"',
  },
  {
    what: 'an index on an expression',
    sql: 'CREATE INDEX by_settings ON compactions (hex(settings_id))',
    reason: 'compact did not make its index "by_settings"',
  },
  {
    what: 'a view in the place of a table',
    sql: 'DROP TABLE kept_runs; CREATE VIEW kept_runs AS SELECT 1',
    reason: 'its view "kept_runs" is not as compact makes it',
  },
  {
    what: 'a table of ours with another column',
    sql: 'ALTER TABLE summaries ADD COLUMN more ANY DEFAULT 1',
    reason: 'its table "summaries" is not as compact makes it',
  },
  {
    what: 'an index of ours that became another',
    sql: 'DROP INDEX lines_by_cycle; CREATE INDEX lines_by_cycle ON lines (cycle_id)',
    reason: 'its index "lines_by_cycle" is not as compact makes it',
  },
  {
    what: 'a table of ours without its check',
    sql: rewrite('packs', 'data BLOB NOT NULL', 'data BLOB'),
    reason: 'its table "packs" is not as compact makes it',
  },
  {
    what: 'an index over vectors with a column more',
    sql: 'CREATE TABLE message_vector_search_rowids (rowid INTEGER PRIMARY KEY, id, more)',
    reason: 'compact did not make its table "message_vector_search_rowids"',
  },
]) {
  test(`an archive with ${what} is refused, for writing and for reading, and stays as it is`, async (t) => {
    const path = await changedArchive(t, sql);
    const before = readFileSync(path);
    for (const create of [true, false]) {
      const opened = openSqliteArchive({ path, create });
      const mayBeOurs = /(table|index) "/.test(reason);
      const error = mayBeOurs ? refuseOtherBuild(path, reason) : { kind: 'not-ours', path, reason };
      assert.deepEqual(opened, { ok: false, error });
    }
    assert.deepEqual(readFileSync(path), before);
  });
}

for (const { what, sql, missing } of [
  { what: 'a table', sql: 'DROP TABLE erased_states', missing: 'table "erased_states"' },
  { what: 'an index', sql: 'DROP INDEX lines_by_cycle', missing: 'index "lines_by_cycle"' },
]) {
  test(`an archive that lacks ${what}, as an earlier build made it, is refused and stays as it is`, async (t) => {
    const path = await changedArchive(t, sql);
    const before = readFileSync(path);
    for (const create of [true, false]) {
      const opened = openSqliteArchive({ path, create });
      assert.ok(!opened.ok && opened.error.kind === 'cannot-open', JSON.stringify(opened));
      assert.match(
        opened.error.reason,
        new RegExp(`another version of compact may have made it: its ${missing} is missing`),
      );
      assert.match(opened.error.advice ?? '', /Export it with that version/);
    }
    assert.deepEqual(readFileSync(path), before);
  });
}

test('a trigger in an archive that is still empty and of an older version never runs', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  change(
    path,
    `PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE blocks (x); CREATE TRIGGER t AFTER INSERT ON blocks BEGIN SELECT 1; END`,
  );
  const opened = openSqliteArchive({ path });
  const reason = 'compact did not make its trigger "t"';
  assert.deepEqual(opened, { ok: false, error: { kind: 'not-ours', path, reason } });
});

test('of an archive with a foreign trigger and a foreign table, the trigger is named', async (t) => {
  const path = await changedArchive(
    t,
    'CREATE TABLE notes (x); CREATE TRIGGER t AFTER INSERT ON lines BEGIN SELECT 1; END',
  );
  const reason = 'compact did not make its trigger "t"';
  assert.deepEqual(openSqliteArchive({ path }), { ok: false, error: { kind: 'not-ours', path, reason } });
});

test('the statistics that ANALYZE keeps are no foreign tables', async (t) => {
  openAt(await changedArchive(t, 'ANALYZE')).close();
});

test('an archive with vectors holds nothing that this program did not make', async (t) => {
  for (const version of frozenVersions()) {
    const db = new Database(thawArchive(version, tempFolder(t)), { readonly: true });
    t.after(() => db.close());
    assert.equal(findForeignEntry(db, { version, path: db.name }), null);
  }
});

test('what is known of the index over vectors is what the extension makes, for any length', async (t) => {
  const extension = await findVectorExtension();
  assert.ok(extension.ok);
  for (const bits of [8, 1536, 8192]) {
    const db = new Database(':memory:');
    t.after(() => db.close());
    db.loadExtension(extension.value);
    for (const step of MIGRATIONS) db.exec(step);
    db.exec(vectorIndexSql(bits));
    assert.equal(findForeignEntry(db, { version: SCHEMA_VERSION, path: db.name }), null);
  }
});
