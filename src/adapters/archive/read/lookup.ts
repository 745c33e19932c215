import type { ArchivedBatch, ArchivedLine, ArchivedMessage, ArchiveOrigin } from '../../../ports/archive-lookup.ts';
import { LABEL, toBatch } from './compactions.ts';
import {
  readFields,
  readHash,
  readInteger,
  readMessageId,
  readMoment,
  readOptionalInteger,
  readOptionalText,
  readOutcome,
  readRole,
  readText,
  readTime,
  type Row,
} from '../rows.ts';
import type { Query } from '../sql/query.ts';

const ORIGIN_COLUMNS = 'c.id AS compaction_id, c.format, c.source_path, c.created_at_ms';

/** A line quoted in a clip-archive has no batch until a later cycle summarizes it. */
const BATCH_OF_LINE = `CASE WHEN l.outcome <> 2 THEN l.batch_id ELSE (
  SELECT d.batch_id FROM carried_lines AS d JOIN cycles AS dy ON dy.id = d.cycle_id JOIN compactions AS dc ON dc.id = dy.compaction_id
  WHERE d.line_id = l.id AND dc.status = 'applied' ORDER BY d.cycle_id DESC LIMIT 1) END`;

/** Select these from lines AS l with a dialect's `lineJoins`. */
export const LINE_COLUMNS = `
l.id, l.line, l.size_bytes, l.outcome, l.role, l.at_ms, l.message_index, l.message_id, l.name, l.sha256, ${ORIGIN_COLUMNS},
(SELECT ${LABEL} FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id WHERE b.id = ${BATCH_OF_LINE}) AS batch_label, y.conversation_id`;

/** The latest cycles, t, of lineages whose clip-archive contains batch b. */
const TIPS = `
SELECT 1 FROM live_batches AS v JOIN cycles AS t ON t.id = v.cycle_id JOIN compactions AS tc ON tc.id = t.compaction_id
WHERE v.batch_id = b.id AND tc.status = 'applied' AND NOT EXISTS (
  SELECT 1 FROM cycles AS n JOIN compactions AS nc ON nc.id = n.compaction_id WHERE n.parent_cycle_id = t.id AND nc.status = 'applied')`;

export const IS_LIVE = `EXISTS (${TIPS})`;
/** Made for a conversation, or shown in it now (in a fork of the one that it was made for). */
export const IS_LIVE_IN = `EXISTS (${TIPS} AND (y.conversation_id = :conversation OR t.conversation_id = :conversation))`;

/** Select these from batches AS b with a dialect's `batchJoins`. */
export const BATCH_COLUMNS = `b.*, ${LABEL} AS label, ${ORIGIN_COLUMNS}, y.conversation_id, y.cycle`;
export function toArchivedLine(row: Row): ArchivedLine {
  const line = readInteger(row, 'line');
  const index = readOptionalInteger(row, 'message_index');
  const message = (): ArchivedMessage => ({
    id: readMessageId(row, 'message_id') ?? `line:${line}`,
    ...readFields(row, { role: readRole, name: readOptionalText, at: readTime }),
    index: index === 0 ? null : index,
  });
  return {
    ...toOrigin(row),
    lineId: readInteger(row, 'id'),
    line,
    ...readFields(row, LINE),
    message: row['role'] === null ? null : message(),
  };
}

const LINE = {
  sizeBytes: readInteger,
  sha256: readHash,
  outcome: readOutcome,
  conversationId: readOptionalText,
  batchLabel: readOptionalText,
};

/** `is_live`: 0 or 1. */
export function toArchivedBatch(row: Row): ArchivedBatch {
  return {
    ...toBatch(row),
    ...toOrigin(row),
    ...readFields(row, { conversationId: readText, cycle: readInteger }),
    isLive: readInteger(row, 'is_live') === 1,
  };
}

export function toOrigin(row: Row): ArchiveOrigin {
  const origin = readFields(row, { compactionId: readInteger, format: readText, sourcePath: readText });
  return { ...origin, archivedAt: readMoment(row, 'created_at') };
}

/** Takes values until `limit` of them differ in content (by hash) or in conversation; the first of equal ones counts. */
export function createDistinct<T extends { readonly conversationId: string | null }>(
  hashOf: (value: T) => string,
  limit: number,
) {
  const found = new Map<string, T>();
  return {
    add: (value: T): void => {
      const key = `${hashOf(value)} ${value.conversationId ?? ''}`;
      if (!found.has(key) && found.size < limit) found.set(key, value);
    },
    isFull: (): boolean => found.size >= limit,
    list: (): readonly T[] => [...found.values()],
  };
}

const LIST_TITLES =
  'SELECT compaction_id, conversation_id, title FROM cycles WHERE position = 0 ORDER BY compaction_id';

/** The titles of compactions by id: a cycle without one has that of its conversation's last cycle before. */
export async function readTitles(query: Query): Promise<ReadonlyMap<number, string>> {
  const titles = new Map<number, string>();
  const last = new Map<string, string>();
  for (const row of await query(LIST_TITLES)) {
    const conversation = readText(row, 'conversation_id');
    const title = readOptionalText(row, 'title') ?? last.get(conversation);
    if (title === undefined) continue;
    last.set(conversation, title);
    titles.set(readInteger(row, 'compaction_id'), title);
  }
  return titles;
}
