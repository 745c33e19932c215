import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { collect } from '../../support/collect.ts';
import {
  applied,
  compactionDraft,
  lineDraft,
  messageDraft,
  rejectedFailure,
  tempArchive,
  utf8,
  type TestArchive,
} from './drafts.ts';

const MIB = 1024 ** 2;
const CANNOT_UNPACK = 'the block of archived lines that begins with source line 1 cannot be decompressed';

/** An archive of three lines in one block, after somebody changed it. */
async function hostileArchive(t: TestContext, work: (db: Database.Database) => void): Promise<TestArchive> {
  const archive = tempArchive(t);
  const lines = [1, 2, 3].map((line) => lineDraft(line, { bytes: utf8(`line ${line}\n`), message: messageDraft() }));
  await applied(archive, compactionDraft(3), lines);
  const db = new Database(archive.path);
  work(db);
  db.close();
  return archive;
}

/** What each way of reading its lines comes to. */
async function readings({ port }: TestArchive): Promise<readonly string[]> {
  const reads = [() => collect(port.readLines(1)), () => collect(port.readOriginals(1)), () => port.readLine(1)];
  const failures = await Promise.all(reads.map(rejectedFailure));
  return failures.map((failure) => ('reason' in failure ? failure.reason : failure.kind));
}

const setBlock = (data: Uint8Array, rawSizeBytes: number) => (db: Database.Database) =>
  db.prepare('UPDATE packs SET data = ?, raw_size_bytes = ?').run(data, rawSizeBytes);

for (const { what, data, claimed } of [
  { what: 'holds more than it claims', data: Buffer.alloc(512 * MIB), claimed: 21 },
  { what: 'holds less than it claims', data: Buffer.alloc(21), claimed: 200 * MIB },
  { what: 'claims more than any block may have', data: Buffer.alloc(257 * MIB), claimed: 257 * MIB },
  { what: 'claims less than nothing', data: Buffer.alloc(21), claimed: -1 },
]) {
  test(`a block that ${what} is damage`, async (t) => {
    const archive = await hostileArchive(t, setBlock(zstdCompressSync(data), claimed));
    assert.deepEqual(await readings(archive), [CANNOT_UNPACK, CANNOT_UNPACK, CANNOT_UNPACK]);
  });
}

test('lines that all claim the whole of a block are damage, and are not hashed one after the other', async (t) => {
  const raw = Buffer.alloc(200 * MIB);
  const count = 20_000;
  const archive = await hostileArchive(t, (db) => {
    setBlock(zstdCompressSync(raw), raw.length)(db);
    db.exec(`UPDATE compactions SET source_line_count = ${count}; DELETE FROM lines`);
    const insert = db.prepare(
      'INSERT INTO lines (block_id, line, offset, size_bytes, outcome, batch_id, traits, sha256) VALUES (1, ?, 0, ?, 0, 1, 0, ?)',
    );
    const sha256 = hash('sha256', raw, 'buffer').subarray(0, 16);
    db.transaction(() => {
      for (let line = 1; line <= count; line += 1) insert.run(line, raw.length, sha256);
    })();
    for (const table of ['blocks', 'batches'])
      db.exec(`UPDATE ${table} SET (first_line_id, last_line_id) = (SELECT min(id), max(id) FROM lines) WHERE id = 1`);
  });
  const reason = 'archived source line 2 is not behind the one before it';
  const { port } = archive;
  for (const read of [() => collect(port.readLines(1)), () => collect(port.readOriginals(1))])
    assert.deepEqual(await rejectedFailure(read), { kind: 'damaged', path: archive.path, reason });
  const check = (await collect(port.check())).flatMap((step) => (step.kind === 'damage' ? [step.damage.kind] : []));
  assert.ok(check.includes('block'), check.join());
});

test('our own line in an output that claims too much is damage', async (t) => {
  const archive = await hostileArchive(t, (db) => {
    db.prepare('UPDATE inserted_lines SET text_size = ?').run(300 * MIB);
  });
  assert.equal((await rejectedFailure(() => archive.port.loadCompaction(1))).kind, 'damaged');
});
