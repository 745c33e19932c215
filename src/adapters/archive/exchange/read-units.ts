import { hash } from 'node:crypto';
import { z } from 'zod';
import type { CapturedFile } from '../../../ports/captures.ts';
import type {
  BatchName,
  CapturedPiece,
  CaptureReader,
  ErasedState,
  ExchangedCapture,
  Receipt,
  Unit,
  UnitBatch,
  UnitCycle,
  UnitKey,
  UnitLine,
  UnitReader,
  UnitVector,
} from '../../../ports/exchange.ts';
import { createUnpack } from '../blocks.ts';
import { buildOrigin } from '../erase/captures.ts';
import { DamageError } from '../failure.ts';
import { createCapturedFiles, readBlocksOf, takeCaptured } from '../read/captured.ts';
import {
  LABEL,
  LIST_INSERTED,
  LIST_KEPT,
  readBatch,
  readCycle,
  readHead,
  toInserted,
  toKept,
} from '../read/compactions.ts';
import { readLineBlocks, takeLine } from '../read/lines.ts';
import {
  hashColumn,
  readBytes,
  readCaller,
  readFields,
  readHash,
  readInteger,
  readMessageId,
  readOptionalInteger,
  readOptionalText,
  readOutcome,
  readRole,
  readText,
  type Row,
} from '../rows.ts';
import { type Dialect, hasHash, listPages, OF_BLOCK, type Query } from '../sql/query.ts';
import { toSummary } from '../store/records.ts';
import { FILE_PATHS } from '../store/runs.ts';
import { withTexts } from '../texts.ts';
import { findModel } from '../vectors/vector-store.ts';
import { parseJson } from '../../../core/result.ts';

const BATCH_NAME = 'b.position AS batch, y.position AS cycle, y.compaction_id';
const LIST_CYCLES = `
SELECT y.*, p.compaction_id AS parent_compaction_id, p.position AS parent_position
FROM cycles AS y LEFT JOIN cycles AS p ON p.id = y.parent_cycle_id WHERE y.compaction_id = :id ORDER BY y.position`;
const LIST_BATCHES = `
SELECT b.*, ${LABEL} AS label, y.compaction_id FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id WHERE b.cycle_id = :id ORDER BY b.position`;
const LIST_SOURCES = `
SELECT ${BATCH_NAME} FROM batch_sources AS s JOIN batches AS b ON b.id = s.source_id JOIN cycles AS y ON y.id = b.cycle_id
WHERE s.batch_id = :id ORDER BY s.position`;
const LIST_LIVE = `
SELECT ${BATCH_NAME} FROM live_batches AS s JOIN batches AS b ON b.id = s.batch_id JOIN cycles AS y ON y.id = b.cycle_id
WHERE s.cycle_id = :id ORDER BY s.position`;
const LIST_CARRIED = `
SELECT y.position AS cycle, b.position AS batch, k.compaction_id, l.line FROM cycles AS y
JOIN carried_lines AS d ON d.cycle_id = y.id JOIN batches AS b ON b.id = d.batch_id
JOIN lines AS l ON l.id = d.line_id JOIN blocks AS k ON k.id = l.block_id
WHERE y.compaction_id = :id ORDER BY y.position, k.compaction_id, l.line`;
const LIST_FILES = `
SELECT r.token, r.begun_at_ms, r.user_name, r.host, r.version, r.command, r.undone_at_ms AS run_undone_at_ms, ${FILE_PATHS}, f.undone_at_ms
FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id LEFT JOIN runs AS r ON r.id = f.run_id WHERE f.compaction_id = :id ORDER BY f.id`;

const PAGE = 2000;
const MAX_KNOWN_KEYS = 1000;
const LIST_RECEIPTS = 'SELECT receipt, at_ms, report FROM erasures ORDER BY id';
const LIST_UNFINISHED = 'SELECT receipt FROM erasures WHERE is_finished = 0';
const COMPACTIONS = `
SELECT c.*, s.sha256 AS settings_sha256, s.value AS settings, e.receipt
FROM compactions AS c JOIN settings AS s ON s.id = c.settings_id LEFT JOIN erasures AS e ON e.id = c.erasure_id`;
const LIST_COMPACTIONS = `${COMPACTIONS} WHERE c.status <> 'prepared' AND c.id > :after ORDER BY c.id LIMIT 1`;
const LIST_TOUCHED = `
${COMPACTIONS} WHERE c.status <> 'prepared' AND c.erasure_id IS NOT NULL AND c.id > :after ORDER BY c.id LIMIT 1`;
const LOAD_COMPACTION = `${COMPACTIONS} WHERE c.id = :id`;
const FIND_COMPACTIONS = `
${COMPACTIONS} WHERE ${hasHash('c.source_sha256', 'source')} AND s.sha256 = :settings AND c.status <> 'prepared' ORDER BY c.id`;
const LIST_LINES = `
SELECT l.*, e.receipt, y.position AS own_cycle, b.position AS batch_position, z.position AS batch_cycle
FROM lines AS l LEFT JOIN erasures AS e ON e.id = l.erasure_id LEFT JOIN cycles AS y ON y.id = l.cycle_id
LEFT JOIN batches AS b ON b.id = l.batch_id LEFT JOIN cycles AS z ON z.id = b.cycle_id
WHERE ${OF_BLOCK} ORDER BY l.id`;
const LIST_HASHES = `
SELECT l.id, k.compaction_id, l.sha256 FROM lines AS l JOIN blocks AS k ON k.id = l.block_id
WHERE l.id > :after AND l.erasure_id IS NULL ORDER BY l.id LIMIT ${PAGE}`;
const LIST_ERASED = {
  archived: `
SELECT l.id, l.sha256 FROM lines AS l JOIN erasures AS e ON e.id = l.erasure_id WHERE e.receipt = :receipt AND l.id > :after ORDER BY l.id LIMIT ${PAGE}`,
  captured: `
SELECT l.id, l.sha256 FROM captured_lines AS l JOIN erasures AS e ON e.id = l.erasure_id
WHERE e.receipt = :receipt AND l.id > :after ORDER BY l.id LIMIT ${PAGE}`,
} as const;
const LIST_SUMMARIES = `
SELECT * FROM summaries WHERE request_sha256 > :after ORDER BY request_sha256 LIMIT 200`;
const LIST_VECTORS: { readonly [kind in UnitVector['kind']]: string } = {
  message: `
SELECT v.line_id AS id, v.vector, k.compaction_id, l.line FROM message_vectors AS v
JOIN lines AS l ON l.id = v.line_id JOIN blocks AS k ON k.id = l.block_id JOIN compactions AS c ON c.id = k.compaction_id
WHERE c.status <> 'prepared' AND v.line_id > :after ORDER BY v.line_id LIMIT ${PAGE}`,
  batch: `
SELECT v.batch_id AS id, v.vector, ${BATCH_NAME} FROM batch_vectors AS v
JOIN batches AS b ON b.id = v.batch_id JOIN cycles AS y ON y.id = b.cycle_id JOIN compactions AS c ON c.id = y.compaction_id
WHERE c.status <> 'prepared' AND v.batch_id > :after ORDER BY v.batch_id LIMIT ${PAGE}`,
};

/** Reads an archive as units. */
export function createReader(query: Query, dialect: Dialect): UnitReader {
  const reading = { query, dialect, unpack: createUnpack() };
  const loadRow = async (id: number): Promise<Row> => {
    const [row] = await query(LOAD_COMPACTION, { id });
    if (row === undefined) throw new DamageError(`compaction ${id} is missing`);
    return row;
  };
  const known = new Map<number, UnitKey>();
  const keyOf = async (id: number): Promise<UnitKey> => {
    const found = known.get(id) ?? keyFrom(await loadRow(id), await query(LIST_CYCLES, { id }));
    if (known.size >= MAX_KNOWN_KEYS) known.clear();
    known.set(id, found);
    return found;
  };
  const readUnit = async (row: Row): Promise<Unit> => {
    const id = readInteger(row, 'id');
    const cycleRows = await query(LIST_CYCLES, { id });
    const cycles: UnitCycle[] = [];
    for (const cycle of cycleRows) cycles.push(await readUnitCycle(cycle));
    const carried = [];
    for (const line of await query(LIST_CARRIED, { id }))
      carried.push({ ...(await readBatchName(line)), line: readInteger(line, 'line') });
    return {
      ...readHead(row),
      createdAtMs: readInteger(row, 'created_at_ms'),
      key: keyFrom(row, cycleRows),
      receipt: readOptionalText(row, 'receipt'),
      isErased: row['status'] === 'erased',
      cycles,
      inserted: (await withTexts(reading, await query(LIST_INSERTED, { id }))).map(toInserted),
      kept: (await query(LIST_KEPT, { id })).map(toKept),
      carried,
      files: (await query(LIST_FILES, { id })).map((file) => ({
        run: file['token'] === null ? null : readRun(file),
        ...readFields(file, { sourcePath: readText, outputPath: readOptionalText, undoneAtMs: readOptionalInteger }),
      })),
    };
  };
  const readBatchName = async (row: Row): Promise<BatchName> => ({
    unit: await keyOf(readInteger(row, 'compaction_id')),
    ...readFields(row, { cycle: readInteger, batch: readInteger }),
  });
  const readBatchNames = async (sql: string, id: number): Promise<UnitCycle['live']> => {
    const names = [];
    for (const row of await query(sql, { id })) names.push(await readBatchName(row));
    return names;
  };
  const readUnitCycle = async (row: Row): Promise<UnitCycle> => {
    const id = readInteger(row, 'id');
    const parent = readOptionalInteger(row, 'parent_compaction_id');
    const batches: UnitBatch[] = [];
    for (const batch of await withTexts(reading, await query(LIST_BATCHES, { id })))
      batches.push({ ...readBatch(batch), sources: await readBatchNames(LIST_SOURCES, readInteger(batch, 'id')) });
    return {
      ...readCycle(row),
      parent: parent === null ? null : { unit: await keyOf(parent), cycle: readInteger(row, 'parent_position') },
      batches,
      live: await readBatchNames(LIST_LIVE, id),
    };
  };

  return {
    ...createCaptureReader(query, dialect),
    receipts: async () => (await query(LIST_RECEIPTS)).map(toReceipt),
    unfinishedReceipts: async () => new Set((await query(LIST_UNFINISHED)).map((row) => readText(row, 'receipt'))),
    async *units({ touchedOnly } = { touchedOnly: false }) {
      const sql = touchedOnly ? LIST_TOUCHED : LIST_COMPACTIONS;
      for await (const [row = {}] of listPages(query, sql))
        yield { id: readInteger(row, 'id'), unit: await readUnit(row) };
    },
    findUnit: async (key) => {
      const [source = '', settings = ''] = key.split('-');
      const values = { source: hashColumn(source), settings: hashColumn(settings) };
      for (const row of await query(FIND_COMPACTIONS, values)) {
        const id = readInteger(row, 'id');
        if (keyFrom(row, await query(LIST_CYCLES, { id })) === key) return id;
      }
      return null;
    },
    loadUnit: async (id) => readUnit(await loadRow(id)),
    async *lines(id) {
      for await (const { rows, raw, pack } of readLineBlocks(reading, id, LIST_LINES))
        yield { lines: rows.map((row) => toUnitLine(row, raw)), pack };
    },
    async *lineHashes() {
      for await (const rows of listPages(query, LIST_HASHES))
        yield rows.map((row) => ({ unitId: readInteger(row, 'compaction_id'), sha256: readHash(row, 'sha256') }));
    },
    async *erasedHashes(kind, receipt) {
      for await (const rows of listPages(query, LIST_ERASED[kind], { receipt }))
        yield rows.map((row) => readHash(row, 'sha256'));
    },
    async *summaries() {
      let after: Uint8Array = new Uint8Array();
      for (;;) {
        const rows = await query(LIST_SUMMARIES, { after });
        const last = rows.at(-1);
        if (last === undefined) return;
        after = readBytes(last, 'request_sha256');
        yield rows.map((row) => ({ request: readHash(row, 'request_sha256'), ...toSummary(row) }));
      }
    },
    vectorModel: () => findModel(query),
    async *vectors() {
      const toVector = async (row: Row, kind: UnitVector['kind']): Promise<UnitVector> => {
        const vector = row['vector'] === null ? null : readBytes(row, 'vector');
        if (kind === 'batch') return { kind, ...(await readBatchName(row)), vector };
        return { kind, unit: await keyOf(readInteger(row, 'compaction_id')), line: readInteger(row, 'line'), vector };
      };
      for (const [kind, sql] of Object.entries(LIST_VECTORS))
        for await (const rows of listPages(query, sql)) {
          const page: UnitVector[] = [];
          for (const row of rows) page.push(await toVector(row, kind as UnitVector['kind']));
          yield page;
        }
    },
  };
}

function readRun(file: Row): NonNullable<Unit['files'][number]['run']> {
  const run = readFields(file, { token: readText, begunAtMs: readInteger, command: readOptionalText });
  return { ...run, by: readCaller(file), undoneAtMs: readOptionalInteger(file, 'run_undone_at_ms') };
}

const MESSAGE = { role: readRole, atMs: readOptionalInteger, name: readOptionalText, traits: readInteger };

function toUnitLine(row: Row, raw: Uint8Array): UnitLine {
  const receipt = readOptionalText(row, 'receipt');
  const batch = readOptionalInteger(row, 'batch_position');
  return {
    line: readInteger(row, 'line'),
    bytes: receipt === null ? takeLine(row, raw) : new Uint8Array(),
    sha256: readHash(row, 'sha256'),
    sizeBytes: readInteger(row, 'size_bytes'),
    receipt,
    outcome: readOutcome(row, 'outcome'),
    batch: batch === null ? null : { cycle: readInteger(row, 'batch_cycle'), batch },
    cycle: readOptionalInteger(row, 'own_cycle'),
    message:
      row['role'] === null
        ? null
        : {
            ...readFields(row, MESSAGE),
            index: readOptionalInteger(row, 'message_index'),
            id: readMessageId(row, 'message_id'),
          },
  };
}

const storedReport = z.object({ kind: z.enum(['erase', 'prune']), capturedFiles: z.number() });

function toReceipt(row: Row): Receipt {
  const [receipt, report] = [readText(row, 'receipt'), readText(row, 'report')];
  if (!storedReport.safeParse(parseJson(report)).success) throw new DamageError(`receipt ${receipt} cannot be read`);
  return { receipt, atMs: readInteger(row, 'at_ms'), report };
}

/** The hashes before the digest lead to the rows in question through an index. */
function keyFrom(row: Row, cycles: readonly Row[]): UnitKey {
  const { source, output, sourcePath, outputPath, processId, format, settingsSha256 } = readHead(row);
  const facts = [
    format,
    sourcePath,
    outputPath,
    source.sizeBytes,
    source.lineCount,
    source.hasBom,
    output.sha256,
    output.sizeBytes,
    readInteger(row, 'created_at_ms'),
    processId,
    ...cycles.map((row) => {
      const { conversationId, cycle, clipSha256 } = readCycle(row);
      return [conversationId, cycle, clipSha256];
    }),
  ];
  return `${source.sha256}-${settingsSha256}-${hash('sha256', JSON.stringify(facts)).slice(0, 32)}`;
}

const FIND_VERSION = `
SELECT v.id FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id WHERE f.path = :path AND v.version = :version`;
const LIST_FILES_WITH = `
SELECT DISTINCT f.path FROM captured_lines AS l JOIN captured_runs AS r ON r.first_line_id <= l.id AND r.first_line_id + r.line_count > l.id
JOIN captured_versions AS v ON v.id = r.version_id JOIN captured_files AS f ON f.id = v.file_id
WHERE substr(l.sha256, 1, 8) = :start AND l.sha256 = :sha256 AND l.erasure_id IS NULL`;
const LIST_ERASED_STATES = `
SELECT s.id, s.sha256, s.origin_sha256, e.receipt FROM erased_states AS s JOIN erasures AS e ON e.id = s.erasure_id
WHERE s.id > :after ORDER BY s.id LIMIT 1000`;
const FIND_ERASED_STATES = `
SELECT s.sha256, s.origin_sha256, e.receipt FROM erased_states AS s JOIN erasures AS e ON e.id = s.erasure_id
WHERE s.sha256 = :sha256 OR s.origin_sha256 = :origin`;
const HAS_STATE = 'SELECT 1 AS found FROM captured_states WHERE sha256 = :sha256 LIMIT 1';
const GET_FIRST = `
SELECT l.sha256 FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id
JOIN captured_runs AS r ON r.version_id = v.id AND r.position = 0 JOIN captured_lines AS l ON l.id = r.first_line_id
WHERE f.path = :path AND v.version = :version`;

/** Reads whole captured files. */
function createCaptureReader(query: Query, { capturing }: Dialect): CaptureReader {
  const { find, list, listStates } = createCapturedFiles({ query }, '');
  const toCapture = async (known: CapturedFile): Promise<ExchangedCapture> => {
    const { id: fileId, last: _, ...file } = known;
    return { ...file, states: (await listStates(fileId)).map(({ id: _id, ...state }) => state) };
  };

  return {
    findLines: async (sha256s) => {
      const rows = await capturing.findLines(query, sha256s.map(hashColumn));
      return new Set(rows.map((row) => readHash(row, 'sha256')));
    },
    filesWith: async (sha256) => {
      const bytes = hashColumn(sha256);
      const rows = await query(LIST_FILES_WITH, { sha256: bytes, start: bytes.subarray(0, 8) });
      return rows.map((row) => readText(row, 'path'));
    },
    async *erasedStates() {
      for await (const rows of listPages(query, LIST_ERASED_STATES)) yield rows.map(toErasedState);
    },
    findErasedStates: async ({ sha256, originSha256 }) => {
      const origin = originSha256 === null ? null : hashColumn(originSha256);
      return (await query(FIND_ERASED_STATES, { sha256: hashColumn(sha256), origin })).map(toErasedState);
    },
    hasState: async (sha256) => (await query(HAS_STATE, { sha256: hashColumn(sha256) })).length > 0,
    originOf: async (path, version) => {
      const [row] = await query(GET_FIRST, { path, version });
      return row === undefined ? null : buildOrigin(path, readHash(row, 'sha256')).toString('hex');
    },
    async *captures() {
      for (const file of await list()) yield await toCapture(file);
    },
    findCapture: async (path) => {
      const file = await find(path);
      return file === null ? null : toCapture(file);
    },
    async *pieces(path, { version, sizeBytes }) {
      let left = sizeBytes;
      if (left === 0) return;
      const [found] = await query(FIND_VERSION, { path, version });
      const blocks = found === undefined ? [] : readBlocksOf((work) => work(query), readInteger(found, 'id'));
      for await (const { lines, raw } of blocks) {
        const pieces: CapturedPiece[] = [];
        for (const line of lines) {
          if (left === 0) break;
          const piece = readFields(line, { sha256: readHash, sizeBytes: readInteger, receipt: readOptionalText });
          left -= piece.sizeBytes;
          if (left < 0) throw new DamageError('a captured state ends within a line');
          pieces.push({ ...piece, bytes: piece.receipt === null ? takeCaptured(line, raw) : null });
        }
        yield pieces;
        if (left === 0) return;
      }
      throw new DamageError(`${left} bytes of a captured file are missing`);
    },
  };
}

function toErasedState(row: Row): ErasedState {
  return readFields(row, { receipt: readText, sha256: readHash, originSha256: readHash });
}
