import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../../src/adapters/archive/sqlite/schema.ts';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import type { ArchiveFailure } from '../../../src/ports/archive.ts';
import {
  applied,
  compactionDraft,
  lineDraft,
  openAt,
  tempArchive,
  tempFolder,
  rejectedFailure,
  toTestArchive,
} from './drafts.ts';
import { runMark } from '../../support/run-mark.ts';

function refusal(options: Parameters<typeof openSqliteArchive>[0]): ArchiveFailure {
  const opened = openSqliteArchive(options);
  if (!opened.ok) return opened.error;
  opened.value.close();
  throw new Error('it was opened');
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** An archive with 2,000 lines, closed. */
async function filledArchive(t: TestContext): Promise<string> {
  const path = join(tempFolder(t), 'archive.db');
  const archive = openAt(path);
  const lines = Array.from({ length: 2000 }, (_, at) =>
    lineDraft(at + 1, { bytes: Buffer.from(`{"n":${Math.sin(at)}}\n`) }),
  );
  await applied(archive, compactionDraft(lines.length), lines);
  archive.close();
  return path;
}

test('a new archive and its folders are for their owner alone', async (t) => {
  const folder = join(tempFolder(t), 'data', 'compact');
  const path = join(folder, 'archive.db');
  const archive = openAt(path);
  await applied(archive, compactionDraft(1), [lineDraft(1)]);
  const modes = [join(folder, '..'), folder, path, `${path}-wal`, `${path}-shm`].map(modeOf);
  archive.close();
  assert.deepEqual(modes, ['700', '700', '600', '600', '600']);
});

test('an empty file is somebody else’s and stays as it is', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  writeFileSync(path, '', { mode: 0o644 });
  for (const create of [true, false]) {
    assert.deepEqual(refusal({ path, create }), { kind: 'not-ours', path, reason: 'it is empty' });
  }
  assert.deepEqual([modeOf(path), statSync(path).size], ['644', 0]);
});

test('the log of an archive that is gone is not taken into a new one', async (t) => {
  const path = await filledArchive(t);
  const holder = new Database(path);
  holder.exec("UPDATE compactions SET status = 'prepared'");
  const log = readFileSync(`${path}-wal`);
  holder.close();
  rmSync(path);
  writeFileSync(`${path}-wal`, log);
  const reason =
    'archive.db-wal beside it is the log of an archive that is gone: move it away, or put that archive back';
  assert.deepEqual(refusal({ path }), { kind: 'cannot-open', path, reason });
  assert.deepEqual([existsSync(path), readFileSync(`${path}-wal`).equals(log)], [false, true]);
});

test('a link that leads to no file yet becomes an archive where it leads', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'a'));
  symlinkSync('../second.db', join(folder, 'a/link.db'));
  symlinkSync(join(folder, 'real.db'), join(folder, 'second.db'));
  openAt(join(folder, 'a/link.db')).close();
  assert.equal(modeOf(join(folder, 'real.db')), '600');
  symlinkSync('loop.db', join(folder, 'loop.db'));
  const path = join(folder, 'loop.db');
  assert.deepEqual(refusal({ path }), { kind: 'cannot-open', path, reason: 'the system says ELOOP' });
});

test('what was stored is there after closing and opening again, to write or only to read', async (t) => {
  const path = await filledArchive(t);
  for (const create of [true, false]) {
    const opened = openSqliteArchive({ path, create });
    assert.ok(opened.ok);
    assert.equal((await toTestArchive(opened.value).readLines(1)).length, 2000);
    await opened.value.close();
  }
});

test('a closed archive is one file with a write-ahead log for its journal', async (t) => {
  const path = await filledArchive(t);
  assert.deepEqual(readdirSync(join(path, '..')), ['archive.db']);
  const db = new Database(path);
  t.after(() => db.close());
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
});

const long = ['b'.repeat(300), 'archive.db'];
const PLACES = {
  'that is a folder': [[], 'it is a folder'],
  'through a file': [['file', 'archive.db'], 'a part of its path is a file, not a folder'],
  'that ends in white space, for SQLite would open another file': [['archive.db '], 'its name ends in white space'],
  'that is too long': [long, 'its name or its path is too long', { advice: 'Name a shorter one.' }],
  'of a missing archive that is only to be read': [['sub', 'archive.db'], 'it does not exist', {}, false],
} as const;

for (const [what, [names, reason, more = {}, create = true]] of Object.entries(PLACES))
  test(`a path ${what} is refused`, (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'file'), 'x');
    const path = join(folder, ...names);
    assert.deepEqual(refusal({ path, create }), { kind: 'cannot-open', path, reason, ...more });
    assert.deepEqual(readdirSync(folder), ['file']);
  });

const database = (setup: string) => (path: string) => {
  const db = new Database(path);
  db.exec(setup);
  db.close();
};
const NO_DATABASE = 'it is not an SQLite database';
const OTHER_PROGRAM = "it is another program's SQLite database";
const FOREIGN: readonly (readonly [what: string, make: (path: string) => void, reason: string])[] = [
  ['a short text', (path) => writeFileSync(path, 'hello'), NO_DATABASE],
  ['a long text', (path) => writeFileSync(path, 'no database\n'.repeat(1000)), NO_DATABASE],
  ['a file of zeros', (path) => writeFileSync(path, Buffer.alloc(8192)), NO_DATABASE],
  ...[
    'CREATE TABLE notes (text)',
    'PRAGMA journal_mode = WAL; CREATE TABLE notes (text)',
    'PRAGMA application_id = 7',
    'PRAGMA user_version = 1',
    'CREATE TABLE notes (text); DROP TABLE notes',
  ].map((setup) => [`another program's database (${setup})`, database(setup), OTHER_PROGRAM] as const),
];

for (const [what, make, reason] of FOREIGN)
  test(`${what} is refused and stays as it is`, (t) => {
    const path = join(tempFolder(t), 'archive.db');
    make(path);
    const before = readFileSync(path);
    assert.deepEqual(refusal({ path }), { kind: 'not-ours', path, reason });
    assert.deepEqual(readFileSync(path), before);
  });

test('an archive of a newer schema is refused and stays as it is', async (t) => {
  const path = await filledArchive(t);
  const db = new Database(path);
  db.pragma('user_version = 99');
  db.close();
  const before = readFileSync(path);
  assert.deepEqual(refusal({ path }), { kind: 'newer', path, version: 99, supported: SCHEMA_VERSION });
  assert.deepEqual(readFileSync(path), before);
});

test('an archive without one of its tables is refused', async (t) => {
  const path = await filledArchive(t);
  const db = new Database(path);
  db.exec('DROP TABLE inserted_lines');
  db.close();
  const refused = refusal({ path });
  assert.equal(refused.kind, 'cannot-open');
  assert.match(
    String('reason' in refused && refused.reason),
    /another version of compact .* its table "inserted_lines" is missing$/,
  );
});

test('an archive that another process writes to is busy when the wait is over', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  openAt(path).close();
  const other = new Database(path);
  t.after(() => other.close());
  const opened = openSqliteArchive({ path, busyTimeoutMs: 1 });
  assert.ok(opened.ok);
  t.after(() => opened.value.close());
  other.exec('BEGIN IMMEDIATE');
  assert.deepEqual(await rejectedFailure(() => toTestArchive(opened.value).store(compactionDraft(1), [lineDraft(1)])), {
    kind: 'busy',
    path,
  });
});

test('one who brings an archive up to date waits for another that is at it', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const other = new Database(path);
  t.after(() => other.close());
  other.exec(`PRAGMA application_id = ${APPLICATION_ID}; BEGIN IMMEDIATE`);
  const startMs = performance.now();
  assert.deepEqual(refusal({ path, busyTimeoutMs: 30 }), { kind: 'busy', path });
  assert.ok(performance.now() - startMs >= 30);
});

test('a reader sees the archive as it was while another process writes to it', async (t) => {
  const archive = tempArchive(t);
  const id = await applied(archive, compactionDraft(1), [lineDraft(1)]);
  const other = new Database(archive.path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  other.exec("UPDATE compactions SET status = 'prepared'");
  assert.equal((await archive.port.loadCompaction(id))?.status, 'applied');
});

test(
  'an archive below a folder that the system makes none in is refused at once',
  { skip: process.platform !== 'linux' },
  () => {
    for (const path of ['/proc/foo/x.db', '/proc/foo/bar/baz/x.db', '/proc/1/foo/x.db']) {
      const reason = 'a folder of its path does not exist and cannot be created';
      assert.deepEqual(refusal({ path }), { kind: 'cannot-open', path, reason });
    }
  },
);

test('the paths of a compaction are stored once, and others with the file that has them', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const archive = openAt(path);
  const [first, second] = [runMark('a', new Date(0)), runMark('b', new Date(1))];
  const compactionId = await applied(archive, compactionDraft(1, { run: first }), [lineDraft(1)]);
  await archive.runs.record(second, { compactionId, sourcePath: '/copies/a', outputPath: null });
  archive.close();
  const db = new Database(path, { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('SELECT source_path, output_path FROM run_files ORDER BY id').raw().all(), [
    [null, null],
    ['/copies/a', null],
  ]);
});

test('a closed archive opens nothing again, whatever is called', async (t) => {
  const folder = tempFolder(t);
  const archive = openAt(join(folder, 'archive.db'));
  const isBegun = assert.rejects(archive.measure(), /closed|not open/);
  await archive.close();
  await isBegun;
  await assert.rejects(archive.log.add({ action: 'prune', doneAt: new Date(0), details: '{}' }), /closed|not open/);
  await assert.rejects(archive.runs.list(), /closed|not open/);
  assert.deepEqual(readdirSync(folder), ['archive.db']);
});
