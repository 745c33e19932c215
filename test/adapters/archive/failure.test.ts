import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { DamageError, guardPort, toArchiveFailure } from '../../../src/adapters/archive/failure.ts';
import type { ArchiveFailure } from '../../../src/ports/archive.ts';
import { rejectedFailure } from './drafts.ts';

const PATH = '/data/archive.db';

for (const [code, failure] of [
  ['SQLITE_BUSY', { kind: 'busy', path: PATH }],
  ['SQLITE_BUSY_SNAPSHOT', { kind: 'busy', path: PATH }],
  ['SQLITE_PROTOCOL', { kind: 'busy', path: PATH }],
  ['SQLITE_FULL', { kind: 'no-space', path: PATH }],
  ['SQLITE_CORRUPT_VTAB', { kind: 'damaged', path: PATH, reason: 'text (SQLITE_CORRUPT_VTAB)' }],
  ['SQLITE_IOERR_WRITE', { kind: 'cannot-open', path: PATH, reason: 'text (SQLITE_IOERR_WRITE)' }],
  ['SQLITE_READONLY_DBMOVED', { kind: 'cannot-open', path: PATH, reason: 'text (SQLITE_READONLY_DBMOVED)' }],
] as const satisfies readonly (readonly [string, ArchiveFailure])[]) {
  test(`${code} is ${failure.kind}`, () => {
    assert.deepEqual(toArchiveFailure(new Database.SqliteError('text', code), PATH), failure);
  });
}

test('a violated constraint is a bug, and a row that cannot be is damage', () => {
  assert.equal(toArchiveFailure(new Database.SqliteError('text', 'SQLITE_CONSTRAINT_FOREIGNKEY'), PATH), null);
  const damaged = { kind: 'damaged', path: PATH, reason: 'a bad row' };
  assert.deepEqual(toArchiveFailure(new DamageError('a bad row'), PATH), damaged);
});

test('what a method of a guarded port throws is a failure, or as it was', async () => {
  const fail = (error: Error) => async () => {
    throw error;
  };
  const bug = new Error('a bug');
  const port = guardPort({ damaged: fail(new DamageError('a bad row')), buggy: fail(bug) }, (error) =>
    toArchiveFailure(error, PATH),
  );
  assert.equal((await rejectedFailure(port.damaged)).kind, 'damaged');
  await assert.rejects(port.buggy, (thrown) => thrown === bug);
});
