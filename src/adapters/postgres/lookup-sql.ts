import type { SearchFilter } from '../../ports/archive-lookup.ts';
import { ROLES, timeColumn } from '../archive/rows.ts';
import type { Query, Values } from '../archive/sql/query.ts';

const ofSource = `
(:source::text IS NULL OR c.source_path = :source OR right(c.source_path, length(:sourceEnd::text)) = :sourceEnd)`;

/** For lines AS l with the dialect's `lineJoins`; values from `filterValues`. */
export const LINE_PASSES = `
c.status = 'applied' AND l.role IS NOT NULL AND (:conversation::text IS NULL OR y.conversation_id = :conversation)
AND (:role::int IS NULL OR l.role = :role) AND (:sinceMs::bigint IS NULL OR l.at_ms >= :sinceMs) AND (:untilMs::bigint IS NULL OR l.at_ms < :untilMs)
AND ${ofSource}`;

/** For batches AS b with the dialect's `batchJoins`: their time overlaps with the one asked for. */
export const BATCH_PASSES = `
(:sinceMs::bigint IS NULL OR b.end_ms >= :sinceMs) AND (:untilMs::bigint IS NULL OR b.start_ms < :untilMs) AND ${ofSource}`;

export function filterValues({ conversationId, role, since, until, source }: SearchFilter): Values {
  return {
    conversation: conversationId,
    role: role === null ? null : ROLES.indexOf(role),
    sinceMs: timeColumn(since),
    untilMs: timeColumn(until),
    source,
    sourceEnd: source === null ? null : `/${source}`,
  };
}

const FIND_RANGE = `
SELECT min(c.first_line_id) AS first, max(c.last_line_id) AS last FROM compactions AS c
WHERE ${ofSource} AND (:conversation::text IS NULL OR EXISTS (
  SELECT 1 FROM cycles AS y WHERE y.compaction_id = c.id AND y.conversation_id = :conversation))`;

/** A range of lines that contains all that pass the filter, and others; empty if the first is higher. */
export async function findLineRange(
  query: Query,
  filter: SearchFilter,
): Promise<{ readonly first: number; readonly last: number }> {
  if (filter.source === null && filter.conversationId === null) return { first: 0, last: Number.MAX_SAFE_INTEGER };
  const [row] = await query(FIND_RANGE, filterValues(filter));
  return { first: Number(row?.['first'] ?? 1), last: Number(row?.['last'] ?? 0) };
}
