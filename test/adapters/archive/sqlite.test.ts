import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
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

test('nothing but the archive is left in its folder when it is made', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  openAt(path).close();
  assert.deepEqual(readdirSync(join(path, '..')), ['archive.db']);
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

test('what was stored is there after closing and opening again', async (t) => {
  const path = await filledArchive(t);
  const archive = openAt(path);
  t.after(() => archive.close());
  assert.equal((await archive.readLines(1)).length, 2000);
});

test('a closed archive is one file with a write-ahead log for its journal', async (t) => {
  const path = await filledArchive(t);
  assert.deepEqual(readdirSync(join(path, '..')), ['archive.db']);
  const db = new Database(path);
  t.after(() => db.close());
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
});

test('a missing archive is not made by one who only wants to read', async (t) => {
  const path = join(tempFolder(t), 'sub', 'archive.db');
  assert.deepEqual(refusal({ path, create: false }), { kind: 'cannot-open', path, reason: 'it does not exist' });
  assert.equal(existsSync(join(path, '..')), false);
});

test('an existing archive is opened by one who only wants to read', async (t) => {
  const opened = openSqliteArchive({ path: await filledArchive(t), create: false });
  assert.ok(opened.ok);
  t.after(() => opened.value.close());
  assert.equal((await toTestArchive(opened.value).port.loadCompaction(1))?.status, 'applied');
});

test('a folder is refused', async (t) => {
  const path = tempFolder(t);
  assert.deepEqual(refusal({ path }), { kind: 'cannot-open', path, reason: 'it is a folder' });
});

test('a path through a file is refused', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'file'), 'x');
  const path = join(folder, 'file', 'archive.db');
  assert.deepEqual(refusal({ path }), {
    kind: 'cannot-open',
    path,
    reason: 'a part of its path is a file, not a folder',
  });
});

test('a name that ends in white space is refused, for SQLite would open another file', async (t) => {
  const path = `${join(tempFolder(t), 'archive.db')} `;
  assert.deepEqual(refusal({ path }), { kind: 'cannot-open', path, reason: 'its name ends in white space' });
});

for (const [what, bytes] of [
  ['a short text', 'hello'],
  ['a long text', 'no database\n'.repeat(1000)],
  ['zeros', Buffer.alloc(8192)],
] as const) {
  test(`${what} is no archive and stays as it is`, async (t) => {
    const path = join(tempFolder(t), 'archive.db');
    writeFileSync(path, bytes);
    assert.deepEqual(refusal({ path }), { kind: 'not-ours', path, reason: 'it is not an SQLite database' });
    assert.deepEqual(readFileSync(path), Buffer.from(bytes));
  });
}

for (const setup of [
  'CREATE TABLE notes (text)',
  'PRAGMA journal_mode = WAL; CREATE TABLE notes (text)',
  'PRAGMA application_id = 7',
  'PRAGMA user_version = 1',
  'CREATE TABLE notes (text); DROP TABLE notes',
]) {
  test(`another program's database (${setup}) is refused and stays as it is`, async (t) => {
    const path = join(tempFolder(t), 'archive.db');
    const db = new Database(path);
    db.exec(setup);
    db.close();
    const before = readFileSync(path);
    assert.deepEqual(refusal({ path }), { kind: 'not-ours', path, reason: "it is another program's SQLite database" });
    assert.deepEqual(readFileSync(path), before);
  });
}

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
    /another build of compact .* its table "inserted_lines" is missing$/,
  );
});

test('an archive that was cut off is damaged', async (t) => {
  const path = await filledArchive(t);
  truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
  const failure = await rejectedFailure(async () => {
    const opened = openSqliteArchive({ path });
    if (!opened.ok) throw Object.assign(new Error('refused'), { failure: opened.error });
    t.after(() => opened.value.close());
    return toTestArchive(opened.value).readLines(1);
  });
  assert.equal(failure.kind, 'damaged');
});

test('a page of the archive that was overwritten is damage', async (t) => {
  const path = await filledArchive(t);
  const bytes = readFileSync(path);
  const pages = bytes.length / 4096;
  bytes.fill(0xa5, Math.floor(pages / 3) * 4096);
  writeFileSync(path, bytes);
  const failure = await rejectedFailure(async () => {
    const opened = openSqliteArchive({ path });
    if (!opened.ok) throw Object.assign(new Error('refused'), { failure: opened.error });
    t.after(() => opened.value.close());
    return toTestArchive(opened.value).readLines(1);
  });
  assert.equal(failure.kind, 'damaged');
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

test('a folder that cannot hold the archive is said with its reason', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'a'.repeat(200)));
  const path = join(folder, 'b'.repeat(300), 'archive.db');
  assert.deepEqual(refusal({ path }), {
    kind: 'cannot-open',
    path,
    reason: 'its name or its path is too long',
    advice: 'Name a shorter one.',
  });
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
