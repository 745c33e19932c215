import assert from 'node:assert/strict';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Sqlite, { type Database } from 'better-sqlite3';
import { createProducerIndexes } from '../../../src/adapters/producer-index/producer-indexes.ts';

const THREAD = '019b7e00-0000-7000-8000-000000000001';
const OTHER = '019b7e00-0000-7000-8000-000000000002';
const TABLES = ['thread_turns', 'thread_items', 'thread_realtime_items', 'thread_history_projection_state'];

type Scene = { readonly home: string; readonly index: string; readonly rollout: string };

/** A home of Codex with a rollout in it and, unless `make` does something else, an index of two threads. */
function sceneFor(t: TestContext, make: (db: Database) => void = fillIndex): Scene {
  const home = mkdtempSync(join(tmpdir(), 'compact-codex-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, 'sessions/2026/03/02');
  mkdirSync(folder, { recursive: true });
  const rollout = join(folder, `rollout-2026-03-02T10-00-00-${THREAD}.jsonl`);
  writeFileSync(rollout, '{}\n');
  const index = join(home, 'thread_history_1.sqlite');
  const db = new Sqlite(index);
  make(db);
  db.close();
  return { home, index, rollout };
}

function fillIndex(db: Database): void {
  db.pragma('journal_mode = WAL');
  db.exec(`
    CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT);
    CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT, rollout_ordinal INTEGER, rollout_byte_offset INTEGER);
    CREATE UNIQUE INDEX idx_thread_turns_page ON thread_turns(thread_id, rollout_ordinal);
    CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT, item_json TEXT);
    CREATE TABLE thread_realtime_items (thread_id TEXT, item_id TEXT, item_json TEXT);
    CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER);
    CREATE TRIGGER thread_realtime_items_projection_cleanup
      AFTER DELETE ON thread_history_projection_state
    BEGIN
      DELETE FROM thread_realtime_items WHERE thread_id = OLD.thread_id;
    END;
  `);
  for (const thread of [THREAD, OTHER])
    for (const table of TABLES) db.prepare(`INSERT INTO ${table} (thread_id) VALUES (?)`).run(thread);
}

async function reset({ rollout }: Pick<Scene, 'rollout'>, environment = {}): Promise<string | null> {
  return createProducerIndexes(environment).reset({ path: rollout, format: 'codex' });
}

/** The threads that each table has rows of. */
function threadsIn({ index }: Scene): readonly (readonly unknown[])[] {
  const db = new Sqlite(index, { readonly: true });
  const threads = TABLES.map((table) => db.prepare(`SELECT thread_id FROM ${table} ORDER BY 1`).pluck().all());
  db.close();
  return threads;
}

const BOTH = TABLES.map(() => [THREAD, OTHER]);

test('what the index has of the rollout is removed, and nothing else', async (t) => {
  const scene = sceneFor(t);
  assert.equal(await reset(scene), null);
  assert.deepEqual(
    threadsIn(scene),
    TABLES.map(() => [OTHER]),
  );
});

test('an archived, packed rollout leads to the index too', async (t) => {
  const scene = sceneFor(t);
  const rollout = join(scene.home, 'archived_sessions', `rollout-2026-03-02T10-00-00-${THREAD}.jsonl.zst`);
  assert.equal(await reset({ rollout }), null);
  assert.deepEqual(threadsIn(scene)[0], [OTHER]);
});

test('the index is found in the folder that CODEX_SQLITE_HOME names', async (t) => {
  const scene = sceneFor(t);
  const elsewhere = sceneFor(t);
  rmSync(scene.index);
  assert.equal(await reset(scene, { CODEX_SQLITE_HOME: elsewhere.home }), null);
  assert.deepEqual(threadsIn(elsewhere)[0], [OTHER]);
});

test('a rollout that lies elsewhere, or another file, touches no index', async (t) => {
  const scene = sceneFor(t);
  const copy = join(scene.home, `rollout-2026-03-02T10-00-00-${THREAD}.jsonl`);
  const renamed = join(dirname(scene.rollout), 'talk.jsonl');
  for (const rollout of [copy, renamed]) assert.equal(await reset({ rollout }), null);
  const pi = await createProducerIndexes({}).reset({ path: scene.rollout, format: 'pi' });
  assert.equal(pi, null);
  assert.deepEqual(threadsIn(scene), BOTH);
});

test('nothing is made where there is no index', async (t) => {
  const scene = sceneFor(t);
  rmSync(scene.index);
  assert.equal(await reset(scene), null);
  assert.throws(() => readFileSync(scene.index), { code: 'ENOENT' });
});

test('an index that Codex is writing to is left as it is, with the way out', async (t) => {
  const scene = sceneFor(t);
  const codex = new Sqlite(scene.index);
  t.after(() => codex.close());
  codex.exec('BEGIN IMMEDIATE');
  assert.match((await reset(scene)) ?? '', /Codex is using it.*close Codex and delete that index/);
  codex.exec('ROLLBACK');
  assert.deepEqual(threadsIn(scene), BOTH);
});

const FOREIGN: Readonly<Record<string, string>> = {
  'another trigger': `CREATE TRIGGER extra AFTER DELETE ON thread_items BEGIN DELETE FROM thread_turns; END`,
  'the known trigger with another body': `DROP TRIGGER thread_realtime_items_projection_cleanup;
    CREATE TRIGGER thread_realtime_items_projection_cleanup AFTER DELETE ON thread_history_projection_state
    BEGIN DELETE FROM thread_turns; END`,
  'a view': 'CREATE VIEW notes AS SELECT 1',
  'another table': 'CREATE TABLE notes (thread_id TEXT)',
  'another column': 'ALTER TABLE thread_items ADD COLUMN shard INTEGER',
  'a virtual table': 'CREATE VIRTUAL TABLE words USING fts5(text)',
};

for (const [what, sql] of Object.entries(FOREIGN)) {
  test(`a schema with ${what} is left as it is`, async (t) => {
    const scene = sceneFor(t, (db) => {
      fillIndex(db);
      db.exec(sql);
    });
    assert.match((await reset(scene)) ?? '', /does not know its schema/);
    assert.deepEqual(threadsIn(scene), BOTH);
  });
}

test('a file that is no database is left as it is', async (t) => {
  const scene = sceneFor(t);
  writeFileSync(scene.index, 'not a database, but somebody needs it\n'.repeat(200));
  const before = readFileSync(scene.index);
  assert.match((await reset(scene)) ?? '', /it is not a database/);
  assert.deepEqual(readFileSync(scene.index), before);
});

const SUFFIXES = ['', '-wal', '-shm', '-journal'];

for (const suffix of SUFFIXES) {
  for (const plant of [symlinkSync, linkSync]) {
    test(`a ${plant === linkSync ? 'hard' : 'symbolic'} link at the index's ${suffix || 'own'} name is not followed`, async (t) => {
      const scene = sceneFor(t);
      const victim = join(scene.home, 'victim');
      if (suffix === '') {
        writeFileSync(victim, readFileSync(scene.index));
        rmSync(scene.index);
      } else {
        writeFileSync(victim, 'a private key\n');
      }
      const before = readFileSync(victim);
      plant(victim, `${scene.index}${suffix}`);
      assert.match((await reset(scene)) ?? '', /is not a regular file|has other names/);
      assert.deepEqual(readFileSync(victim), before);
    });
  }
}

test('a folder that everybody may write to is not trusted', async (t) => {
  const scene = sceneFor(t);
  chmodSync(scene.home, 0o777);
  assert.match((await reset(scene)) ?? '', /anyone can write to its folder/);
  assert.deepEqual(threadsIn(scene), BOTH);
});
