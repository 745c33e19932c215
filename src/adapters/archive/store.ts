import type Database from 'better-sqlite3';
import type { Archive, CompactionDraft, LineDraft } from '../../ports/archive.ts';
import { compressInsertedLine } from './blocks.ts';
import { DamageError, guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { hashColumn, textColumn, timeColumn } from './rows.ts';
import { createCycleWriter, createLineWriter, type CycleIds } from './store-rows.ts';

const INSERT_COMPACTION = `
INSERT INTO compactions (status, format, source_path, output_path, source_sha256, source_size_bytes, source_line_count,
  source_has_bom, output_sha256, output_size_bytes, settings_sha256, settings, created_at_ms, process_id)
VALUES ('prepared', :format, :sourcePath, :outputPath, :sourceSha256, :sourceSizeBytes, :sourceLineCount,
  :sourceHasBom, :outputSha256, :outputSizeBytes, :settingsSha256, :settings, :createdAtMs, :processId)`;
const INSERT_INSERTED =
  'INSERT INTO inserted_lines (compaction_id, position, before_line, bytes, raw_size) VALUES (?, ?, ?, ?, ?)';
const INSERT_KEPT = `
INSERT INTO kept_runs (compaction_id, position, first_line, line_count, size_bytes, line_sha256) VALUES (?, ?, ?, ?, ?, ?)`;
const INSERT_CARRIED = 'INSERT INTO carried_lines (cycle_id, line_id, batch_id) VALUES (?, ?, ?)';

/**
 * Stores a compaction in one transaction and in bounded memory. Errors of `lines` pass through unchanged; a draft that
 * contradicts itself is a bug and throws.
 */
export function createStore(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): Archive['store'] {
  const insertCompaction = db.prepare(INSERT_COMPACTION);
  const insertInserted = db.prepare(INSERT_INSERTED);
  const insertKept = db.prepare(INSERT_KEPT);
  const insertCarried = db.prepare(INSERT_CARRIED);
  const writeCycle = createCycleWriter(db);
  const writeLines = createLineWriter(db);

  const writeRest = (draft: CompactionDraft, compactionId: number, cycles: readonly CycleIds[]): void => {
    draft.inserted.forEach(({ beforeLine, bytes }, position) => {
      if (beforeLine < 1 || beforeLine > draft.source.lineCount + 1)
        throw new Error(`no place before source line ${beforeLine}`);
      const packed = compressInsertedLine(bytes);
      insertInserted.run(compactionId, position, beforeLine, packed.bytes, packed.rawSizeBytes);
    });
    draft.kept.forEach(({ firstLine, lineCount, sizeBytes, lineSha256 }, position) => {
      insertKept.run(
        compactionId,
        position,
        firstLine,
        lineCount,
        sizeBytes,
        Buffer.concat(lineSha256.map(hashColumn)),
      );
    });
    for (const { lineId, cycle, batch } of draft.carried) {
      const ids = cycles[cycle];
      const batchId = ids?.batchIds[batch];
      if (ids === undefined || batchId === undefined)
        throw new Error(`no batch ${batch} of cycle ${cycle} for a carried line`);
      insertCarried.run(ids.cycleId, lineId, batchId);
    }
  };

  const store = db.transaction((draft: CompactionDraft, lines: Iterable<LineDraft>): number => {
    checkSchema();
    const compactionId = Number(insertCompaction.run(compactionColumns(draft)).lastInsertRowid);
    const cycles = draft.cycles.map((cycle, position) => writeCycle(cycle, { compactionId, position }));
    writeLines(coverSource(draft, lines), { compactionId, cycles });
    writeRest(draft, compactionId, cycles);
    return compactionId;
  });

  return (draft, lines) => {
    const source = watchErrors(lines);
    try {
      return guard(path, () => store.immediate(draft, source.lines));
    } catch (error) {
      const thrown = source.thrown();
      throw thrown === null ? error : thrown.error;
    }
  };
}

function compactionColumns(draft: CompactionDraft): Readonly<Record<string, unknown>> {
  return {
    format: draft.format,
    sourcePath: textColumn(draft.sourcePath),
    outputPath: draft.outputPath === null ? null : textColumn(draft.outputPath),
    sourceSha256: hashColumn(draft.source.sha256),
    sourceSizeBytes: draft.source.sizeBytes,
    sourceLineCount: draft.source.lineCount,
    sourceHasBom: draft.source.hasBom ? 1 : 0,
    outputSha256: hashColumn(draft.output.sha256),
    outputSizeBytes: draft.output.sizeBytes,
    settingsSha256: hashColumn(draft.settingsSha256),
    settings: textColumn(draft.settings),
    createdAtMs: timeColumn(draft.createdAt),
    processId: draft.processId,
  };
}

type WatchedLines = { readonly lines: Iterable<LineDraft>; readonly thrown: () => { readonly error: unknown } | null };

/** Remembers what the caller's iterable threw, so that it is not mistaken for a database error. */
function watchErrors(lines: Iterable<LineDraft>): WatchedLines {
  let thrown: { readonly error: unknown } | null = null;
  function* watch(): IterableIterator<LineDraft> {
    try {
      yield* lines;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  }
  return { lines: watch(), thrown: () => thrown };
}

/**
 * Passes the lines on while it proves that they and the kept runs cover each source line exactly once, in order. Throws
 * at the first gap, because an archive with a gap could not restore the original.
 */
export function* coverSource(
  draft: Pick<CompactionDraft, 'kept' | 'source'>,
  lines: Iterable<LineDraft>,
): IterableIterator<LineDraft> {
  const runs = draft.kept.values();
  let run = runs.next();
  let expected = 1;
  const skipKeptRuns = (): void => {
    for (; run.value !== undefined && run.value.firstLine === expected; run = runs.next()) {
      const { firstLine, lineCount, lineSha256 } = run.value;
      if (lineCount < 1) throw new Error(`the run of kept lines at source line ${firstLine} is empty`);
      if (lineSha256.length !== lineCount) {
        throw new Error(
          `the run of kept lines at source line ${firstLine} has ${lineSha256.length} hashes for ${lineCount} lines`,
        );
      }
      expected += lineCount;
    }
  };
  for (const line of lines) {
    skipKeptRuns();
    if (line.line !== expected)
      throw new Error(`source line ${expected} expected, but line ${line.line} is archived next`);
    expected += 1;
    yield line;
  }
  skipKeptRuns();
  if (run.value !== undefined)
    throw new Error(`source line ${expected} expected, but line ${run.value.firstLine} is kept next`);
  const { lineCount } = draft.source;
  if (expected !== lineCount + 1)
    throw new Error(`${expected - 1} lines are kept or archived of a source of ${lineCount}`);
}

const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = ?";
const FIND_PREPARED = "SELECT 1 FROM compactions WHERE id = ? AND status = 'prepared'";

const BATCHES =
  'SELECT batches.id FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE cycles.compaction_id = ?';
const LINES = 'SELECT lines.id FROM lines JOIN blocks ON blocks.id = lines.block_id WHERE blocks.compaction_id = ?';
/** The schema deletes the rows of a compaction with it, except those of the full-text indexes. */
const DELETE_COMPACTION = [
  `DELETE FROM message_search WHERE rowid IN (${LINES})`,
  `DELETE FROM batch_search WHERE rowid IN (${BATCHES})`,
  'DELETE FROM compactions WHERE id = ?',
] as const;

type Settling = Pick<Archive, 'markApplied' | 'discard'>;

/**
 * Applies or discards a prepared compaction. Two processes may do so at the same time: discarding a missing or applied
 * one does nothing; applying a missing one is damage, because the compacted file then has no archive.
 */
export function createSettling(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): Settling {
  const setApplied = db.prepare<[number]>(MARK_APPLIED);
  const findPrepared = db.prepare<[number]>(FIND_PREPARED);
  const deletes = DELETE_COMPACTION.map((sql) => db.prepare<[number]>(sql));

  const markApplied = db.transaction((id: number): void => {
    checkSchema();
    if (setApplied.run(id).changes === 0) throw new DamageError(`compaction ${id} was removed before it was applied`);
  });
  const discard = db.transaction((id: number): void => {
    checkSchema();
    if (findPrepared.get(id) === undefined) return;
    for (const statement of deletes) statement.run(id);
  });

  return {
    markApplied: (id) => guard(path, () => markApplied.immediate(id)),
    discard: (id) => guard(path, () => discard.immediate(id)),
  };
}
