import type Database from 'better-sqlite3';
import type { Archive, InsertedLine, KeptRun, StoredCompaction } from '../../ports/archive.ts';
import { hashColumn } from './columns.ts';
import { DamageError, guard } from './failure.ts';
import { createCycleReader } from './load-cycle.ts';
import { readOwnLine } from './own-line.ts';
import { readBytes, readHash, readInteger, readOptionalText, readText, readTime, type Row, toHex } from './rows.ts';

const GET_COMPACTION = 'SELECT * FROM compactions WHERE id = ?';
const FIND_SAME = `
SELECT * FROM compactions WHERE source_sha256 = ? AND settings_sha256 = ? AND status = 'applied' ORDER BY id DESC LIMIT 1`;
const LIST_PREPARED = "SELECT * FROM compactions WHERE status = 'prepared' ORDER BY id";
const LIST_INSERTED =
  'SELECT before_line, bytes, raw_size FROM inserted_lines WHERE compaction_id = ? ORDER BY position';
const LIST_KEPT =
  'SELECT first_line, line_count, size_bytes, line_sha256 FROM kept_runs WHERE compaction_id = ? ORDER BY position';

export type CompactionReader = Pick<Archive, 'findCycles' | 'loadCompaction' | 'findSame' | 'listPrepared'>;

export function createCompactionReader(db: Database.Database, path: string): CompactionReader {
  const getCompaction = db.prepare<[number], Row>(GET_COMPACTION);
  const findSame = db.prepare<[Uint8Array, Uint8Array], Row>(FIND_SAME);
  const listPrepared = db.prepare<[], Row>(LIST_PREPARED);
  const listInserted = db.prepare<[number], Row>(LIST_INSERTED);
  const listKept = db.prepare<[number], Row>(LIST_KEPT);
  const { findCycles, listCycles } = createCycleReader(db);

  const toCompaction = (row: Row | undefined): StoredCompaction | null => {
    if (row === undefined) return null;
    const id = readInteger(row, 'id');
    return {
      ...readHead(row),
      id,
      status: readText(row, 'status') === 'applied' ? 'applied' : 'prepared',
      format: readText(row, 'format'),
      settingsSha256: readHash(row, 'settings_sha256'),
      settings: readText(row, 'settings'),
      createdAt: readTime(row, 'created_at_ms') ?? new Date(Number.NaN),
      cycles: listCycles(id),
      inserted: listInserted.all(id).map(toInserted),
      kept: listKept.all(id).map(toKept),
    };
  };

  /** One state of the archive, whatever another process does meanwhile. */
  const read = <T>(work: () => T): T => guard(path, db.transaction(work));

  return {
    findCycles: (clipSha256) => read(() => findCycles(clipSha256)),
    loadCompaction: (id) => read(() => toCompaction(getCompaction.get(id))),
    findSame: (sourceSha256, settingsSha256) =>
      read(() => toCompaction(findSame.get(hashColumn(sourceSha256), hashColumn(settingsSha256)))),
    listPrepared: () => read(() => listPrepared.all().map((row) => ({ ...readHead(row), id: readInteger(row, 'id') }))),
  };
}

function readHead(row: Row): Pick<StoredCompaction, 'sourcePath' | 'outputPath' | 'source' | 'output' | 'processId'> {
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

function toInserted(row: Row): InsertedLine {
  return { beforeLine: readInteger(row, 'before_line'), bytes: readOwnLine(row) };
}

const HASH_HEX_LENGTH = 64;

function toKept(row: Row): KeptRun {
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
