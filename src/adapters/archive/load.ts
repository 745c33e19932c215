import type Database from 'better-sqlite3';
import type { StoredBatch } from '../../ports/archive-lookup.ts';
import type { KeptRun, StoredCompaction, StoredCycle, StoredInsertedLine } from '../../ports/archive.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import { readInsertedLine } from './blocks.ts';
import { DamageError, guard } from './failure.ts';
import {
  hashColumn,
  readBytes,
  readHash,
  readInteger,
  readLevel,
  readOptionalInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  toHex,
} from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

const GET_COMPACTION = 'SELECT * FROM compactions WHERE id = ?';
const GET_ERASURE = 'SELECT receipt, at_ms FROM erasures WHERE id = ?';
const FIND_SAME = `
SELECT * FROM compactions WHERE source_sha256 = ? AND settings_sha256 = ? AND status = 'applied' AND erasure_id IS NULL
ORDER BY id DESC LIMIT 1`;
const LIST_PREPARED = "SELECT * FROM compactions WHERE status = 'prepared' ORDER BY id";
const LIST_INSERTED =
  'SELECT before_line, bytes, raw_size, erased_sha256 FROM inserted_lines WHERE compaction_id = ? ORDER BY position';
const LIST_KEPT =
  'SELECT first_line, line_count, size_bytes, line_sha256 FROM kept_runs WHERE compaction_id = ? ORDER BY position';

type CompactionReader = Pick<SyncArchive, 'findCycles' | 'loadCompaction' | 'findSame' | 'listPrepared'>;

export function createCompactionReader(db: Database.Database, path: string): CompactionReader {
  const getCompaction = db.prepare<[number], Row>(GET_COMPACTION);
  const findMark = createMarkFinder(db);
  const findSame = db.prepare<[Uint8Array, Uint8Array], Row>(FIND_SAME);
  const listPrepared = db.prepare<[], Row>(LIST_PREPARED);
  const listInserted = db.prepare<[number], Row>(LIST_INSERTED);
  const listKept = db.prepare<[number], Row>(LIST_KEPT);
  const { findCycles, listCycles } = createCycleReader(db);

  const toCompaction = (row: Row | undefined): StoredCompaction | null => {
    if (row === undefined) return null;
    const id = readInteger(row, 'id');
    return {
      ...readCompaction(row),
      erased: findMark(readOptionalInteger(row, 'erasure_id')),
      cycles: listCycles(id),
      inserted: listInserted.all(id).map(toInserted),
      kept: listKept.all(id).map(toKept),
    };
  };

  /** Reads one snapshot of the archive. */
  const read = <T>(work: () => T): T => guard(path, db.transaction(work));

  return {
    findCycles: (clipSha256) => read(() => findCycles(clipSha256)),
    loadCompaction: (id) => read(() => toCompaction(getCompaction.get(id))),
    findSame: (sourceSha256, settingsSha256) =>
      read(() => toCompaction(findSame.get(hashColumn(sourceSha256), hashColumn(settingsSha256)))),
    listPrepared: () =>
      read(() => listPrepared.all().map((row) => ({ ...readHead(row), id: readInteger(row, 'id'), isLocal: true }))),
  };
}

export function readCompaction(row: Row): Omit<StoredCompaction, 'cycles' | 'inserted' | 'kept' | 'erased'> {
  return {
    ...readHead(row),
    id: readInteger(row, 'id'),
    status: STATUSES.find((status) => status === row['status']) ?? 'prepared',
    format: readText(row, 'format'),
    settingsSha256: readHash(row, 'settings_sha256'),
    settings: readText(row, 'settings'),
    createdAt: readTime(row, 'created_at_ms') ?? new Date(Number.NaN),
  };
}

/** Of a compaction. */
export function readHead(
  row: Row,
): Pick<StoredCompaction, 'sourcePath' | 'outputPath' | 'source' | 'output' | 'processId'> {
  return {
    sourcePath: readText(row, 'source_path'),
    outputPath: readOptionalText(row, 'output_path'),
    source: {
      sha256: readHash(row, 'source_sha256'),
      sizeBytes: readInteger(row, 'source_size_bytes'),
      lineCount: readInteger(row, 'source_line_count'),
      hasBom: readInteger(row, 'source_has_bom') === 1,
    },
    output: { sha256: readHash(row, 'output_sha256'), sizeBytes: readInteger(row, 'output_size_bytes') },
    processId: readInteger(row, 'process_id'),
  };
}

const STATUSES = ['applied', 'erased'] as const;

/** Looks up an erasure by its row's id. */
export function createMarkFinder(db: Database.Database): (id: number | null) => ErasureMark | null {
  const getErasure = db.prepare<[number], Row>(GET_ERASURE);
  return (id) => {
    const row = id === null ? undefined : getErasure.get(id);
    if (row === undefined) return null;
    return { receipt: readText(row, 'receipt'), at: readTime(row, 'at_ms') ?? new Date(Number.NaN) };
  };
}

export function toInserted(row: Row): StoredInsertedLine {
  const erasedSha256 = row['erased_sha256'] === null ? null : readHash(row, 'erased_sha256');
  return { beforeLine: readInteger(row, 'before_line'), bytes: readInsertedLine(row), erasedSha256 };
}

const HASH_HEX_LENGTH = 64;

export function toKept(row: Row): KeptRun {
  const lineCount = readInteger(row, 'line_count');
  const firstLine = readInteger(row, 'first_line');
  const hex = toHex(readBytes(row, 'line_sha256'));
  if (hex.length !== lineCount * HASH_HEX_LENGTH)
    throw new DamageError(`the kept lines from source line ${firstLine} lack hashes`);
  const hashOf = (_: unknown, at: number): string => hex.slice(at * HASH_HEX_LENGTH, (at + 1) * HASH_HEX_LENGTH);
  return {
    firstLine,
    lineCount,
    sizeBytes: readInteger(row, 'size_bytes'),
    lineSha256: Array.from({ length: lineCount }, hashOf),
  };
}

const CYCLE_COLUMNS =
  'cycles.*, (SELECT compaction_id FROM cycles AS p WHERE p.id = cycles.parent_cycle_id) AS parent_compaction_id';
const LIST_CYCLES = `SELECT ${CYCLE_COLUMNS} FROM cycles WHERE compaction_id = ? ORDER BY position`;
const FIND_CYCLES = `
SELECT ${CYCLE_COLUMNS} FROM cycles JOIN compactions ON compactions.id = cycles.compaction_id
WHERE clip_sha256 = ? AND status <> 'prepared' ORDER BY cycles.id DESC`;
const LIST_MADE = 'SELECT * FROM batches WHERE cycle_id = ? ORDER BY position';
const LIST_LIVE = `
SELECT batches.* FROM live_batches AS live JOIN batches ON batches.id = live.batch_id WHERE live.cycle_id = ? ORDER BY live.position`;
const LIST_SOURCES = 'SELECT source_id FROM batch_sources WHERE batch_id = ? ORDER BY position';

type CycleReader = {
  readonly listCycles: (compactionId: number) => readonly StoredCycle[];
  /** Applied or erased ones, newest first. */
  readonly findCycles: (clipSha256: string) => readonly StoredCycle[];
};

/** A batch whose row is missing is absent from `live` and `made`; callers must check for that. */
function createCycleReader(db: Database.Database): CycleReader {
  const listCycles = db.prepare<[number], Row>(LIST_CYCLES);
  const findCycles = db.prepare<[Uint8Array], Row>(FIND_CYCLES);
  const listMade = db.prepare<[number], Row>(LIST_MADE);
  const listLive = db.prepare<[number], Row>(LIST_LIVE);
  const listSources = db.prepare<[number], number>(LIST_SOURCES).pluck();

  const toCycle = (row: Row): StoredCycle => {
    const id = readInteger(row, 'id');
    const live = listLive.all(id).map(toBatch);
    return {
      ...readCycle(row),
      isErased: live.some(({ content }) => content === ''),
      live,
      made: listMade.all(id).map((made) => ({ ...toBatch(made), sources: listSources.all(readInteger(made, 'id')) })),
    };
  };

  return {
    listCycles: (compactionId) => listCycles.all(compactionId).map(toCycle),
    findCycles: (clipSha256) => findCycles.all(hashColumn(clipSha256)).map(toCycle),
  };
}

export function readCycle(row: Row): Omit<StoredCycle, 'live' | 'made' | 'isErased'> {
  return {
    id: readInteger(row, 'id'),
    compactionId: readInteger(row, 'compaction_id'),
    conversationId: readText(row, 'conversation_id'),
    cycle: readInteger(row, 'cycle'),
    parentCycleId: readOptionalInteger(row, 'parent_cycle_id'),
    parentCompactionId: readOptionalInteger(row, 'parent_compaction_id'),
    clipSha256: readHash(row, 'clip_sha256'),
    messagesCompressed: readInteger(row, 'messages_compressed'),
  };
}

export function toBatch(row: Row): StoredBatch {
  const firstIndex = readOptionalInteger(row, 'first_index');
  const lastIndex = readOptionalInteger(row, 'last_index');
  return {
    id: readInteger(row, 'id'),
    label: readText(row, 'label'),
    content: readText(row, 'content'),
    contentSha256: readHash(row, 'content_sha256'),
    depth: readInteger(row, 'depth'),
    startTime: readTime(row, 'start_ms'),
    endTime: readTime(row, 'end_ms'),
    messageCount: readInteger(row, 'message_count'),
    level: readLevel(row, 'level'),
    ...(firstIndex === null ? {} : { firstIndex }),
    ...(lastIndex === null ? {} : { lastIndex }),
  };
}
