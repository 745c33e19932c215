import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { Client } from 'pg';
import { openPostgresArchive } from '../../../src/adapters/archive/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { erase, listHolds } from '../../support/retention.ts';
import { killWhereItStops } from '../../support/stopping.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { reportOf } from '../../support/workbench.ts';
import { archiveContract } from './contract.ts';
import { findInBytes } from '../../support/leftovers.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import { benchOn, problemsOf } from './engine.ts';
import { mergeContract, type MergingEngine } from './merging.ts';
import { fileExchange } from '../../support/merging.ts';
import { findSummary, MALLORY, type Planting, plantingContract } from './planting.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { stateContract } from './sharing.ts';

// The archive's contract on a real server, started in a temp folder: npm run test:postgres
// It needs PostgreSQL 15 or newer: Debian's package postgresql, or $PGBIN, the folder of its programs.

// Its own maintenance could see what a test erases, and then the cleanup would rightly stay open.
const { url, data, remove } = startPostgres('-c autovacuum=off');
const admin = new Client({ connectionString: url, options: '-c search_path=compact' });
after(async () => {
  await admin.end();
  remove();
});
await admin.connect();
await admin.query(`${MALLORY} CREATE ROLE ann LOGIN; GRANT CREATE ON DATABASE postgres TO ann`);

async function openArchive(t: TestContext): Promise<Archive> {
  const opened = await openPostgresArchive({ url, create: true, notice: () => undefined, wait: async () => undefined });
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  const archive = opened.value;
  t.after(archive.close);
  return archive;
}

const engine: MergingEngine = {
  exchange: fileExchange,
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
  findLeftovers: async (_, word) => {
    await admin.query('ANALYZE');
    await admin.query('CHECKPOINT');
    const files = globSync('{base,global}/**', { cwd: data, withFileTypes: true }).filter((one) => one.isFile());
    return files.flatMap(({ parentPath, name }) =>
      findInBytes(readFileSync(join(parentPath, name)), { word, file: join(parentPath, name) }),
    );
  },
};

archiveContract(engine);
mergeContract(engine);
stateContract(engine);

const foreignTable: Planting = {
  what: 'a table on another server in the place of ours',
  named: 'the foreign table planted.summaries',
  plant: `
CREATE EXTENSION postgres_fdw SCHEMA public;
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${new URL(url).searchParams.get('host')}', port '5432', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (user 'ann', password_required 'false');
INSERT INTO planted.summaries VALUES (sha256(''), 'p', 'm', 'old', 0, 0, 0, 0); ALTER TABLE planted.summaries RENAME TO others;
CREATE VIEW public.asked AS SELECT * FROM planted.others WHERE public.spy() = 1; GRANT ALL ON public.asked TO ann;
CREATE FOREIGN TABLE planted.summaries (request_sha256 bytea, provider text, model text, text text, input_tokens int, cached_input_tokens int, output_tokens int, created_at_ms bigint)
SERVER other OPTIONS (schema_name 'public', table_name 'asked');
GRANT ALL ON planted.summaries TO ann`,
  uproot: 'DROP EXTENSION postgres_fdw CASCADE; DROP VIEW public.asked; ALTER TABLE planted.others RENAME TO summaries',
  use: findSummary,
};
plantingContract({
  execute: async (sql) => void (await admin.query(sql)),
  queryTexts: async (sql) => (await admin.query<{ name: string }>(sql)).rows.map(({ name }) => name),
  open: async () => {
    const ofAnn = `${url.replace('user=compact', 'user=ann')}&schema=planted`;
    const opened = await openPostgresArchive({ url: ofAnn, create: true, notice: assert.fail, wait: assert.fail });
    return opened.ok ? (opened.value ?? assert.fail()) : opened.error;
  },
  ofServer: [foreignTable],
});

const SECRET = 'zanzibarquux';

for (const { step, isDone } of [
  { step: 'when compactions are marked', isDone: false },
  { step: 'when lines are gone', isDone: false },
  { step: 'when erased', isDone: true },
]) {
  test(`an erasure killed ${step} is ${isDone ? 'finished by the next command' : 'as if it had never begun'}`, async (t) => {
    const bench = await benchOn(engine, t);
    bench.write('talk.jsonl', `${chatLine({ role: 'user', content: `It is ${SECRET}.` })}\n${chatTranscript(20)}`);
    const original = bench.read('talk.jsonl');
    reportOf(await bench.compact('talk.jsonl'));
    await killWhereItStops(t, { work: 'erase', folder: bench.folder, named: SECRET, stopsAt: step, url });
    await listHolds(bench);
    assert.deepEqual(await problemsOf(bench.archive()), []);
    if (isDone) {
      assert.deepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
      return;
    }
    assert.deepEqual(await bench.restore('talk.jsonl'), original);
    assert.deepEqual(await bench.archive().retention.listErasures(), []);
  });
}

test('while a transaction can still see what was erased, the cleanup stays open', async (t) => {
  const bench = await benchOn(engine, t);
  bench.write('talk.jsonl', `${chatLine({ role: 'user', content: `It is ${SECRET}.` })}\n${chatTranscript(20)}`);
  reportOf(await bench.compact('talk.jsonl'));
  const reader = new Client({ connectionString: url, options: '-c search_path=compact' });
  await reader.connect();
  t.after(() => reader.end());
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT count(*) FROM pg_class');
  const { result, isOnServer, isPurged } = await erase(bench, { kind: 'match', text: SECRET });
  assert.deepEqual([result, isOnServer, isPurged], ['erased', true, false]);
  await reader.query('COMMIT');
  assert.ok((await listHolds(bench)).isPurged);
  assert.deepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
});
