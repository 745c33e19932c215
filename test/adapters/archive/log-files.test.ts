import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { test, type TestContext } from 'node:test';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { openAt, tempFolder } from './drafts.ts';

const NOTES = 'what the user wrote\n'.repeat(2000);
const STRANGER = 4321;

/** An archive that nobody has open, and a file of the user's beside it. */
function scene(t: TestContext) {
  const folder = tempFolder(t);
  const path = join(folder, 'memory.db');
  openAt(path).close();
  const notes = join(folder, 'notes.txt');
  writeFileSync(notes, NOTES);
  return { path, notes };
}

const PLANT: Readonly<Record<string, (log: string, notes: string) => void>> = {
  'is a symbolic link': (log, notes) => symlinkSync(notes, log),
  'is a file that has another name too': (log, notes) => linkSync(notes, log),
  'is not a regular file': (log) => execFileSync('mkfifo', [log]),
};

for (const ending of ['-journal', '-wal', '-shm']) {
  for (const [fault, plant] of Object.entries(PLANT)) {
    test(`an archive is not opened where its ${ending} ${fault}`, { skip: process.platform === 'win32' }, (t) => {
      const { path, notes } = scene(t);
      plant(path + ending, notes);
      const reason = `memory.db${ending} beside it ${fault}; if you did not put it there, remove it`;
      for (const create of [true, false]) {
        assert.deepEqual(openSqliteArchive({ path, create }), {
          ok: false,
          error: { kind: 'cannot-open', path, reason },
        });
      }
      assert.equal(readFileSync(notes, 'utf8'), NOTES);
    });
  }
}

const isRoot = getuid?.() === 0;

test(
  "another user's log is not used, unless the archive is shared",
  { skip: !isRoot && 'only root may give away' },
  (t) => {
    const { path } = scene(t);
    writeFileSync(`${path}-journal`, '');
    chownSync(`${path}-journal`, STRANGER, STRANGER);
    const reason = `memory.db-journal beside it belongs to another user (uid ${STRANGER}); if you did not put it there, remove it`;
    assert.deepEqual(openSqliteArchive({ path }), { ok: false, error: { kind: 'cannot-open', path, reason } });
    chmodSync(path, 0o660);
    openAt(path).close();
  },
);

test("root uses the log of the archive's owner", { skip: !isRoot && 'only root may give away' }, (t) => {
  const { path } = scene(t);
  writeFileSync(`${path}-journal`, '');
  for (const file of [path, `${path}-journal`]) chownSync(file, STRANGER, STRANGER);
  openAt(path).close();
});

for (const name of ['notes.txt', 'notes.txt-mj0123456789']) {
  test(`a planted journal cannot have ${name} deleted by calling it the journal above it`, (t) => {
    const { path, notes } = scene(t);
    const named = notes.replace(/notes\.txt$/, name);
    writeFileSync(named, NOTES);
    writeFileSync(`${path}-journal`, journalBelow(named, readFileSync(path)));
    openAt(path).close();
    assert.ok(!existsSync(`${path}-journal`), 'the journal was taken in');
    assert.equal(readFileSync(named, 'utf8'), NOTES);
  });
}

/** A rollback journal without pages that names a super-journal. SQLite's file format, sections 3 and 3.1. */
function journalBelow(superJournal: string, database: Buffer): Uint8Array {
  const magic = Buffer.from('d9d505f920a163d7', 'hex');
  const pageBytes = database.readUInt16BE(16);
  const header = Buffer.alloc(512);
  magic.copy(header);
  [0, 1, database.length / pageBytes, header.length, pageBytes].forEach((value, at) => {
    header.writeUInt32BE(value, 8 + 4 * at);
  });
  const name = Buffer.from(superJournal);
  const lockPage = Buffer.alloc(4);
  lockPage.writeUInt32BE(0x40000000 / pageBytes + 1);
  const lengthAndSum = Buffer.alloc(8);
  lengthAndSum.writeUInt32BE(name.length);
  lengthAndSum.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    4,
  );
  return Buffer.concat([header, lockPage, name, lengthAndSum, magic]);
}
