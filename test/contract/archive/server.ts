import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { Client } from 'pg';
import { openPostgresArchive } from '../../../src/adapters/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { archiveContract } from './contract.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import type { Engine } from './engine.ts';

// The archive's contract on a real server, started in a temp folder: npm run test:postgres
// It needs PostgreSQL 15 or newer: Debian's package postgresql, or $PGBIN, the folder of its programs.

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

const programs = findPrograms();
const folder = mkdtempSync(join(tmpdir(), 'compact-postgres-'));
if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
const data = join(folder, 'data');

function runProgram(name: string, ...argv: readonly string[]): void {
  // A server keeps the pipes of whoever started it open, so there are none.
  execFileSync(join(programs, name), argv, { cwd: folder, ...owner, stdio: 'ignore' });
}

runProgram('initdb', '-D', data, '-U', 'compact', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync');
// A socket in the folder takes no port. The server would not wait for the disk, but the archive asks it to.
const options = `-k ${folder} -p 5432 -c listen_addresses= -c synchronous_commit=off`;
runProgram('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start');
const url = `postgres:///postgres?user=compact&host=${folder}&port=5432`;
const admin = new Client({ connectionString: url, options: '-c search_path=compact' });
after(async () => {
  await admin.end();
  runProgram('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
  rmSync(folder, { recursive: true, force: true });
});
await admin.connect();

async function openArchive(t: TestContext): Promise<Archive> {
  const opened = await openPostgresArchive({ url, create: true, notice: () => undefined, wait: async () => undefined });
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  const archive = opened.value;
  t.after(archive.close);
  return archive;
}

const engine: Engine = {
  propertyRuns: 20,
  open: async (t) => {
    const archive = await openArchive(t);
    await admin.query(EMPTY_ARCHIVE);
    return archive;
  },
  openAgain: openArchive,
  execute: async (_, sql) => {
    await admin.query(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`);
  },
};

archiveContract(engine);
