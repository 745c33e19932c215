import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { CompactionDraft, LineDraft } from '../../../src/ports/archive.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  tempArchive,
  type TestArchive,
} from './drafts.ts';
/** Rows in each table; of a search index, the texts in it. */
function countRows(archive: TestArchive): Readonly<Record<string, number>> {
  const db = new Database(archive.path, { readonly: true });
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck();
  const names = tables.all().filter((name) => !/_search_(data|idx|config|content)$/.test(name));
  const counts = names.map(
    (name) => [name, db.prepare<[], number>(`SELECT count(*) FROM ${name}`).pluck().get() ?? -1] as const,
  );
  db.close();
  return Object.fromEntries(counts);
}

/** A second cycle that uses every table. */
function secondCompaction(): { readonly draft: CompactionDraft; readonly lines: readonly LineDraft[] } {
  const kept = [{ firstLine: 3, lineCount: 1, sizeBytes: 8, lineSha256: [sha256('kept').slice(0, 32)] }];
  const cycle = cycleDraft({
    cycle: 2,
    parentCycleId: 1,
    newBatches: [
      batchDraft(),
      batchDraft({
        depth: 1,
        sources: [
          { kind: 'stored', id: 1 },
          { kind: 'new', position: 0 },
        ],
      }),
    ],
    live: [{ kind: 'new', position: 1 }],
  });
  return {
    draft: compactionDraft(3, { cycles: [cycle], kept, carried: [{ lineId: 1, cycle: 0, batch: 0 }], processId: 77 }),
    lines: [lineDraft(1, { message: messageDraft() }), lineDraft(2, { outcome: 'other', batch: null })],
  };
}

async function archiveWithSurvivor(archive: TestArchive): Promise<void> {
  await applied(archive, compactionDraft(1), [
    lineDraft(1, { outcome: 'quoted', batch: null, message: messageDraft() }),
  ]);
}

test('discarding a prepared compaction leaves no row of it in any table', async (t) => {
  const archive = tempArchive(t);
  await archiveWithSurvivor(archive);
  const before = countRows(archive);
  const { draft, lines } = secondCompaction();
  const id = await archive.store(draft, lines);
  const between = countRows(archive);
  await archive.port.discard(id);
  assert.deepEqual(countRows(archive), before);
  const unused = Object.keys(before).filter((table) => between[table] === before[table]);
  // What was paid for stays, whatever becomes of a compaction; the names of those who spoke do no harm.
  // Vectors come later, to what is applied.
  const vectors = ['vector_model', 'message_vectors', 'batch_vectors'];
  // Runs, the log and captured files have tests of their own.
  const others = ['captured_files', 'captured_versions', 'captured_states', 'captured_runs', 'captured_blocks'];
  assert.deepEqual(unused, [
    'erasures',
    'deeds',
    'holds',
    'choices',
    'settings', // those of the first one
    'runs',
    'run_files',
    'speakers',
    'summaries',
    'batch_records',
    ...vectors,
    ...others,
    'captured_lines',
    'captured_messages',
    'erased_states',
    // Only what is applied is searched.
    'message_search',
    'message_search_docsize',
  ]);
});

test('discarding leaves an applied compaction and an unknown one alone', async (t) => {
  const archive = tempArchive(t);
  await archiveWithSurvivor(archive);
  const before = countRows(archive);
  await archive.port.discard(1);
  await archive.port.discard(99);
  assert.deepEqual(countRows(archive), before);
});
