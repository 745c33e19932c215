import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const NOBODY = 65_534;
/** The server refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

function findPrograms(): string {
  const installed = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  );
  const folders = [process.env['PGBIN'] ?? '', ...installed, ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
  assert.ok(found !== undefined, 'no PostgreSQL server is installed here: install postgresql, or set PGBIN');
  return found;
}

export type PostgresServer = {
  readonly url: string;
  /** Where its files are. */
  readonly data: string;
  readonly start: () => void;
  /** As if its machine had lost power. */
  readonly stop: () => void;
  readonly remove: () => void;
};

/** A server in a temp folder: Debian's package postgresql, or the programs in $PGBIN. */
export function startPostgres(settings = ''): PostgresServer {
  const programs = findPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'compact-postgres-'));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const runProgram = (name: string, ...argv: readonly string[]): void => {
    // A server keeps the pipes of whoever started it open, so there are none.
    execFileSync(join(programs, name), argv, { cwd: folder, ...owner, stdio: 'ignore' });
  };
  // A socket in the folder takes no port. The server would not wait for the disk, but the archive asks it to.
  const options = `-k ${folder} -p 5432 -c listen_addresses= -c synchronous_commit=off ${settings}`;
  const start = (): void => runProgram('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start');
  const stop = (): void => runProgram('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
  runProgram('initdb', '-D', data, '-U', 'compact', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync');
  start();
  return {
    url: `postgres:///postgres?user=compact&host=${folder}&port=5432`,
    data,
    start,
    stop,
    remove: () => {
      stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
