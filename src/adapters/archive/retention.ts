import type Database from 'better-sqlite3';
import type { Hold, HoldScope, ErasableCompaction, MessageLine } from '../../ports/retention.ts';
import { MAX_RAW_BYTES, tryDecompress } from './blocks.ts';
import { DamageError, guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import {
  readBytes,
  readInteger,
  readOptionalInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  textColumn,
  timeColumn,
} from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

const LIST_HOLDS = 'SELECT * FROM holds ORDER BY id';
const ADD_HOLD = `
INSERT INTO holds (kind, value, reason, added_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (kind, value) DO UPDATE SET reason = excluded.reason, added_at_ms = excluded.added_at_ms`;
const REMOVE_HOLD = 'DELETE FROM holds WHERE kind = ? AND value = ?';
const LIST_KEPT = `
SELECT c.id, c.source_path, c.output_path, c.created_at_ms,
  (SELECT count(*) FROM blocks AS k JOIN lines AS l ON l.block_id = k.id WHERE k.compaction_id = c.id AND l.erasure_id IS NULL) AS lines,
  (SELECT coalesce(sum(raw_size_bytes), 0) FROM blocks WHERE compaction_id = c.id) AS bytes,
  (SELECT coalesce(sum(length(data)), 0) FROM blocks WHERE compaction_id = c.id) AS stored_bytes
FROM compactions AS c WHERE c.status = 'applied' AND c.id > ? ORDER BY c.id LIMIT 100`;
const LIST_CYCLES = 'SELECT id, parent_cycle_id, conversation_id FROM cycles WHERE compaction_id = ? ORDER BY position';
const FIND_MESSAGE = `
SELECT l.id, k.compaction_id, y.conversation_id, l.size_bytes FROM lines AS l
JOIN blocks AS k ON k.id = l.block_id JOIN compactions AS c ON c.id = k.compaction_id
LEFT JOIN batches AS o ON o.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, o.cycle_id)
WHERE l.message_id = ? AND c.status = 'applied' ORDER BY l.id`;
const LIST_BLOCKS = 'SELECT id, raw_size_bytes, data FROM captured_blocks WHERE id > ? ORDER BY id LIMIT 1';
const LIST_LINES =
  'SELECT id, offset, size_bytes FROM captured_lines WHERE block_id = ? AND erasure_id IS NULL ORDER BY id';

type Retention = Omit<SyncArchive['retention'], 'findEffect' | 'erase' | 'purge' | 'isPurged' | 'listErasures'>;

/** Holds, and what there is to prune or erase. */
export function createRetention(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): Retention {
  const listCycles = db.prepare<[number], Row>(LIST_CYCLES);
  const listAfter = db.prepare<[number], Row>(LIST_KEPT);
  const addHold = db.transaction(({ kind, value, reason, addedAt }: Omit<Hold, 'id'>): void => {
    checkSchema();
    const reasonColumn = reason === null ? null : textColumn(reason);
    db.prepare(ADD_HOLD).run(kind, textColumn(value), reasonColumn, timeColumn(addedAt));
  });
  const removeHold = db.transaction(({ kind, value }: HoldScope): boolean => {
    checkSchema();
    return db.prepare(REMOVE_HOLD).run(kind, textColumn(value)).changes > 0;
  });

  function* listErasable(): IterableIterator<readonly ErasableCompaction[]> {
    for (let last = 0; ;) {
      const kept = guard(path, () =>
        listAfter.all(last).map((row) => toKept(row, listCycles.all(readInteger(row, 'id')))),
      );
      const next = kept.at(-1);
      if (next === undefined) return;
      last = next.id;
      yield kept;
    }
  }

  function* readCaptured(): IterableIterator<readonly { readonly id: number; readonly bytes: Uint8Array }[]> {
    const nextBlock = guard(path, () => db.prepare<[number], Row>(LIST_BLOCKS));
    const listLines = guard(path, () => db.prepare<[number], Row>(LIST_LINES));
    for (let last = 0; ;) {
      const block = guard(path, () => nextBlock.get(last));
      if (block === undefined) return;
      last = readInteger(block, 'id');
      yield guard(path, () => {
        const raw = unpackCaptured(block);
        return listLines.all(last).map((row) => ({ id: readInteger(row, 'id'), bytes: bytesIn(raw, row) }));
      });
    }
  }

  return {
    listHolds: () => guard(path, () => db.prepare<[], Row>(LIST_HOLDS).all().map(toHold)),
    addHold: (hold) => guard(path, () => addHold.immediate(hold)),
    removeHold: (scope) => guard(path, () => removeHold.immediate(scope)),
    listErasable,
    findMessageLines: (messageId) =>
      guard(path, () => db.prepare<[unknown], Row>(FIND_MESSAGE).all(textColumn(messageId)).map(toMessageLine)),
    readCaptured,
  };
}

/** The lines of a row of captured_blocks. Throws a `DamageError`. */
export function unpackCaptured(block: Row): Uint8Array {
  const raw = tryDecompress(readBytes(block, 'data'), Math.min(MAX_RAW_BYTES, readInteger(block, 'raw_size_bytes')));
  if (raw !== null && raw.length === block['raw_size_bytes']) return raw;
  throw new DamageError(`block ${readInteger(block, 'id')} of captured lines cannot be decompressed`);
}

/** The bytes of a line (`offset`, `size_bytes`) in its block. */
export function bytesIn(raw: Uint8Array, line: Row): Uint8Array {
  const offset = readInteger(line, 'offset');
  return raw.subarray(offset, offset + readInteger(line, 'size_bytes'));
}

function toHold(row: Row): Hold {
  return {
    id: readInteger(row, 'id'),
    kind: readText(row, 'kind') === 'source' ? 'source' : 'conversation',
    value: readText(row, 'value'),
    reason: readOptionalText(row, 'reason'),
    addedAt: readTime(row, 'added_at_ms') ?? new Date(Number.NaN),
  };
}

function toKept(row: Row, cycles: readonly Row[]): ErasableCompaction {
  return {
    id: readInteger(row, 'id'),
    sourcePath: readText(row, 'source_path'),
    outputPath: readOptionalText(row, 'output_path'),
    archivedAt: readTime(row, 'created_at_ms') ?? new Date(Number.NaN),
    lines: readInteger(row, 'lines'),
    bytes: readInteger(row, 'bytes'),
    storedBytes: readInteger(row, 'stored_bytes'),
    cycles: cycles.map((cycle) => ({
      id: readInteger(cycle, 'id'),
      parentId: readOptionalInteger(cycle, 'parent_cycle_id'),
      conversationId: readText(cycle, 'conversation_id'),
    })),
  };
}

function toMessageLine(row: Row): MessageLine {
  return {
    lineId: readInteger(row, 'id'),
    compactionId: readInteger(row, 'compaction_id'),
    conversationId: readOptionalText(row, 'conversation_id'),
    sizeBytes: readInteger(row, 'size_bytes'),
  };
}
