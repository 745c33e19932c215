import type Database from 'better-sqlite3';
import type { CompactionDraft, CompactionOutline, LineDraft } from '../../ports/archive.ts';
import { compressInsertedLine, createBlockGatherer, type PackedBlock, type RawBlock } from './blocks.ts';
import { DamageError, guard, guardStep } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { hashColumn, textColumn, timeColumn } from './rows.ts';
import { createRunRecorder } from './runs.ts';
import { createBlockWriter, createCycleWriter, type CycleIds, packBlock } from './store-rows.ts';
import type { SyncArchive, SyncWriter } from './sync-archive.ts';

const INSERT_COMPACTION = `
INSERT INTO compactions (id, status, format, source_path, output_path, source_sha256, source_size_bytes, source_line_count,
  source_has_bom, output_sha256, output_size_bytes, settings_sha256, settings, created_at_ms, process_id)
VALUES (:id, 'prepared', :format, :sourcePath, :outputPath, :sourceSha256, :sourceSizeBytes, :sourceLineCount,
  :sourceHasBom, :outputSha256, :outputSizeBytes, :settingsSha256, :settings, :createdAtMs, :processId)`;
const INSERT_INSERTED =
  'INSERT INTO inserted_lines (compaction_id, position, before_line, bytes, raw_size) VALUES (?, ?, ?, ?, ?)';
const INSERT_KEPT = `
INSERT INTO kept_runs (compaction_id, position, first_line, line_count, size_bytes, line_sha256) VALUES (?, ?, ?, ?, ?, ?)`;
const INSERT_CARRIED = 'INSERT INTO carried_lines (cycle_id, line_id, batch_id) VALUES (?, ?, ?)';
const LAST_ID = 'SELECT seq FROM sqlite_sequence WHERE name = ?';

type StorePlace = { readonly path: string; readonly checkSchema: SchemaGuard };

/**
 * Stores compactions, each in one transaction and in bounded memory. A draft that contradicts itself is a bug and throws.
 * Lines come before the rows that they refer to, so the ids of those are given out at the beginning.
 */
export function createStore(db: Database.Database, { path, checkSchema }: StorePlace): SyncArchive['begin'] {
  const lastId = db.prepare<[string], number>(LAST_ID).pluck();
  const writeRest = createRestWriter(db);
  const writeBlock = createBlockWriter(db);

  const open = ({ batchCounts }: CompactionOutline): Ids => {
    db.exec('BEGIN IMMEDIATE');
    checkSchema();
    db.pragma('defer_foreign_keys = ON'); // until the end of this transaction
    const [compaction, cycle, batch] = ['compactions', 'cycles', 'batches'].map(
      (table) => (lastId.get(table) ?? 0) + 1,
    );
    return giveIds({ compaction, cycle, batch }, batchCounts);
  };

  return (outline) => {
    const step = <T>(work: () => T): T => guardStep(db, path, work);
    const { compactionId, cycles } = step(() => open(outline));
    const gatherer = createBlockGatherer();
    const archived: LineRun[] = [];
    let position = 0;
    const write = (block: PackedBlock): void => {
      for (const { draft } of block.members) addLine(archived, draft);
      writeBlock(block, { compactionId, position, cycles });
      position += 1;
    };
    const writeRaw = (blocks: readonly RawBlock[]): void => {
      for (const block of blocks) write(packBlock(block));
    };
    const writer: SyncWriter = {
      append: (pieces) =>
        step(() => {
          for (const piece of pieces) {
            if ('data' in piece) write(piece);
            else writeRaw(gatherer.add(piece));
          }
        }),
      commit: (draft) =>
        step(() => {
          writeRaw(gatherer.end());
          checkCoverage(draft, archived);
          writeRest(draft, compactionId, cycles);
          db.exec('COMMIT');
          return compactionId;
        }),
      abandon: () => guard(path, () => db.exec('ROLLBACK')),
    };
    return writer;
  };
}

type Ids = { readonly compactionId: number; readonly cycles: readonly CycleIds[] };

/** The next ids of every table, as SQLite would give them to rows in the order of the draft. */
function giveIds(
  next: {
    readonly compaction: number | undefined;
    readonly cycle: number | undefined;
    readonly batch: number | undefined;
  },
  batchCounts: readonly number[],
): Ids {
  let batchId = next.batch ?? 1;
  const cycles = batchCounts.map((count, position) => {
    const batchIds = Array.from({ length: count }, (_, at) => batchId + at);
    batchId += count;
    return { cycleId: (next.cycle ?? 1) + position, batchIds };
  });
  return { compactionId: next.compaction ?? 1, cycles };
}

/** Writes everything but the lines. */
function createRestWriter(
  db: Database.Database,
): (draft: CompactionDraft, compactionId: number, cycles: readonly CycleIds[]) => void {
  const insertCompaction = db.prepare(INSERT_COMPACTION);
  const insertInserted = db.prepare(INSERT_INSERTED);
  const insertKept = db.prepare(INSERT_KEPT);
  const insertCarried = db.prepare(INSERT_CARRIED);
  const writeCycle = createCycleWriter(db);
  const recordFile = createRunRecorder(db);

  return (draft, compactionId, cycles) => {
    if (draft.cycles.length !== cycles.length)
      throw new Error(`there are ${draft.cycles.length} cycles instead of ${cycles.length}`);
    insertCompaction.run({ id: compactionId, ...compactionColumns(draft) });
    const { run, sourcePath, outputPath } = draft;
    if (run !== null) recordFile(run, { compactionId, sourcePath, outputPath });
    draft.cycles.forEach((cycle, position) => {
      const ids = cycles[position];
      if (ids !== undefined) writeCycle(cycle, { compactionId, position, ids });
    });
    draft.inserted.forEach(({ beforeLine, bytes }, position) => {
      if (beforeLine < 1 || beforeLine > draft.source.lineCount + 1)
        throw new Error(`no place before source line ${beforeLine}`);
      const packed = compressInsertedLine(bytes);
      insertInserted.run(compactionId, position, beforeLine, packed.bytes, packed.rawSizeBytes);
    });
    draft.kept.forEach(({ firstLine, lineCount, sizeBytes, lineSha256 }, position) => {
      const hashes = Buffer.concat(lineSha256.map(hashColumn));
      insertKept.run(compactionId, position, firstLine, lineCount, sizeBytes, hashes);
    });
    for (const { lineId, cycle, batch } of draft.carried) {
      const ids = cycles[cycle];
      const batchId = ids?.batchIds[batch];
      if (ids === undefined || batchId === undefined)
        throw new Error(`no batch ${batch} of cycle ${cycle} for a carried line`);
      insertCarried.run(ids.cycleId, lineId, batchId);
    }
  };
}

export function compactionColumns(draft: CompactionDraft): Readonly<Record<string, unknown>> {
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

/** Consecutive archived lines. */
export type LineRun = { readonly firstLine: number; lineCount: number };

export function addLine(runs: LineRun[], { line }: Pick<LineDraft, 'line'>): void {
  const last = runs.at(-1);
  if (last !== undefined && last.firstLine + last.lineCount === line) last.lineCount += 1;
  else runs.push({ firstLine: line, lineCount: 1 });
}

/**
 * Proves that the archived lines and the kept runs cover each source line exactly once, in order. Throws at the first
 * gap, because an archive with a gap could not restore the original.
 */
export function checkCoverage(
  { kept, source }: Pick<CompactionDraft, 'kept' | 'source'>,
  archived: readonly Readonly<LineRun>[],
): void {
  const runs = kept.values();
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
  for (const { firstLine, lineCount } of archived) {
    skipKeptRuns();
    if (firstLine !== expected)
      throw new Error(`source line ${expected} expected, but line ${firstLine} is archived next`);
    expected += lineCount;
  }
  skipKeptRuns();
  if (run.value !== undefined)
    throw new Error(`source line ${expected} expected, but line ${run.value.firstLine} is kept next`);
  if (expected !== source.lineCount + 1)
    throw new Error(`${expected - 1} lines are kept or archived of a source of ${source.lineCount}`);
}

/** What was erased stays erased. */
const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = ? AND status <> 'erased'";
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

type Settling = Pick<SyncArchive, 'markApplied' | 'discard'>;

/**
 * Applies or discards a prepared compaction. Two processes may do so at the same time: discarding a missing or applied
 * one does nothing; applying a missing one is damage, because the compacted file then has no archive.
 */
export function createSettling(db: Database.Database, { path, checkSchema }: StorePlace): Settling {
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
