import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { CaptureOutline } from '../../ports/captures.ts';
import { compressBlock, MAX_BLOCK_BYTES, tryDecompress } from './blocks.ts';
import { createBlockReader, LAST_BLOCK, type OpenBlock, reopenBlock } from './captured-blocks.ts';
import { DamageError, guard, guardStep } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { CHANGES, hashColumn, readInteger, type Row, textColumn, timeColumn } from './rows.ts';
import type { SyncArchive, SyncCaptureWriter } from './sync-archive.ts';

const FIND_LAST = `
SELECT f.id AS file_id, v.id AS version_id, v.version, s.id AS state_id, s.size_bytes
FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id JOIN captured_states AS s ON s.version_id = v.id
WHERE f.path = ? ORDER BY s.id DESC LIMIT 1`;
const INSERT_FILE = 'INSERT INTO captured_files (path, format, read_at_ms) VALUES (?, ?, 0)';
const UPDATE_FILE = 'UPDATE captured_files SET format = ?, stamp = ?, read_at_ms = ?, sessions = ? WHERE id = ?';
const INSERT_VERSION = 'INSERT INTO captured_versions (file_id, version, change) VALUES (?, ?, ?)';
const INSERT_STATE = 'INSERT INTO captured_states (version_id, size_bytes, sha256, captured_at_ms) VALUES (?, ?, ?, ?)';
const COUNT_RUNS = 'SELECT count(*) FROM captured_runs WHERE version_id = ?';
const INSERT_RUN = 'INSERT INTO captured_runs (version_id, position, first_line_id, line_count) VALUES (?, ?, ?, ?)';

/**
 * Stores states of files, each in one transaction and in bounded memory. A draft that contradicts what was appended is a
 * bug and throws.
 */
export function createCaptureBegin(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): SyncArchive['captures']['begin'] {
  const findLast = db.prepare<[unknown], Row>(FIND_LAST);
  const insertFile = db.prepare(INSERT_FILE);
  const updateFile = db.prepare(UPDATE_FILE);
  const insertVersion = db.prepare(INSERT_VERSION);
  const insertState = db.prepare(INSERT_STATE);
  const countRuns = db.prepare<[number], number>(COUNT_RUNS).pluck();
  const insertRun = db.prepare(INSERT_RUN);
  const openLines = createLineStore(db);

  const step = <T>(work: () => T): T => guardStep(db, path, work);

  /** Null: the last state is another one by now. */
  const open = (outline: CaptureOutline): Target | null => {
    db.exec('BEGIN IMMEDIATE');
    checkSchema();
    db.pragma('defer_foreign_keys = ON'); // lines come before their block
    const last = findLast.get(textColumn(outline.path));
    if ((last === undefined ? null : readInteger(last, 'state_id')) !== outline.lastStateId) {
      db.exec('ROLLBACK');
      return null;
    }
    if (last !== undefined && outline.change === 'grown') {
      const [versionId, version] = [readInteger(last, 'version_id'), readInteger(last, 'version')];
      const runCount = countRuns.get(versionId) ?? 0;
      return {
        fileId: readInteger(last, 'file_id'),
        versionId,
        version,
        runCount,
        size: readInteger(last, 'size_bytes'),
      };
    }
    if (outline.change === 'grown') throw new Error(`${outline.path} was never captured, so it cannot have grown`);
    const fileId =
      last === undefined
        ? Number(insertFile.run(textColumn(outline.path), outline.format).lastInsertRowid)
        : readInteger(last, 'file_id');
    const version = last === undefined ? 1 : readInteger(last, 'version') + 1;
    const { lastInsertRowid } = insertVersion.run(fileId, version, CHANGES.indexOf(outline.change));
    return { fileId, versionId: Number(lastInsertRowid), version, runCount: 0, size: 0 };
  };

  return (outline) => {
    const target = step(() => open(outline));
    if (target === null) return null;
    const lines = step(openLines);
    const { fileId, versionId, version } = target;
    const run = { position: target.runCount, first: 0, count: 0 };
    let sizeBytes = target.size;
    const endRun = (): void => {
      if (run.count === 0) return;
      insertRun.run(versionId, run.position, run.first, run.count);
      run.position += 1;
      run.count = 0;
    };
    const writer: SyncCaptureWriter = {
      append: (pieces) =>
        step(() => {
          for (const piece of pieces) {
            if (piece.length === 0) continue;
            const id = lines.add(piece);
            sizeBytes += piece.length;
            if (run.count > 0 && id !== run.first + run.count) endRun();
            if (run.count === 0) run.first = id;
            run.count += 1;
          }
        }),
      commit: (draft) =>
        step(() => {
          if (draft.sizeBytes !== sizeBytes)
            throw new Error(`${sizeBytes} bytes were appended of a file of ${draft.sizeBytes}`);
          endRun();
          const stored = lines.end();
          const at = timeColumn(draft.capturedAt);
          insertState.run(versionId, sizeBytes, hashColumn(draft.sha256), at);
          updateFile.run(outline.format, draft.stamp, at, JSON.stringify(draft.sessions), fileId);
          db.exec('COMMIT');
          return { version, ...stored };
        }),
      abandon: () => guard(path, () => db.exec('ROLLBACK')),
    };
    return writer;
  };
}

type Target = {
  readonly fileId: number;
  readonly versionId: number;
  readonly version: number;
  readonly runCount: number;
  /** Bytes of the state that is continued. */
  readonly size: number;
};

const LAST_ID = 'SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?';
const FIND_LINE = `
SELECT id, block_id, offset, size_bytes FROM captured_lines WHERE substr(sha256, 1, 8) = ? AND sha256 = ? AND erasure_id IS NULL ORDER BY id DESC`;
const FIND_ERASED = `
SELECT id FROM captured_lines WHERE substr(sha256, 1, 8) = ? AND sha256 = ? AND erasure_id IS NOT NULL ORDER BY id LIMIT 1`;
const INSERT_LINE = 'INSERT INTO captured_lines (id, block_id, offset, size_bytes, sha256) VALUES (?, ?, ?, ?, ?)';
const INSERT_ERASED =
  'INSERT INTO captured_lines (id, block_id, offset, size_bytes, sha256, erasure_id) VALUES (?, ?, 0, ?, ?, ?)';
const INSERT_BLOCK =
  'INSERT INTO captured_blocks (id, first_line_id, line_count, raw_size_bytes, data) VALUES (?, ?, ?, ?, ?)';
const UPDATE_BLOCK = 'UPDATE captured_blocks SET line_count = ?, raw_size_bytes = ?, data = ? WHERE id = ?';

type LineWriter = {
  /** The id of a line; it is stored unless the archive has it and can give it back. */
  readonly add: (line: Uint8Array) => number;
  /** The id of a line whose bytes were erased. */
  readonly addErased: (line: ErasedLine) => number;
  readonly end: () => { readonly newBytes: number; readonly storedBytes: number };
};

type ErasedLine = { readonly sha256: Uint8Array; readonly sizeBytes: number; readonly erasureId: number };

type CountedBlock = OpenBlock & { lineCount: number };

/** Stores each line once and packs new lines into blocks, within a transaction of the caller. */
export function createLineStore(db: Database.Database): () => LineWriter {
  const lastId = db.prepare<[string], number>(LAST_ID).pluck();
  const lastBlock = db.prepare<[], Row>(LAST_BLOCK);
  const findLine = db.prepare<[Uint8Array, Uint8Array], Row>(FIND_LINE);
  const findErased = db.prepare<[Uint8Array, Uint8Array], number>(FIND_ERASED).pluck();
  const insertLine = db.prepare(INSERT_LINE);
  const insertErased = db.prepare(INSERT_ERASED);
  const insertBlock = db.prepare(INSERT_BLOCK);
  const updateBlock = db.prepare(UPDATE_BLOCK);
  const buffer = new Uint8Array(MAX_BLOCK_BYTES);

  return () => {
    let nextLineId = (lastId.get('captured_lines') ?? 0) + 1;
    let nextBlockId = (lastId.get('captured_blocks') ?? 0) + 1;
    const totals = { newBytes: 0, storedBytes: 0 };
    const readBlock = createBlockReader(db);
    const reopened = reopenBlock(lastBlock.get(), { nextLineId, buffer });
    let block: CountedBlock | null = reopened === null ? null : { ...reopened, lineCount: reopened.storedLines };

    const newBlock = (): CountedBlock => ({
      id: nextBlockId++,
      firstLineId: nextLineId,
      lineCount: 0,
      sizeBytes: 0,
      storedLines: 0,
      storedBytes: 0,
    });
    const write = ({ id, firstLineId, lineCount, ...open }: CountedBlock, raw: Uint8Array): void => {
      const data = compressReadably(raw);
      if (open.storedLines === 0) insertBlock.run(id, firstLineId, lineCount, raw.length, data);
      else updateBlock.run(lineCount, raw.length, data, id);
      totals.storedBytes += data.length - open.storedBytes;
    };
    const flush = (): void => {
      if (block !== null && block.lineCount !== block.storedLines) write(block, buffer.subarray(0, block.sizeBytes));
      block = null;
    };
    const store = (line: Uint8Array, sha256: Uint8Array): number => {
      const isLong = line.length > MAX_BLOCK_BYTES;
      if (isLong || (block !== null && block.sizeBytes + line.length > MAX_BLOCK_BYTES)) flush();
      const target = (block ??= newBlock());
      const id = nextLineId++;
      insertLine.run(id, target.id, target.sizeBytes, line.length, sha256);
      if (!isLong) buffer.set(line, target.sizeBytes);
      target.lineCount += 1;
      target.sizeBytes += line.length;
      totals.newBytes += line.length;
      if (isLong) {
        write(target, line);
        block = null;
      }
      return id;
    };
    /** Whether a stored line can be read back: its block may be damaged. */
    const holds = (row: Row, line: Uint8Array): boolean => {
      const [blockId, start] = [readInteger(row, 'block_id'), readInteger(row, 'offset')];
      if (readInteger(row, 'size_bytes') !== line.length) return false;
      const end = start + line.length;
      const raw = blockId === block?.id ? buffer.subarray(0, block.sizeBytes) : readBlock(blockId, end);
      return raw !== null && Buffer.compare(raw.subarray(start, end), line) === 0;
    };
    return {
      add: (line) => {
        const sha256 = hash('sha256', line, 'buffer');
        const known = findLine.all(sha256.subarray(0, 8), sha256).find((row) => holds(row, line));
        return known === undefined ? store(line, sha256) : readInteger(known, 'id');
      },
      addErased: ({ sha256, sizeBytes, erasureId }) => {
        const known = findErased.get(sha256.subarray(0, 8), sha256);
        if (known !== undefined) return known;
        const target = (block ??= newBlock());
        const id = nextLineId++;
        insertErased.run(id, target.id, sizeBytes, sha256, erasureId);
        target.lineCount += 1;
        return id;
      },
      end: () => {
        flush();
        return totals;
      },
    };
  };
}

/** Proves that what is stored can be read: the block may replace the only copy of earlier lines. */
export function compressReadably(raw: Uint8Array): Uint8Array {
  const data = compressBlock(raw);
  const back = tryDecompress(data, raw.length);
  if (back === null || Buffer.compare(back, raw) !== 0)
    throw new DamageError('a block that was just compressed differs');
  return data;
}
