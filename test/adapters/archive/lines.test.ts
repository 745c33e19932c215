import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import type { LineDraft } from '../../../src/ports/archive.ts';
import {
  applied,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  tempArchive,
  thrownFailure,
  utf8,
  type TestArchive,
} from './drafts.ts';

function storeBytes(archive: TestArchive, contents: readonly Uint8Array[]): number {
  return archive.store(
    compactionDraft(contents.length),
    contents.map((bytes, at) => lineDraft(at + 1, { bytes })),
  );
}

function readBytes(archive: TestArchive, id: number): readonly Uint8Array[] {
  return [...archive.readLines(id)].map(({ bytes }) => bytes);
}

/** Big arrays are not compared as they are: the difference of two of them takes minutes to print. */
function fingerprint(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${sha256(bytes)}`;
}

function execute(archive: TestArchive, sql: string, ...values: readonly unknown[]): void {
  const db = new Database(archive.path);
  db.pragma('foreign_keys = OFF');
  db.prepare(sql).run(...values);
  db.close();
}

test('a line comes back with all that is known of it', (t) => {
  const archive = tempArchive(t);
  const bytes = utf8('{"odd":"\u2028"}\r\n');
  const id = archive.store(compactionDraft(1), [lineDraft(1, { bytes, message: messageDraft({ index: 7 }) })]);
  assert.deepEqual(
    [...archive.readLines(id)],
    [{ id: 1, line: 1, outcome: 'summarized', cycleId: 1, batchId: 1, bytes, messageIndex: 7, erased: null }],
  );
});

test('any lines of any outcome come back in order', (t) => {
  const archive = tempArchive(t);
  const line = fc.record({
    bytes: fc.uint8Array({ maxLength: 2000 }),
    outcome: fc.constantFrom('summarized', 'other', 'quoted'),
    isLoose: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 250 }), (drafts) => {
      const lines = drafts.map(({ bytes, outcome, isLoose }, at) =>
        lineDraft(
          at + 1,
          outcome === 'summarized' ? { bytes, outcome } : { bytes, outcome, cycle: isLoose ? null : 0, batch: null },
        ),
      );
      const id = archive.store(compactionDraft(lines.length), lines);
      const cycleId = archive.loadCompaction(id)?.cycles[0]?.id ?? 0;
      assert.deepEqual(
        [...archive.readLines(id)].map(({ line, bytes, outcome, cycleId }) => ({ line, bytes, outcome, cycleId })),
        lines.map(({ line, bytes, outcome, cycle }) => ({
          line,
          bytes,
          outcome,
          cycleId: cycle === null ? null : cycleId,
        })),
      );
    }),
    { numRuns: 30 },
  );
});

test('a line may be empty, or the whole of a block', (t) => {
  const archive = tempArchive(t);
  const contents = [0, 1024 * 1024, 0, 1024 * 1024 + 1, 1, 1024 * 1024 - 1, 2].map((size, at) =>
    new Uint8Array(size).fill(at),
  );
  assert.deepEqual(readBytes(archive, storeBytes(archive, contents)).map(fingerprint), contents.map(fingerprint));
});

test('a line of 40 MB comes back', (t) => {
  const archive = tempArchive(t);
  const huge = new Uint8Array(40 * 1024 * 1024);
  for (let at = 0; at < huge.length; at += 1) huge[at] = (at * 31 + (at >> 8)) & 0xff;
  const contents = [utf8('before\n'), huge, utf8('after')];
  assert.deepEqual(readBytes(archive, storeBytes(archive, contents)).map(fingerprint), contents.map(fingerprint));
});

test("a line's bytes are taken before the next line is asked for", (t) => {
  const archive = tempArchive(t);
  const buffer = new Uint8Array(3);
  function* lines(): IterableIterator<LineDraft> {
    for (let line = 1; line <= 250; line += 1) yield lineDraft(line, { bytes: buffer.fill(line) });
  }
  const id = archive.store(compactionDraft(250), lines());
  assert.deepEqual(
    readBytes(archive, id),
    Array.from({ length: 250 }, (_, at) => new Uint8Array(3).fill(at + 1)),
  );
});

test('lines that were read stay as they are while more are read', (t) => {
  const archive = tempArchive(t);
  const contents = Array.from({ length: 300 }, (_, at) => utf8(`line ${at}\n`));
  const read = archive.readLines(storeBytes(archive, contents));
  const first = read.next().value?.bytes;
  assert.equal([...read].length, 299);
  assert.deepEqual(first, contents[0]);
});

test('the archive can be used while its lines are read, and after a reading that stopped half-way', (t) => {
  const archive = tempArchive(t);
  const id = storeBytes(
    archive,
    Array.from({ length: 300 }, (_, at) => utf8(`line ${at}\n`)),
  );
  const reading = archive.readLines(id);
  reading.next();
  archive.markApplied(id);
  reading.next();
  storeBytes(archive, [utf8('more')]);
  assert.equal(archive.loadCompaction(id)?.status, 'applied');
});

test('the lines of an unknown compaction are none', (t) => {
  assert.deepEqual([...tempArchive(t).readLines(9)], []);
});

test('a line that differs from its hash is damage that names the line', (t) => {
  const archive = tempArchive(t);
  const id = storeBytes(archive, ['one\n', 'two\n', 'three\n'].map(utf8));
  execute(archive, 'UPDATE lines SET sha256 = ? WHERE line = 2', Buffer.alloc(32));
  assert.deepEqual(
    thrownFailure(() => readBytes(archive, id)),
    { kind: 'damaged', path: archive.path, reason: 'archived source line 2 differs from its hash' },
  );
});

test('one bent byte anywhere in a block is damage', (t) => {
  const archive = tempArchive(t);
  const id = storeBytes(
    archive,
    Array.from({ length: 8 }, (_, at) => utf8(`line ${at} of the log\n`)),
  );
  const db = new Database(archive.path);
  t.after(() => db.close());
  const block = db.prepare<[], Buffer>('SELECT data FROM blocks').pluck().get();
  assert.ok(block);
  const update = db.prepare('UPDATE blocks SET data = ?');
  const kinds = Array.from(block, (_, at) => {
    const bent = Buffer.from(block);
    bent[at] = (bent[at] ?? 0) ^ 0x11;
    update.run(bent);
    return thrownFailure(() => readBytes(archive, id)).kind;
  });
  assert.deepEqual(new Set(kinds), new Set(['damaged']));
});

test('a block that cannot be decompressed is damage that names its first line', (t) => {
  const archive = tempArchive(t);
  const id = storeBytes(
    archive,
    Array.from({ length: 150 }, (_, at) => utf8(`${'wide '.repeat(2000)}${at}\n`)),
  );
  execute(archive, 'UPDATE blocks SET data = ? WHERE position = 1', Buffer.from('no zstd'));
  assert.deepEqual(
    thrownFailure(() => readBytes(archive, id)),
    {
      kind: 'damaged',
      path: archive.path,
      reason: 'the block of archived lines that begins with source line 105 cannot be decompressed',
    },
  );
});

for (const sizeBytes of [3, 5]) {
  test(`a block of 4 bytes that should have ${sizeBytes} is damage`, (t) => {
    const archive = tempArchive(t);
    const id = storeBytes(archive, [utf8('one\n')]);
    execute(archive, 'UPDATE blocks SET raw_size_bytes = ?', sizeBytes);
    assert.equal(thrownFailure(() => readBytes(archive, id)).kind, 'damaged');
  });
}

for (const table of ['blocks', 'lines']) {
  test(`rows of ${table} that were deleted by hand are missed`, (t) => {
    const archive = tempArchive(t);
    const id = storeBytes(
      archive,
      Array.from({ length: 150 }, (_, at) => utf8(`${'wide '.repeat(2000)}${at}\n`)),
    );
    execute(archive, `DELETE FROM ${table} WHERE id = 1`);
    assert.equal(thrownFailure(() => readBytes(archive, id)).kind, 'damaged');
  });
}

test('survivors are those of the whole lineage that no cycle of it has summarized since', (t) => {
  const archive = tempArchive(t);
  const survivor = (line: number): LineDraft =>
    lineDraft(line, { outcome: 'quoted', batch: null, message: messageDraft({ index: line }) });
  applied(archive, compactionDraft(4), [
    survivor(1),
    lineDraft(2),
    survivor(3),
    lineDraft(4, { outcome: 'other', batch: null }),
  ]);
  const next = { cycles: [cycleDraft({ cycle: 2, parentCycleId: 1 })], carried: [{ lineId: 1, cycle: 0, batch: 0 }] };
  applied(archive, compactionDraft(2, next), [lineDraft(1), survivor(2)]);
  const fork = { cycles: [cycleDraft({ cycle: 2, parentCycleId: 1 })] };
  applied(archive, compactionDraft(1, fork), [lineDraft(1)]);
  const survivorsOf = (cycleId: number): readonly number[] => archive.readSurvivors(cycleId).map(({ id }) => id);
  assert.deepEqual(
    { first: survivorsOf(1), second: survivorsOf(2), fork: survivorsOf(3), unknown: survivorsOf(9) },
    {
      first: [1, 3],
      second: [3, 6],
      fork: [1, 3],
      unknown: [],
    },
  );
});

test('survivors come with their bytes, from several blocks', (t) => {
  const archive = tempArchive(t);
  const lines = Array.from({ length: 250 }, (_, at) =>
    lineDraft(at + 1, at % 120 === 0 ? { outcome: 'quoted', batch: null, bytes: utf8(`kept ${at}\n`) } : {}),
  );
  applied(archive, compactionDraft(250), lines);
  assert.deepEqual(
    archive.readSurvivors(1).map(({ line, bytes }) => ({ line, bytes })),
    [1, 121, 241].map((line) => ({ line, bytes: utf8(`kept ${line - 1}\n`) })),
  );
});
