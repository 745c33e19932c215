import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hidePassword, isArchiveUrl } from '../../../src/core/archive-url.ts';
import { openPostgresArchive } from '../../../src/adapters/postgres/open.ts';
import type { ArchiveFailure } from '../../../src/ports/archive.ts';

async function failureOf(url: string): Promise<ArchiveFailure> {
  const opened = await openPostgresArchive({
    url,
    create: true,
    notice: () => undefined,
    wait: async () => undefined,
  });
  assert.ok(!opened.ok);
  return opened.error;
}

test('only Postgres URLs are archives in a database', () => {
  assert.deepEqual(
    ['postgres://h/d', 'postgresql://h/d', 'postgres.db', './postgres:/x', 'https://h/d'].map(isArchiveUrl),
    [true, true, false, false, false],
  );
});

test('no password of a URL is shown, wherever it stands', () => {
  const shown = [
    'postgres://ann:secret@h/d',
    'postgres://ann:se@cr/et@h/d',
    'postgres://ann@h/d?sslmode=require&password=secret',
  ].map(hidePassword);
  assert.deepEqual(shown, [
    'postgres://ann:***@h/d',
    'postgres://ann:***@h/d',
    'postgres://ann@h/d?sslmode=require&password=***',
  ]);
});

test('a password in a URL is refused without showing it', async () => {
  const failure = await failureOf('postgres://ann:secret@localhost/d');
  assert.equal(failure.kind, 'cannot-open');
  assert.ok(!JSON.stringify(failure).includes('secret'));
  assert.ok('advice' in failure && failure.advice?.includes('PGPASSWORD'));
});

test('a server that does not answer is a failure that names it', async () => {
  const failure = await failureOf('postgres://ann@127.0.0.1:1/d');
  assert.deepEqual(failure, {
    kind: 'cannot-open',
    path: 'postgres://ann@127.0.0.1:1/d',
    reason: 'no Postgres server answers at 127.0.0.1:1 (ECONNREFUSED)',
    advice: 'Start the server, or check the host and the port of --archive.',
  });
});

test('a schema that is not a plain name is refused', async () => {
  const failure = await failureOf('postgres://ann@h/d?schema=a";DROP');
  assert.ok(failure.kind === 'cannot-open' && failure.reason === 'its schema is not a plain name');
});
