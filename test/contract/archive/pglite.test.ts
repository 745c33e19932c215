import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSqlSource, openSqlTarget, type OpenedSql } from '../../../src/adapters/archive/postgres/exchange.ts';
import { createPostgresArchive } from '../../../src/adapters/archive/postgres/archive.ts';
import { openOn, openSql } from '../../../src/adapters/archive/postgres/open.ts';
import { prune } from '../../support/retention.ts';
import { ok, type Result } from '../../../src/core/result.ts';
import type { Archive, ArchiveFailure, ArchiveError } from '../../../src/ports/archive.ts';
import type { ArchiveExchange } from '../../../src/ports/exchange.ts';
import { contentsOf, fileExchange, fileTarget, merge } from '../../support/merging.ts';
import { folderWith } from '../../support/folders.ts';
import { indexAll } from '../../support/indexing.ts';
import { chatTranscript } from '../../support/chat.ts';
import { reportOf } from '../../support/workbench.ts';
import { createSql, type Driver } from '../../../src/adapters/archive/postgres/sql.ts';
import { compactionDraft, lineDraft } from '../../adapters/archive/drafts.ts';
import { dialectContract } from './contract.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import { applied, benchOn, problemsOf, stored } from './engine.ts';
import { purgeContract } from './erasing.ts';
import { partedArchives } from './merge-histories.ts';
import { type MergingEngine, orderContract } from './merging.ts';
import { findInBytes } from '../../support/leftovers.ts';
import { startPglite, withoutLog } from './pglite.ts';
import { runMark } from '../../support/run-mark.ts';

const { database, driver } = await startPglite();
after(() => database.close());
const place = { path: 'postgres://nobody@localhost/test', host: 'localhost', user: 'nobody', database: 'test' };

const options = { create: true, notice: () => undefined, wait: async () => undefined, place, schema: 'compact' };

async function openArchive(on: Driver = driver): Promise<Archive> {
  const opened = await openOn(on, options);
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  return opened.value;
}

/** Archives in files, and the one in the database. */
const exchange: ArchiveExchange = {
  identify: async (named) => (named === place.path ? 'here' : fileExchange.identify(named)),
  openSource: async (named) => (named === place.path ? openHere(openSqlSource) : fileExchange.openSource(named)),
  openTarget: async (named) => (named === place.path ? openHere(openSqlTarget) : fileExchange.openTarget(named)),
};

async function openHere<T>(
  use: (opened: OpenedSql) => Promise<Result<T, ArchiveFailure>>,
  on: Driver = driver,
): Promise<Result<T, ArchiveFailure>> {
  const opened = await openSql(on, options, use);
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  return ok(opened.value);
}

const DAY = 24 * 60 * 60_000;
const archive = await openArchive();
const engine: MergingEngine = {
  exchange,
  propertyRuns: 4,
  open: async () => {
    await database.exec(EMPTY_ARCHIVE);
    // Another one would know the blocks of before. Nothing was planted in it since it was opened, so that is not looked for each time.
    return createPostgresArchive(
      createSql(driver, (work) => work()),
      { place, isReadOnly: false },
    );
  },
  openAgain: () => openArchive(),
  execute: async (_, sql) => {
    // Without triggers, and so without foreign keys.
    await database.exec(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`);
  },
  findLeftovers: async (_, word) => {
    await database.exec('ANALYZE; CHECKPOINT');
    const dump = await database.dumpDataDir('none');
    return findInBytes(withoutLog(Buffer.from(await dump.arrayBuffer())), { word, file: 'the database' });
  },
};

// The rest is the same code on both engines: sqlite.test.ts tries all of it, and server.ts does so on a real server.
dialectContract(engine);
purgeContract(engine, ['match']);
orderContract(engine);

test('what another machine prepared is listed as not from here', async (t) => {
  await engine.open(t);
  await stored(archive, compactionDraft(1), [lineDraft(1)]);
  await engine.execute(archive, "UPDATE compactions SET machine = 'another'");
  assert.deepEqual(
    (await archive.listPrepared()).map(({ isLocal }) => isLocal),
    [false],
  );
});

test('pruning drops the partitions of months of which nothing stays', async (t) => {
  const bench = await benchOn(engine, t, { run: runMark('long ago') });
  for (const [at, month] of ['2024-01', '2024-02', '2024-02'].entries()) {
    bench.write(`${at}.jsonl`, chatTranscript(12, at * 100));
    reportOf(await bench.compact(`${at}.jsonl`));
    await indexAll(archive);
    const path = `WHERE source_path = '${bench.path(`${at}.jsonl`)}'`;
    for (const table of ['packs', 'blocks', 'lines', 'message_words']) {
      const [name, from] = [`${table}_${month.replace('-', '_')}`, Date.parse(`${month}-01`)];
      const to = new Date(from + 31 * DAY).toISOString().slice(0, 7);
      await database.exec(
        `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} FOR VALUES FROM ('${month}-01') TO ('${to}-01')`,
      );
    }
    const ids = `(SELECT id FROM blocks WHERE compaction_id = (SELECT id FROM compactions ${path}))`;
    await database.exec(`
UPDATE message_words SET month = '${month}-01' WHERE line_id IN (SELECT id FROM lines WHERE block_id IN ${ids});
UPDATE packs SET month = '${month}-01' WHERE id IN (SELECT pack_id FROM blocks WHERE id IN ${ids});
UPDATE lines SET month = '${month}-01' WHERE block_id IN ${ids}; UPDATE blocks SET month = '${month}-01' WHERE id IN ${ids};
UPDATE compactions SET month = '${month}-01', created_at_ms = ${Date.parse(`${month}-01`) + (at === 2 ? 20 * DAY : 0)} ${path}`);
  }
  const { result, isPurged, parts } = await prune(bench, { before: new Date('2024-02-10') });
  assert.deepEqual([result, isPurged, parts.length], ['erased', true, 2]);
  const { rows } = await database.query<{ relname: string }>(
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '_2024_' ORDER BY 1",
  );
  assert.deepEqual(
    rows.map(({ relname }) => relname),
    ['blocks_2024_02', 'lines_2024_02', 'message_words_2024_02', 'packs_2024_02'],
  );
  assert.deepEqual(await problemsOf(archive), []);
  assert.deepEqual(await bench.restore('2.jsonl'), Buffer.from(chatTranscript(12, 200)));
});

test('messages are indexed once, even if the ids of others that stored at the same time are between theirs', async (t) => {
  const bench = await benchOn(engine, t);
  t.after(() => database.exec('ALTER SEQUENCE line_ids INCREMENT BY 1'));
  await database.exec('ALTER SEQUENCE line_ids INCREMENT BY 2');
  for (const [at, name] of ['a.jsonl', 'b.jsonl'].entries()) {
    await database.exec(`SELECT setval('line_ids', ${1001 + at})`);
    bench.write(name, chatTranscript(12, at * 100));
    reportOf(await bench.compact(name));
  }
  const { messages } = await archive.index.measure();
  await indexAll(archive);
  const { rows } = await database.query<{ count: number }>('SELECT CAST(count(*) AS int) AS count FROM message_words');
  assert.deepEqual([rows[0]?.count, (await archive.index.measure()).messages], [messages, 0]);
  assert.deepEqual(await problemsOf(archive), []);
});

test('a check notices messages that are missing in the index of words, and words of none', async (t) => {
  const bench = await benchOn(engine, t);
  bench.write('a.jsonl', chatTranscript(12));
  reportOf(await bench.compact('a.jsonl'));
  await indexAll(archive);
  assert.deepEqual(await problemsOf(archive), []);
  await database.exec(
    'UPDATE message_words SET line_id = 999 WHERE line_id = (SELECT min(line_id) FROM message_words)',
  );
  const problems = (await problemsOf(archive)).join();
  assert.match(problems, /not in the search index/);
  assert.match(problems, /1 of its rows refers to missing messages/);
});

test('a connection that looks into another schema is refused', async (t) => {
  t.after(() => database.exec('SET search_path = compact'));
  await database.exec('SET search_path = public');
  const opened = await openOn(driver, options);
  assert.ok(!opened.ok && opened.error.kind === 'cannot-open' && opened.error.reason.includes('search_path'));
});

/** Loses the connection at each COMMIT whose number is listed, after the server has stored it, or before. */
function losing(commits: readonly number[], isStored = true): Driver {
  const state = { commits: 0 };
  return {
    ...driver,
    connect: async () => {
      const { query, release } = await driver.connect();
      return {
        release,
        query: async (sql, values) => {
          const isLost = sql === 'COMMIT' && commits.includes((state.commits += 1));
          const rows = await query(isLost && !isStored ? 'ROLLBACK' : sql, values);
          if (isLost) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          return rows;
        },
      };
    },
  };
}

test('a file of a run is recorded once, even if the answer to the commit is lost', async (t) => {
  await engine.open(t);
  const compactionId = await applied(archive, compactionDraft(1), [lineDraft(1)]);
  const run = runMark('one');
  const other = await openArchive(losing([3])); // the first two belong to the opening
  const id = await other.runs.record(run, { compactionId, sourcePath: '/a', outputPath: '/a' });
  assert.deepEqual(
    (await archive.runs.list()).flatMap(({ files }) => files.map((file) => file.id)),
    [id],
  );
});

for (const isStored of [true, false])
  test(`a merge goes on after a connection is lost, ${isStored ? 'behind' : 'before'} a commit`, async (t) => {
    const [one] = await partedArchives(t, {
      shared: [
        { kind: 'compact', conversation: 0, words: [0, 1] },
        { kind: 'capture', file: 0, grows: false, words: [1, 2] },
        { kind: 'capture', file: 1, grows: false, words: [3] },
        { kind: 'erase file', file: 0 },
        { kind: 'hold', value: 0 },
      ],
      one: [],
      other: [],
    });
    const whole = fileTarget(join(folderWith(t, {}), 'whole.db'));
    await merge(whole, [one]);
    const target = { place: (await engine.open(t)).path, exchange, open: () => openArchive() };
    // The first two belong to the opening. A transaction that is repeated has a number of its own.
    const openTarget = () => openHere(openSqlTarget, losing([3, 5, 7, 9, 11, 13, 15, 17], isStored));
    await merge({ ...target, exchange: { ...exchange, openTarget } }, [one]);
    assert.deepEqual(await contentsOf(target), await contentsOf(whole));
  });

for (const { what, sql, undo } of [
  {
    what: 'with other tables',
    sql: "UPDATE archive_version SET schema_sha256 = 'x' || schema_sha256",
    undo: 'UPDATE archive_version SET schema_sha256 = substr(schema_sha256, 2)',
  },
  {
    what: 'before schemas had a hash',
    sql: 'ALTER TABLE archive_version RENAME schema_sha256 TO other',
    undo: 'ALTER TABLE archive_version RENAME other TO schema_sha256',
  },
]) {
  test(`an archive of an earlier build, ${what}, is refused`, async () => {
    await database.exec(sql);
    const opened = await openOn({ ...driver, close: async () => undefined }, options);
    await database.exec(undo);
    assert.ok(!opened.ok && opened.error.kind === 'cannot-open', JSON.stringify(opened));
    assert.match(opened.error.reason, /^another version of compact may have made it: its tables/);
    await openArchive();
  });
}

test('whoever connects as a superuser is told, once', async () => {
  const said: string[] = [];
  assert.ok((await openOn(driver, { ...options, notice: (message) => said.push(message) })).ok);
  assert.equal(said.length, 1);
  assert.match(
    said[0] ?? '',
    /is a superuser of the server\. Use a role that owns only the archive: 'compact archive grants owner'/,
  );
});

test('a backup of an archive on a server says what makes one', async (t) => {
  const backup = (await engine.open(t)).backup('/nowhere', () => undefined);
  await assert.rejects(backup, ({ failure }: ArchiveError) => JSON.stringify(failure).includes("-n compact -f FILE'"));
});
