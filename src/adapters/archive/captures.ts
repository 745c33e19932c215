import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import { createCaptureBegin } from './capture-writer.ts';
import { type BlockReader, checkCapturedRun, createBlockReader } from './captured-blocks.ts';
import { archiveError, DamageError, guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import {
  CHANGES,
  readHash,
  readInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  textColumn,
  timeColumn,
} from './rows.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { SyncArchive } from './sync-archive.ts';

const STATE_COLUMNS = 's.id AS state_id, v.version, v.change, s.size_bytes, s.sha256, s.captured_at_ms';
const SELECT_FILES = `
SELECT f.id, f.path, f.format, f.stamp, f.read_at_ms, ${STATE_COLUMNS}
FROM captured_files AS f JOIN captured_versions AS v ON v.id = (SELECT max(id) FROM captured_versions WHERE file_id = f.id)
  JOIN captured_states AS s ON s.id = (SELECT max(id) FROM captured_states WHERE version_id = v.id)`;
export const FIND_FILE = `${SELECT_FILES} WHERE f.path = :path`;
export const LIST_FILES = `${SELECT_FILES} ORDER BY f.path`;
export const LIST_STATES = `
SELECT ${STATE_COLUMNS} FROM captured_versions AS v JOIN captured_states AS s ON s.version_id = v.id WHERE v.file_id = :fileId ORDER BY s.id`;
export const CONFIRM = 'UPDATE captured_files SET stamp = :stamp, read_at_ms = :at WHERE id = :fileId';
const LAST_STATE = `
SELECT max(s.id) FROM captured_states AS s JOIN captured_versions AS v ON v.id = s.version_id WHERE v.file_id = ?`;
const INSERT_GONE = `
INSERT INTO captured_versions (file_id, version, change)
SELECT file_id, max(version) + 1, ${CHANGES.indexOf('gone')} FROM captured_versions WHERE file_id = ?`;
const INSERT_GONE_STATE =
  'INSERT INTO captured_states (version_id, size_bytes, sha256, captured_at_ms) VALUES (?, 0, ?, ?)';

type CaptureDeps = {
  readonly path: string;
  readonly checkSchema: SchemaGuard;
  /** The connection that stores, with a guard of its own; opened on first use. */
  readonly writer: () => { readonly db: Database.Database; readonly checkSchema: SchemaGuard };
};

export function createCaptureStore(
  db: Database.Database,
  { path, checkSchema, writer }: CaptureDeps,
): SyncArchive['captures'] {
  const findFile = db.prepare<[object], Row>(FIND_FILE);
  const listFiles = db.prepare<[], Row>(LIST_FILES);
  const listStates = db.prepare<[object], Row>(LIST_STATES);
  const confirm = db.prepare(CONFIRM);
  const lastState = db.prepare<[number], number | null>(LAST_STATE).pluck();
  const insertGone = db.prepare(INSERT_GONE);
  const insertGoneState = db.prepare(INSERT_GONE_STATE);
  const begins: SyncArchive['captures']['begin'][] = [];
  const openBegin = (): SyncArchive['captures']['begin'] => {
    const opened = writer();
    const begin = createCaptureBegin(opened.db, { path, checkSchema: opened.checkSchema });
    begins.push(begin);
    return begin;
  };

  const writeConfirm = db.transaction((values: object): void => {
    checkSchema();
    confirm.run(values);
  });
  const writeGone = db.transaction((fileId: number, lastStateId: number, at: Date): void => {
    checkSchema();
    if (lastState.get(fileId) !== lastStateId) return;
    const { lastInsertRowid } = insertGone.run(fileId);
    insertGoneState.run(lastInsertRowid, hash('sha256', '', 'buffer'), timeColumn(at));
  });

  return {
    find: (filePath) =>
      guard(path, () => {
        const row = findFile.get({ path: textColumn(filePath) });
        return row === undefined ? null : toFile(row);
      }),
    list: () => guard(path, () => listFiles.all().map(toFile)),
    listStates: (fileId) => guard(path, () => listStates.all({ fileId }).map(toState)),
    read: createStateReader(db, path),
    begin: (outline) => (begins[0] ?? openBegin())(outline),
    confirm: (fileId, { stamp, readAt }) =>
      guard(path, () => writeConfirm.immediate({ stamp, at: timeColumn(readAt), fileId })),
    markGone: (fileId, { lastStateId, at }) => guard(path, () => writeGone.immediate(fileId, lastStateId, at)),
  };
}

export function toFile(row: Row): CapturedFile {
  return {
    id: readInteger(row, 'id'),
    path: readText(row, 'path'),
    format: readText(row, 'format'),
    stamp: readOptionalText(row, 'stamp'),
    readAt: readTime(row, 'read_at_ms') ?? new Date(Number.NaN),
    last: toState(row),
  };
}

export function toState(row: Row): CapturedState {
  const change = CHANGES[readInteger(row, 'change')];
  if (change === undefined) throw new DamageError("a captured version's change is not what was stored");
  return {
    id: readInteger(row, 'state_id'),
    version: readInteger(row, 'version'),
    change,
    sizeBytes: readInteger(row, 'size_bytes'),
    sha256: readHash(row, 'sha256'),
    capturedAt: readTime(row, 'captured_at_ms') ?? new Date(Number.NaN),
  };
}

export const GET_STATE = 'SELECT version_id, size_bytes FROM captured_states WHERE id = :id';
export const LIST_RUNS = `
SELECT position, first_line_id, line_count FROM captured_runs WHERE version_id = :versionId AND position > :position ORDER BY position LIMIT 1000`;

/** Reads a state run by run, with statements that are never left open, so that the caller may stop at any time. */
function createStateReader(db: Database.Database, path: string): SyncArchive['captures']['read'] {
  const getState = db.prepare<[object], Row>(GET_STATE);
  const readRuns = createRunReader(db, path);
  return function* read(stateId) {
    const state = guard(path, () => getState.get({ id: stateId }));
    if (state === undefined) return;
    let left = readInteger(state, 'size_bytes');
    const pieces = readRuns(readInteger(state, 'version_id'));
    while (left > 0) {
      const next = guard(path, () => pieces.next());
      if (next.done === true) guard(path, () => damagedState(left));
      else {
        yield next.value.subarray(0, left);
        left -= next.value.length;
      }
    }
  };
}

export function damagedState(missingBytes: number): never {
  throw new DamageError(`${missingBytes} bytes of a captured file are missing`);
}

const LIST_LINES = `
SELECT id, block_id, offset, size_bytes, sha256, erasure_id FROM captured_lines WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 4096`;

type RunReader = (versionId: number) => Generator<Uint8Array, undefined>;

/** Gives all bytes of a version, as many at once as lie together. Each line is checked against its hash. Throws a `DamageError`, or an `ArchiveError` if lines were erased. */
export function createRunReader(db: Database.Database, path: string): RunReader {
  const listRuns = db.prepare<[object], Row>(LIST_RUNS);
  const listLines = db.prepare<[number, number], Row>(LIST_LINES);
  const findMark = createMarkFinder(db);

  function* readRun(
    readBlock: BlockReader,
    { firstId, lineCount }: { readonly firstId: number; readonly lineCount: number },
  ): Generator<Uint8Array> {
    const lastId = firstId + lineCount - 1;
    for (let id = firstId; id <= lastId;) {
      const rows = listLines.all(id, lastId);
      const erased = rows.find((row) => row['erasure_id'] !== null);
      const mark = erased === undefined ? null : findMark(readInteger(erased, 'erasure_id'));
      if (mark !== null) throw archiveError({ kind: 'erased', path, ...mark });
      for (const [blockId, lines] of Map.groupBy(rows, (row) => readInteger(row, 'block_id'))) {
        const last = lines.at(-1);
        const wanted = last === undefined ? 0 : readInteger(last, 'offset') + readInteger(last, 'size_bytes');
        const raw = readBlock(blockId, wanted);
        if (raw === null) throw new DamageError(`block ${blockId} of captured lines cannot be decompressed`);
        yield checkCapturedRun(lines, { firstId: id, raw });
        id += lines.length;
      }
      if (rows.length === 0) throw new DamageError(`captured line ${id} is missing`);
    }
  }

  return function* readRuns(versionId) {
    const readBlock = createBlockReader(db);
    let position = -1;
    for (;;) {
      const rows = listRuns.all({ versionId, position });
      if (rows.length === 0) return undefined;
      for (const row of rows) {
        position = readInteger(row, 'position');
        const firstId = readInteger(row, 'first_line_id');
        yield* readRun(readBlock, { firstId, lineCount: readInteger(row, 'line_count') });
      }
    }
  };
}

/** Looks up an erasure by its row's id. */
function createMarkFinder(db: Database.Database): (id: number | null) => ErasureMark | null {
  const getErasure = db.prepare<[number], Row>('SELECT receipt, at_ms FROM erasures WHERE id = ?');
  return (id) => {
    const row = id === null ? undefined : getErasure.get(id);
    if (row === undefined) return null;
    return { receipt: readText(row, 'receipt'), at: readTime(row, 'at_ms') ?? new Date(Number.NaN) };
  };
}
