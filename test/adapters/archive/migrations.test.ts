import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import {
  APPLICATION_ID,
  migrate,
  readSchemaVersion,
  SCHEMA_VERSION,
} from '../../../src/adapters/archive/migrations.ts';
import { openAt, tempFolder } from './drafts.ts';

test('an empty database is brought to the newest schema and marked as ours', () => {
  const db = new Database(':memory:');
  migrate(db);
  assert.deepEqual(
    [readSchemaVersion(db), db.pragma('application_id', { simple: true })],
    [SCHEMA_VERSION, APPLICATION_ID],
  );
});

test('a schema that is up to date is left as it is', () => {
  const db = new Database(':memory:');
  migrate(db);
  const before = db.serialize();
  migrate(db);
  assert.deepEqual(db.serialize(), before);
});

test('a step that fails leaves neither its tables nor its number', () => {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE batches (in_the_way)');
  assert.throws(() => migrate(db), { message: 'table batches already exists' });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  assert.deepEqual([tables, readSchemaVersion(db), db.pragma('application_id', { simple: true })], [['batches'], 0, 0]);
});

test('every reference to another row can be followed back without reading a whole table', (t) => {
  const path = join(tempFolder(t), 'archive.db');
  openAt(path).close();
  const db = new Database(path);
  t.after(() => db.close());
  const references = db
    .prepare<[], { readonly child: string; readonly column: string }>(
      `SELECT t.name AS child, f."from" AS column FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table'`,
    )
    .all();
  const scans = references.filter(({ child, column }) => {
    const plan = db
      .prepare<[], { readonly detail: string }>(`EXPLAIN QUERY PLAN SELECT 1 FROM ${child} WHERE ${column} = 1`)
      .all();
    return plan.some(({ detail }) => detail.startsWith('SCAN'));
  });
  assert.deepEqual([scans, references.length], [[], 16]);
});
