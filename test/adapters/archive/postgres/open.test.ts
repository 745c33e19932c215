import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { toFailure } from '../../../../src/adapters/archive/postgres/failure.ts';
import {
  hideDriverAdvice,
  openPostgresArchive,
  parseTarget,
  readConnection,
} from '../../../../src/adapters/archive/postgres/open.ts';
import { hidePassword, isArchiveUrl } from '../../../../src/core/paths.ts';
import type { ArchiveFailure } from '../../../../src/ports/archive.ts';

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

test('a schema name that is not valid is refused', async () => {
  const failure = await failureOf('postgres://ann@h/d?schema=a";DROP');
  assert.ok(failure.kind === 'cannot-open' && failure.reason === 'its schema name is not valid');
});

/** What a client says first: pairs of a name and its value. */
async function startupOf(query: string): Promise<ReadonlyMap<string, string>> {
  const server = createServer();
  const first = new Promise<Buffer>((resolve) =>
    server.on('connection', (socket) =>
      socket.once('data', (data) => {
        resolve(data);
        socket.destroy();
      }),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await failureOf(`postgres://ann@127.0.0.1:${address.port}/d${query}`);
  server.close();
  const words = (await first).subarray(8).toString().split('\0');
  return new Map(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : [])));
}

test('a commit waits for the disk, and the schema is ours, whatever options the URL has', async () => {
  assert.equal((await startupOf('')).get('options'), '-c search_path=compact -c synchronous_commit=on -c jit=off');
  const theirs = '?schema=team&options=-c%20search_path%3Dpublic%20-c%20synchronous_commit%3Doff';
  assert.equal(
    (await startupOf(theirs)).get('options'),
    '-c search_path=public -c synchronous_commit=off -c search_path=team -c synchronous_commit=on -c jit=off',
  );
});

test('the user, the host and the database are those that the driver uses', (t) => {
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  process.env = { ...before, PGUSER: 'bob', PGHOST: 'db.example', PGPORT: '6000' };
  assert.deepEqual(readConnection('postgres:///logs'), {
    host: 'db.example:6000',
    user: 'bob',
    database: 'logs',
    isEncrypted: false,
  });
  assert.deepEqual(readConnection('postgres://ann@h'), {
    host: 'h:6000',
    user: 'ann',
    database: 'ann',
    isEncrypted: false,
  });
});

test('a certificate file that is missing is a failure that names it', async () => {
  const failure = await failureOf('postgres://ann@h/d?sslrootcert=/missing/ca.pem');
  assert.ok(failure.kind === 'cannot-open' && failure.reason.includes('/missing/ca.pem'), JSON.stringify(failure));
});

test('problems of encryption say what to add to the URL', () => {
  const place = { path: 'postgres://ann@h/d', host: 'h:5432', user: 'ann', database: 'd' };
  const adviceOn = (message: string, code?: string): string | undefined => {
    const failure = toFailure(Object.assign(new Error(message), code === undefined ? {} : { code }), place);
    return failure?.kind === 'cannot-open' ? failure.advice : undefined;
  };
  const refused = 'no pg_hba.conf entry for host "10.0.0.1", user "ann", database "d", no encryption';
  assert.match(adviceOn(refused, '28000') ?? '', /sslmode=verify-full/);
  assert.match(
    adviceOn('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN') ?? '',
    /sslrootcert/,
  );
  assert.match(
    adviceOn("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID') ?? '',
    /Name the server/,
  );
  assert.match(adviceOn('The server does not support SSL connections') ?? '', /sslmode=disable/);
});

test('a connection to another machine is encrypted, unless the URL says that it need not be', async () => {
  for (const host of ['db.example', '10.0.0.7', 'localhost.example', 'a.localhost', '[fe80::1]', '127.evil.example']) {
    const failure = await failureOf(`postgres://ann@${host}/d`);
    assert.ok(failure.kind === 'cannot-open', host);
    assert.match(failure.reason, /^the connection to .*:5432 would not be encrypted$/);
    assert.match(failure.advice ?? '', /^Add sslmode=verify-full to the URL, or sslmode=disable /);
  }
  const isRefused = (url: string): boolean => {
    const target = parseTarget(url);
    return !target.ok && JSON.stringify(target).includes('would not be encrypted');
  };
  for (const url of [
    'postgres://ann@db.example/d?sslmode=verify-full',
    'postgres://ann@db.example/d?sslmode=require',
    'postgres://ann@db.example/d?sslmode=disable',
    'postgres://ann@localhost/d',
    'postgres://ann@127.0.0.1/d',
    'postgres://ann@[::1]/d',
    'postgres:///d?host=/run/postgresql',
  ])
    assert.equal(isRefused(url), false, url);
  assert.equal(isRefused('postgres://ann@db.example/d?ssl=0'), true);
});

test("the driver's advice to programmers does not reach users; other warnings do", () => {
  const shown: string[] = [];
  const host = { emitWarning: (warning: string | Error) => void shown.push(String(warning)) };
  hideDriverAdvice(host);
  host.emitWarning("SECURITY WARNING: The SSL modes 'prefer', 'require', and 'verify-ca' are treated as aliases");
  host.emitWarning('pgpass support is deprecated and will be removed in pg@9.0. You can provide');
  host.emitWarning('something else');
  assert.deepEqual(shown, ['something else']);
});
