import type { SearchFilter } from '../../ports/message-index.ts';
import { ROLES, textColumn, timeColumn } from './columns.ts';

/** Of compactions AS c and cycles AS y. */
const OF_SOURCE = `
(:source IS NULL OR c.source_path = :source OR substr(c.source_path, -length(:sourceEnd)) = :sourceEnd)`;

/** Of lines AS l with `LINE_JOINS`; values from `filterValues`. */
export const LINE_PASSES = `
c.status = 'applied' AND l.role IS NOT NULL AND (:conversation IS NULL OR y.conversation_id = :conversation)
AND (:role IS NULL OR l.role = :role) AND (:sinceMs IS NULL OR l.at_ms >= :sinceMs) AND (:untilMs IS NULL OR l.at_ms < :untilMs)
AND ${OF_SOURCE}`;

/** Of batches AS b with `BATCH_JOINS`: some of its time is in that which is asked for. */
export const BATCH_PASSES = `
(:sinceMs IS NULL OR b.end_ms >= :sinceMs) AND (:untilMs IS NULL OR b.start_ms < :untilMs) AND ${OF_SOURCE}`;

/** The compactions of the source: from the first to the last. */
export const FIND_COMPACTIONS = `
SELECT min(c.id) AS oldest, max(c.id) AS newest FROM compactions AS c WHERE ${OF_SOURCE}`;

export type FilterValues = {
  readonly conversation: string | Uint8Array | null;
  readonly role: number | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly source: string | Uint8Array | null;
  readonly sourceEnd: string | null;
};

export function filterValues({ conversationId, role, since, until, source }: SearchFilter): FilterValues {
  return {
    conversation: conversationId === null ? null : textColumn(conversationId),
    role: role === null ? null : ROLES.indexOf(role),
    sinceMs: timeColumn(since),
    untilMs: timeColumn(until),
    source: source === null ? null : textColumn(source),
    sourceEnd: source === null ? null : `/${source}`,
  };
}
