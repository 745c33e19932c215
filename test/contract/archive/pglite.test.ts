import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openOn } from '../../../src/adapters/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { Driver } from '../../../src/adapters/postgres/sql.ts';
import { renderArchiveFailure } from '../../../src/cli/render/archive-failure.ts';
import { compactionDraft, lineDraft, rejectedFailure } from '../../adapters/archive/drafts.ts';
import { archiveContract } from './contract.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import { applied, type Engine, stored } from './engine.ts';
import { startPglite } from './pglite.ts';

const { database, driver } = await startPglite();
after(() => database.close());
const place = { path: 'postgres://nobody@localhost/test', host: 'localhost', user: 'nobody', database: 'test' };

const options = { create: true, notice: () => undefined, wait: async () => undefined, place, schema: 'compact' };

async function openArchive(on: Driver = driver): Promise<Archive> {
  const opened = await openOn(on, options);
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  return opened.value;
}

const archive = await openArchive();
const engine: Engine = {
  propertyRuns: 4,
  open: async () => {
    await database.exec(EMPTY_ARCHIVE);
    return archive;
  },
  openAgain: () => openArchive(),
  execute: async (_, sql) => {
    // Without triggers, and so without foreign keys.
    await database.exec(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`);
  },
};

archiveContract(engine);

test('what another machine prepared is listed as not from here', async (t) => {
  await engine.open(t);
  await stored(archive, compactionDraft(1), [lineDraft(1)]);
  await engine.execute(archive, "UPDATE compactions SET machine = 'another'");
  assert.deepEqual(
    (await archive.listPrepared()).map(({ isLocal }) => isLocal),
    [false],
  );
});

test('a connection that looks into another schema is refused', async (t) => {
  t.after(() => database.exec('SET search_path = compact'));
  await database.exec('SET search_path = public');
  const opened = await openOn(driver, options);
  assert.ok(!opened.ok && opened.error.kind === 'cannot-open' && opened.error.reason.includes('search_path'));
});

/** Loses the connection at each COMMIT whose number is listed, after the server has stored it. */
function losing(commits: readonly number[]): Driver {
  const state = { commits: 0 };
  return {
    ...driver,
    connect: async () => {
      const { query, release } = await driver.connect();
      return {
        release,
        query: async (sql, values) => {
          const rows = await query(sql, values);
          if (sql === 'COMMIT' && commits.includes((state.commits += 1)))
            throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          return rows;
        },
      };
    },
  };
}

test('a file of a run is recorded once, even if the answer to the commit is lost', async (t) => {
  await engine.open(t);
  const compactionId = await applied(archive, compactionDraft(1), [lineDraft(1)]);
  const run = { token: 'one', begunAt: new Date(0) };
  const other = await openArchive(losing([2])); // the first commit is that of the schema
  const id = await other.runs.record(run, { compactionId, sourcePath: '/a', outputPath: '/a' });
  assert.deepEqual(
    (await archive.runs.list()).flatMap(({ files }) => files.map((file) => file.id)),
    [id],
  );
});

test('what does not work in Postgres yet is refused in plain words', async () => {
  const failure = await rejectedFailure(() => archive.retention.removeHold({ kind: 'source', value: 'x' }));
  assert.equal(
    renderArchiveFailure(failure),
    `${place.path}: archives in Postgres cannot prune, hold or erase yet. Where you need that, use an archive in a file.`,
  );
});
