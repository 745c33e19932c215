import type { SearchFilter } from '../../../ports/archive-lookup.ts';
import { ROLES, timeColumn } from '../rows.ts';
import type { Values } from '../sql/query.ts';

/** For compactions AS c. A value may be null, so Postgres must be told its type. */
export const OF_SOURCE = `
(CAST(:source AS text) IS NULL OR c.source_path = :source
  OR substr(c.source_path, length(c.source_path) - length(CAST(:sourceEnd AS text)) + 1) = :sourceEnd)`;

/** For lines AS l with the dialect's `lineJoins`; values from `filterValues`. */
export const LINE_PASSES = `
c.status = 'applied' AND l.role IS NOT NULL AND (CAST(:conversation AS text) IS NULL OR y.conversation_id = :conversation)
AND (CAST(:role AS int) IS NULL OR l.role = :role) AND (CAST(:sinceMs AS bigint) IS NULL OR l.at_ms >= :sinceMs)
AND (CAST(:untilMs AS bigint) IS NULL OR l.at_ms < :untilMs) AND ${OF_SOURCE}`;

/** For batches AS b with the dialect's `batchJoins`: their time overlaps with the one asked for. */
export const BATCH_PASSES = `
(CAST(:sinceMs AS bigint) IS NULL OR b.end_ms >= :sinceMs) AND (CAST(:untilMs AS bigint) IS NULL OR b.start_ms < :untilMs) AND ${OF_SOURCE}`;

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

/** Ids of lines from first to last, both included; empty if first is higher. */
export type LineRange = { readonly first: number; readonly last: number };

export const ALL_LINES: LineRange = { first: 0, last: Number.MAX_SAFE_INTEGER };
