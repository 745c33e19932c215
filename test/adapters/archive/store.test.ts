import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { LineDraft } from '../../../src/ports/archive.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  tempArchive,
  utf8,
} from './drafts.ts';

test('a compaction comes back as it was stored', (t) => {
  const archive = tempArchive(t);
  const draft = compactionDraft(5, {
    format: 'claude-code',
    source: { sha256: sha256('a'), sizeBytes: 5_000_000_000, lineCount: 5, hasBom: true },
    output: { sha256: sha256('b'), sizeBytes: 77 },
    settings: '{"chunk_size":20}',
    settingsSha256: sha256('{"chunk_size":20}'),
    inserted: [
      { beforeLine: 4, bytes: utf8('{"clip":1}\r\n') },
      { beforeLine: 4, bytes: new Uint8Array(0) },
    ],
    kept: [
      { firstLine: 1, lineCount: 1, sizeBytes: 9, lineSha256: [sha256('one')] },
      { firstLine: 4, lineCount: 2, sizeBytes: 20, lineSha256: [sha256('four'), sha256('five')] },
    ],
  });
  const id = archive.store(draft, [lineDraft(2), lineDraft(3)]);
  const { cycles: cycleDrafts, carried: _, run: _run, ...rest } = draft;
  const [cycle] = cycleDrafts;
  assert.ok(cycle);
  const { sources, ...batch } = batchDraft();
  const label = 'compaction-batch-harbor-2026-03-01T09:30:00.000Z';
  const stored = { ...batch, id: 1, label, level: 'plain', contentSha256: sha256(batch.content) };
  const { newBatches: _made, ...cycleRest } = cycle;
  assert.deepEqual(archive.loadCompaction(id), {
    ...rest,
    id,
    status: 'prepared',
    erased: null,
    inserted: draft.inserted.map((line) => ({ ...line, erasedSha256: null })),
    cycles: [
      {
        ...cycleRest,
        id: 1,
        compactionId: id,
        parentCompactionId: null,
        isErased: false,
        live: [stored],
        made: [{ ...stored, sources }],
      },
    ],
  });
});

test('an unknown compaction is null', (t) => {
  assert.equal(tempArchive(t).loadCompaction(1), null);
});

test('a batch without times and indices comes back without them', (t) => {
  const archive = tempArchive(t);
  const { firstIndex: _first, lastIndex: _last, ...plain } = batchDraft({ startTime: null, endTime: null });
  const id = archive.store(compactionDraft(1, { cycles: [cycleDraft({ newBatches: [plain] })] }), [lineDraft(1)]);
  const { sources: _sources, ...expected } = plain;
  assert.deepEqual(archive.loadCompaction(id)?.cycles[0]?.live, [
    {
      ...expected,
      id: 1,
      label: 'compaction-batch-harbor-cycle-1-1',
      level: 'plain',
      contentSha256: sha256(expected.content),
    },
  ]);
});

test('text with lone surrogates, NUL and line separators comes back exactly', (t) => {
  const archive = tempArchive(t);
  const odd = 'a\ud800b\0c\udfff\u2028 \ufffd é 🙂';
  const draft = compactionDraft(1, {
    sourcePath: odd,
    outputPath: null,
    settings: odd,
    cycles: [cycleDraft({ conversationId: odd, newBatches: [batchDraft({ content: odd })] })],
  });
  const stored = archive.loadCompaction(archive.store(draft, [lineDraft(1)]));
  assert.deepEqual(
    [
      stored?.sourcePath,
      stored?.outputPath,
      stored?.settings,
      stored?.cycles[0]?.conversationId,
      stored?.cycles[0]?.live[0]?.content,
    ],
    [odd, null, odd, odd, odd],
  );
});

test('a re-summarized batch keeps its sources, of this compaction and of earlier ones', (t) => {
  const archive = tempArchive(t);
  const first = applied(archive, compactionDraft(1), [lineDraft(1)]);
  const second = archive.store(
    compactionDraft(1, {
      cycles: [
        cycleDraft({
          cycle: 2,
          parentCycleId: 1,
          newBatches: [
            batchDraft({ content: 'newer' }),
            batchDraft({
              content: 'joined',
              depth: 1,
              sources: [
                { kind: 'stored', id: 1 },
                { kind: 'new', position: 0 },
              ],
            }),
          ],
          live: [{ kind: 'new', position: 1 }],
        }),
      ],
    }),
    [lineDraft(1)],
  );
  const [cycle] = archive.loadCompaction(second)?.cycles ?? [];
  assert.deepEqual(
    [
      cycle?.parentCycleId,
      cycle?.live.map(({ content }) => content),
      cycle?.made.map(({ id, sources }) => ({ id, sources })),
    ],
    [
      1,
      ['joined'],
      [
        { id: 2, sources: [] },
        { id: 3, sources: [1, 2] },
      ],
    ],
  );
  assert.deepEqual(
    archive.loadCompaction(first)?.cycles[0]?.live.map(({ id }) => id),
    [1],
  );
});

test('a batch cannot replace one that was made after it', (t) => {
  const newBatches = [batchDraft({ sources: [{ kind: 'new', position: 1 }] }), batchDraft()];
  const archive = tempArchive(t);
  assert.throws(() => archive.store(compactionDraft(1, { cycles: [cycleDraft({ newBatches })] }), [lineDraft(1)]), {
    message: 'no new batch at position 1',
  });
  assert.equal(archive.loadCompaction(1), null);
});

test('several conversations of one file keep their own batches, in order', (t) => {
  const archive = tempArchive(t);
  const cycles = ['a', 'b'].map((conversationId) => cycleDraft({ conversationId, clipSha256: sha256(conversationId) }));
  const id = archive.store(compactionDraft(2, { cycles }), [lineDraft(1, { cycle: 1 }), lineDraft(2, { cycle: 0 })]);
  assert.deepEqual(
    archive
      .loadCompaction(id)
      ?.cycles.map(({ conversationId, made }) => ({ conversationId, batches: made.map((one) => one.id) })),
    [
      { conversationId: 'a', batches: [1] },
      { conversationId: 'b', batches: [2] },
    ],
  );
  assert.deepEqual(
    [...archive.readLines(id)].map(({ line, cycleId, batchId }) => ({ line, cycleId, batchId })),
    [
      { line: 1, cycleId: 2, batchId: 2 },
      { line: 2, cycleId: 1, batchId: 1 },
    ],
  );
});

test('a live batch whose row was deleted by hand is missing from the list, and the rest loads', (t) => {
  const archive = tempArchive(t);
  const newBatches = [batchDraft({ content: 'one' }), batchDraft({ content: 'two' })];
  const live = [0, 1].map((position) => ({ kind: 'new', position }) as const);
  const id = applied(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches, live })] }), [lineDraft(1)]);
  const db = new Database(archive.path);
  db.pragma('foreign_keys = OFF');
  db.exec('DELETE FROM batches WHERE id = 1');
  db.close();
  const [cycle] = archive.loadCompaction(id)?.cycles ?? [];
  assert.deepEqual(
    [cycle?.live.map(({ content }) => content), cycle?.made.map(({ content }) => content)],
    [['two'], ['two']],
  );
  assert.deepEqual(
    [...archive.readLines(id)].map(({ line, cycleId }) => ({ line, cycleId })),
    [{ line: 1, cycleId: null }],
  );
});

test('an error of the lines comes through unchanged and nothing is stored', (t) => {
  const archive = tempArchive(t);
  const error = new Database.SqliteError('of another database', 'SQLITE_CORRUPT');
  function* lines(): IterableIterator<LineDraft> {
    for (let line = 1; line <= 250; line += 1) yield lineDraft(line, { message: messageDraft() });
    throw error;
  }
  assert.throws(
    () => archive.store(compactionDraft(500), lines()),
    (thrown) => thrown === error,
  );
  assert.equal(archive.loadCompaction(1), null);
  assert.deepEqual([...archive.readLines(1)], []);
});

test('a compaction can be stored after one that failed', (t) => {
  const archive = tempArchive(t);
  assert.throws(() => archive.store(compactionDraft(2), [lineDraft(1)]));
  const id = archive.store(compactionDraft(1), [lineDraft(1)]);
  assert.equal([...archive.readLines(id)].length, 1);
});

test('lines may be read from the archive while others are stored', (t) => {
  const archive = tempArchive(t);
  const first = applied(
    archive,
    compactionDraft(3),
    [1, 2, 3].map((line) => lineDraft(line)),
  );
  function* again(): IterableIterator<LineDraft> {
    for (const { line, bytes } of archive.readLines(first)) yield lineDraft(line, { bytes });
  }
  const second = archive.store(compactionDraft(3), again());
  const bytesOf = (id: number): readonly Uint8Array[] => [...archive.readLines(id)].map(({ bytes }) => bytes);
  assert.deepEqual(bytesOf(second), bytesOf(first));
});

test('a summarized line without a batch is a bug', (t) => {
  assert.throws(() => tempArchive(t).store(compactionDraft(1), [lineDraft(1, { batch: null })]), {
    message: 'source line 1 is summarized, but in no batch (cycle 0, batch null)',
  });
});

test('a line of an unknown cycle is a bug', (t) => {
  assert.throws(
    () => tempArchive(t).store(compactionDraft(1), [lineDraft(1, { outcome: 'other', cycle: 3, batch: null })]),
    {
      message: 'source line 1 is of cycle 3, of 1',
    },
  );
});

test('a hash that is none is a bug', (t) => {
  assert.throws(() => tempArchive(t).store(compactionDraft(1, { settingsSha256: 'abc' }), [lineDraft(1)]), TypeError);
});
