import { hash } from 'node:crypto';
import type { BatchName, Unit, UnitBatch, UnitCycle, UnitKey } from '../../../ports/exchange.ts';
import { DamageError } from '../failure.ts';
import { LIST_INSERTED, LIST_KEPT, readBatch, readHead, toInserted, toKept } from '../read/compactions.ts';
import { readHash, readInteger, readOptionalInteger, readOptionalText, readText, type Row } from '../rows.ts';
import type { Query } from '../sql/query.ts';

export const BATCH_NAME = 'b.position AS batch, y.position AS cycle, y.compaction_id';
const GET_COMPACTION = 'SELECT c.*, NULL AS receipt FROM compactions AS c WHERE c.id = :id';
const LIST_CYCLES = `
SELECT y.*, p.compaction_id AS parent_compaction_id, p.position AS parent_position
FROM cycles AS y LEFT JOIN cycles AS p ON p.id = y.parent_cycle_id WHERE y.compaction_id = :id ORDER BY y.position`;
const LIST_BATCHES = 'SELECT * FROM batches WHERE cycle_id = :id ORDER BY position';
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
SELECT r.token, r.begun_at_ms, r.undone_at_ms AS run_undone_at_ms, f.source_path, f.output_path, f.undone_at_ms
FROM run_files AS f LEFT JOIN runs AS r ON r.id = f.run_id WHERE f.compaction_id = :id ORDER BY f.id`;

/** Reads units from rows of compactions, and the names that they have in every archive. */
export type UnitHeads = {
  /** `receipt` is a column of the row. */
  readonly readUnit: (row: Row) => Promise<Unit>;
  readonly keyOf: (compactionId: number) => Promise<UnitKey>;
  readonly keyFrom: (row: Row) => Promise<UnitKey>;
  /** From the columns of `BATCH_NAME`. */
  readonly readBatchName: (row: Row) => Promise<BatchName>;
};

export function createUnitHeads(query: Query): UnitHeads {
  const keyOf = createKeys(query);

  const readUnit = async (row: Row): Promise<Unit> => {
    const id = readInteger(row, 'id');
    const cycleRows = await query(LIST_CYCLES, { id });
    const cycles: UnitCycle[] = [];
    for (const cycle of cycleRows) cycles.push(await readCycle(cycle));
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
      inserted: (await query(LIST_INSERTED, { id })).map(toInserted),
      kept: (await query(LIST_KEPT, { id })).map(toKept),
      carried,
      files: (await query(LIST_FILES, { id })).map((file) => ({
        run:
          file['token'] === null
            ? null
            : {
                token: readText(file, 'token'),
                begunAtMs: readInteger(file, 'begun_at_ms'),
                undoneAtMs: readOptionalInteger(file, 'run_undone_at_ms'),
              },
        sourcePath: readText(file, 'source_path'),
        outputPath: readOptionalText(file, 'output_path'),
        undoneAtMs: readOptionalInteger(file, 'undone_at_ms'),
      })),
    };
  };
  const readBatchName = async (
    row: Row,
  ): Promise<{ readonly unit: UnitKey; readonly cycle: number; readonly batch: number }> => ({
    unit: await keyOf(readInteger(row, 'compaction_id')),
    cycle: readInteger(row, 'cycle'),
    batch: readInteger(row, 'batch'),
  });
  const readBatchNames = async (sql: string, id: number): Promise<UnitCycle['live']> => {
    const names = [];
    for (const row of await query(sql, { id })) names.push(await readBatchName(row));
    return names;
  };
  const readCycle = async (row: Row): Promise<UnitCycle> => {
    const id = readInteger(row, 'id');
    const parent = readOptionalInteger(row, 'parent_compaction_id');
    const batches: UnitBatch[] = [];
    for (const batch of await query(LIST_BATCHES, { id }))
      batches.push({ ...readBatch(batch), sources: await readBatchNames(LIST_SOURCES, readInteger(batch, 'id')) });
    return {
      conversationId: readText(row, 'conversation_id'),
      cycle: readInteger(row, 'cycle'),
      parent: parent === null ? null : { unit: await keyOf(parent), cycle: readInteger(row, 'parent_position') },
      clipSha256: readHash(row, 'clip_sha256'),
      messagesCompressed: readInteger(row, 'messages_compressed'),
      batches,
      live: await readBatchNames(LIST_LIVE, id),
    };
  };

  return {
    readUnit,
    keyOf,
    keyFrom: async (row) => keyFrom(row, await query(LIST_CYCLES, { id: readInteger(row, 'id') })),
    readBatchName,
  };
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
    ...cycles.map((cycle) => [
      readText(cycle, 'conversation_id'),
      readInteger(cycle, 'cycle'),
      readHash(cycle, 'clip_sha256'),
    ]),
  ];
  return `${source.sha256}-${settingsSha256}-${hash('sha256', JSON.stringify(facts)).slice(0, 32)}`;
}

const MAX_KNOWN_KEYS = 1000;

/** The keys of compactions, by their ids. */
function createKeys(query: Query): (id: number) => Promise<UnitKey> {
  const known = new Map<number, UnitKey>();
  return async (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const [row] = await query(GET_COMPACTION, { id });
    if (row === undefined) throw new DamageError(`compaction ${id} is missing`);
    const key = keyFrom(row, await query(LIST_CYCLES, { id }));
    if (known.size >= MAX_KNOWN_KEYS) known.clear();
    known.set(id, key);
    return key;
  };
}
