import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { DamageError, guard, toArchiveFailure } from '../../../src/adapters/archive/failure.ts';
import type { ArchiveFailure } from '../../../src/ports/archive.ts';
import { thrownFailure } from './drafts.ts';

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

test('a violated constraint is a bug and is thrown on', () => {
  const error = new Database.SqliteError('text', 'SQLITE_CONSTRAINT_FOREIGNKEY');
  assert.throws(
    () =>
      guard(PATH, () => {
        throw error;
      }),
    (thrown) => thrown === error,
  );
});

test('a row that cannot be is damage', () => {
  const fail = (): never => {
    throw new DamageError('a bad row');
  };
  assert.deepEqual(
    thrownFailure(() => guard(PATH, fail)),
    { kind: 'damaged', path: PATH, reason: 'a bad row' },
  );
});
