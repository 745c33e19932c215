import type { ErasableCompaction, RetentionStore } from '../../../ports/retention.ts';
import { bytesIn } from '../blocks.ts';
import { GET_STATE, isErased, readBlocksOf } from '../read/captured.ts';
import {
  readFields,
  readInteger,
  readMoment,
  readOptionalInteger,
  readOptionalText,
  readText,
  timeColumn,
  messageIdColumn,
} from '../rows.ts';
import { type Dialect, type Query, readNumber, type Sql } from '../sql/query.ts';
import { keepEntry, toLogEntry } from '../store/audit-log.ts';
import { LIST_PATHS } from '../store/runs.ts';
import { erase, findEffect, LAST_FILE, LIST_ERASURES, type RetentionEngine, toErasure } from './erase.ts';

/** Replaces one of the same scope. */
export const ADD_HOLD = `
INSERT INTO holds (kind, value, reason, added_at_ms) VALUES (:kind, :value, :reason, :at)
ON CONFLICT (kind, value) DO UPDATE SET reason = excluded.reason, added_at_ms = excluded.added_at_ms`;
const LIST_CYCLES =
  'SELECT id, parent_cycle_id AS parent_id, conversation_id FROM cycles WHERE compaction_id = :id ORDER BY position';
const FIND_MESSAGE = `
SELECT l.id AS line_id, k.compaction_id, y.conversation_id, l.size_bytes FROM lines AS l
JOIN blocks AS k ON k.id = l.block_id JOIN compactions AS c ON c.id = k.compaction_id
LEFT JOIN batches AS o ON o.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, o.cycle_id)
WHERE l.message_id = :messageId AND c.status = 'applied' ORDER BY l.id`;
const DELETE_HOLD = 'DELETE FROM holds WHERE kind = :kind AND value = :value RETURNING id';

/** Holds and erasures. After an erasure, `purge` rewrites what still has the bytes. `path`: of the archive, for messages. */
export function createRetention(sql: Sql, path: string, engine: RetentionEngine): Omit<RetentionStore, 'isPurged'> {
  const { query } = sql;
  const erasing = { engine, dialect: sql.dialect, path };
  return {
    listHolds: async () =>
      (await query('SELECT * FROM holds ORDER BY id')).map((row) => ({
        id: readInteger(row, 'id'),
        kind: row['kind'] === 'source' ? 'source' : 'conversation',
        ...readFields(row, { value: readText, reason: readOptionalText, addedAt: readMoment }),
      })),
    addHold: ({ kind, value, reason, addedAt }) => {
      const details = JSON.stringify({ [kind]: value, reason });
      const entry = toLogEntry({ action: 'hold', doneAt: addedAt, details });
      return sql.transaction('write', async (within) => {
        await within(ADD_HOLD, { kind, value, reason, at: timeColumn(addedAt) });
        await keepEntry(within, entry);
      });
    },
    removeHold: ({ kind, value }, doneAt) => {
      const entry = toLogEntry({ action: 'release', doneAt, details: JSON.stringify({ [kind]: value }) });
      return sql.transaction('write', async (within) => {
        if ((await within(DELETE_HOLD, { kind, value })).length === 0) return false;
        return keepEntry(within, entry);
      });
    },
    lastFileId: () => readNumber(query, `SELECT ${LAST_FILE}`),
    listErasable: async function* pages() {
      for (let after = 0; ;) {
        const found = await sql.transaction('snapshot', (within) => listErasable(within, after, sql.dialect));
        const last = found.at(-1);
        if (last === undefined) return;
        after = last.id;
        yield found;
      }
    },
    findMessageLines: async (messageId) =>
      (await query(FIND_MESSAGE, { messageId: messageIdColumn(messageId) })).map((row) =>
        readFields(row, MESSAGE_LINE),
      ),
    readPieces: async function* pages(id) {
      const [state] = await query(GET_STATE, { id });
      const step: Parameters<typeof readBlocksOf>[0] = (work) => sql.transaction('snapshot', work);
      const blocks = state === undefined ? [] : readBlocksOf(step, readInteger(state, 'version_id'));
      for await (const { lines, raw } of blocks)
        yield lines.map((line) => ({ id: readInteger(line, 'id'), bytes: isErased(line) ? null : bytesIn(raw, line) }));
    },
    findEffect: async (ids) => {
      const trial = await sql.begin('trial');
      try {
        return await findEffect(trial.query, ids, erasing);
      } finally {
        await trial.rollback();
      }
    },
    erase: (plan) => engine.erase((within, id) => erase(within, plan, { ...erasing, id })),
    purge: engine.purge,
    listErasures: async () => (await query(LIST_ERASURES)).map(toErasure),
  };
}

/** The next applied compactions after an id. */
async function listErasable(query: Query, after: number, { onBlock, onCompaction, onPack }: Dialect) {
  const rows = await query(
    `
SELECT c.id, c.format, c.source_path,
  (SELECT max(t.at_ms) FROM (SELECT c.created_at_ms AS at_ms
    UNION ALL SELECT r.begun_at_ms FROM run_files AS f JOIN runs AS r ON r.id = f.run_id WHERE f.compaction_id = c.id) AS t) AS archived_at_ms,
  (SELECT count(*) FROM blocks AS k JOIN lines AS l ON ${onBlock} WHERE ${onCompaction} AND l.erasure_id IS NULL) AS lines,
  (SELECT CAST(coalesce(sum(k.raw_size_bytes), 0) AS bigint) FROM blocks AS k WHERE ${onCompaction} AND k.position >= 0) AS bytes,
  (SELECT CAST(coalesce(sum(length(p.data) * k.raw_size_bytes / CASE WHEN p.raw_size_bytes = 0 THEN 1 ELSE p.raw_size_bytes END), 0) AS bigint)
    FROM blocks AS k JOIN packs AS p ON ${onPack} WHERE ${onCompaction}) AS stored_bytes
FROM compactions AS c WHERE c.status = 'applied' AND c.id > :after ORDER BY c.id LIMIT 100`,
    { after },
  );
  const found: ErasableCompaction[] = [];
  for (const row of rows) {
    const id = readInteger(row, 'id');
    const cycle = { id: readInteger, parentId: readOptionalInteger, conversationId: readText };
    found.push({
      id,
      ...readFields(row, { format: readText, sourcePath: readText, archivedAt: readMoment }),
      ...readFields(row, { lines: readInteger, bytes: readInteger, storedBytes: readInteger }),
      paths: (await query(LIST_PATHS, { id })).map((one) => readText(one, 'path')),
      cycles: (await query(LIST_CYCLES, { id })).map((one) => readFields(one, cycle)),
    });
  }
  return found;
}

const MESSAGE_LINE = {
  lineId: readInteger,
  compactionId: readInteger,
  conversationId: readOptionalText,
  sizeBytes: readInteger,
};
