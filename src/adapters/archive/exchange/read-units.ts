import { z } from 'zod';
import type { CaptureReader, Receipt, UnitKey, UnitLine, UnitReader } from '../../../ports/exchange.ts';
import { DamageError } from '../failure.ts';
import { readLineBlocks, takeLine } from '../read/lines.ts';
import {
  hashColumn,
  readBytes,
  readHash,
  readInteger,
  readOptionalInteger,
  readOptionalText,
  readOutcome,
  readText,
  ROLES,
  type Row,
} from '../rows.ts';
import { toSummary } from '../store/summaries.ts';
import { listPages, type Query } from '../sql/query.ts';
import { parseJson } from './export-manifest.ts';
import { BATCH_NAME, createUnitHeads } from './unit-heads.ts';

const PAGE = 2000;
const LIST_RECEIPTS = 'SELECT receipt, at_ms, report FROM erasures ORDER BY id';
const LIST_UNFINISHED = 'SELECT receipt FROM erasures WHERE is_finished = 0';
const LIST_COMPACTIONS = `
SELECT c.*, e.receipt FROM compactions AS c LEFT JOIN erasures AS e ON e.id = c.erasure_id
WHERE c.status <> 'prepared' AND c.id > :after ORDER BY c.id LIMIT 1`;
const LIST_TOUCHED = `
SELECT c.*, e.receipt FROM compactions AS c JOIN erasures AS e ON e.id = c.erasure_id
WHERE c.status <> 'prepared' AND c.id > :after ORDER BY c.id LIMIT 1`;
const LOAD_COMPACTION = `
SELECT c.*, e.receipt FROM compactions AS c LEFT JOIN erasures AS e ON e.id = c.erasure_id WHERE c.id = :id`;
const FIND_COMPACTIONS = `
SELECT c.*, NULL AS receipt FROM compactions AS c
WHERE c.source_sha256 = :source AND c.settings_sha256 = :settings AND c.status <> 'prepared' ORDER BY c.id`;
const LIST_LINES = `
SELECT l.*, e.receipt, y.position AS own_cycle, b.position AS batch_position, z.position AS batch_cycle
FROM lines AS l LEFT JOIN erasures AS e ON e.id = l.erasure_id LEFT JOIN cycles AS y ON y.id = l.cycle_id
LEFT JOIN batches AS b ON b.id = l.batch_id LEFT JOIN cycles AS z ON z.id = b.cycle_id
WHERE l.block_id = :id ORDER BY l.line`;
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
const GET_MODEL = 'SELECT provider, model, dimensions FROM vector_model';
const LIST_MESSAGE_VECTORS = `
SELECT v.line_id AS id, v.vector, k.compaction_id, l.line FROM message_vectors AS v
JOIN lines AS l ON l.id = v.line_id JOIN blocks AS k ON k.id = l.block_id JOIN compactions AS c ON c.id = k.compaction_id
WHERE c.status <> 'prepared' AND v.line_id > :after ORDER BY v.line_id LIMIT ${PAGE}`;
const LIST_BATCH_VECTORS = `
SELECT v.batch_id AS id, v.vector, ${BATCH_NAME} FROM batch_vectors AS v
JOIN batches AS b ON b.id = v.batch_id JOIN cycles AS y ON y.id = b.cycle_id JOIN compactions AS c ON c.id = y.compaction_id
WHERE c.status <> 'prepared' AND v.batch_id > :after ORDER BY v.batch_id LIMIT ${PAGE}`;

type CompactionUnits = Omit<UnitReader, keyof CaptureReader>;

/** Reads compactions, receipts, paid summaries and vectors. */
export function createUnitReader(query: Query): CompactionUnits {
  const { readUnit, keyOf, keyFrom, readBatchName } = createUnitHeads(query);

  async function* units({ touchedOnly } = { touchedOnly: false }): ReturnType<UnitReader['units']> {
    const sql = touchedOnly ? LIST_TOUCHED : LIST_COMPACTIONS;
    for (let after = 0; ;) {
      const [row] = await query(sql, { after });
      if (row === undefined) return;
      after = readInteger(row, 'id');
      yield { id: after, unit: await readUnit(row) };
    }
  }

  async function* lines(id: number): AsyncGenerator<readonly UnitLine[]> {
    for await (const { rows, raw } of readLineBlocks(query, id, LIST_LINES))
      yield rows.map((row) => toUnitLine(row, raw));
  }

  return {
    receipts: async () => (await query(LIST_RECEIPTS)).map(toReceipt),
    unfinishedReceipts: async () => new Set((await query(LIST_UNFINISHED)).map((row) => readText(row, 'receipt'))),
    units,
    findUnit: async (key) => {
      const [source = '', settings = ''] = key.split('-');
      const values = { source: hashColumn(source), settings: hashColumn(settings) };
      for (const row of await query(FIND_COMPACTIONS, values)) {
        const id = readInteger(row, 'id');
        if ((await keyFrom(row)) === key) return id;
      }
      return null;
    },
    loadUnit: async (id) => {
      const [row] = await query(LOAD_COMPACTION, { id });
      if (row === undefined) throw new DamageError(`compaction ${id} is missing`);
      return readUnit(row);
    },
    lines,
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
        yield rows.map((row) => ({ request: readHash(row, 'request_sha256'), summary: toSummary(row) }));
      }
    },
    vectorModel: async () => {
      const [row] = await query(GET_MODEL);
      if (row === undefined) return null;
      const [provider, model] = [readText(row, 'provider'), readText(row, 'model')];
      return { provider, model, dimensions: readInteger(row, 'dimensions') };
    },
    async *vectors() {
      const toVector = async (row: Row): Promise<{ readonly unit: UnitKey; readonly vector: Uint8Array | null }> => ({
        unit: await keyOf(readInteger(row, 'compaction_id')),
        vector: row['vector'] === null ? null : readBytes(row, 'vector'),
      });
      for await (const rows of listPages(query, LIST_MESSAGE_VECTORS)) {
        const page = [];
        for (const row of rows)
          page.push({ kind: 'message' as const, ...(await toVector(row)), line: readInteger(row, 'line') });
        yield page;
      }
      for await (const rows of listPages(query, LIST_BATCH_VECTORS)) {
        const page = [];
        for (const row of rows)
          page.push({ kind: 'batch' as const, ...(await toVector(row)), ...(await readBatchName(row)) });
        yield page;
      }
    },
  };
}

function toUnitLine(row: Row, raw: Uint8Array): UnitLine {
  const receipt = readOptionalText(row, 'receipt');
  const role = readOptionalInteger(row, 'role');
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
      role === null
        ? null
        : {
            role: ROLES[role] ?? 'user',
            atMs: readOptionalInteger(row, 'at_ms'),
            index: readOptionalInteger(row, 'message_index'),
            id: readOptionalText(row, 'message_id'),
            name: readOptionalText(row, 'name'),
            traits: readInteger(row, 'traits'),
          },
  };
}

const storedReport = z.object({ kind: z.enum(['erase', 'prune']), capturedFiles: z.number() });

function toReceipt(row: Row): Receipt {
  const [receipt, report] = [readText(row, 'receipt'), readText(row, 'report')];
  if (!storedReport.safeParse(parseJson(report)).success) throw new DamageError(`receipt ${receipt} cannot be read`);
  return { receipt, atMs: readInteger(row, 'at_ms'), report };
}
