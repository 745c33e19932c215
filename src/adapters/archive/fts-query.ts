import type { QueryTerm } from '../../core/search/question.ts';
import type { SearchFilter } from '../../ports/archive-lookup.ts';
import { isSqliteError } from './failure.ts';
import { type createStatements, readOptionalInteger, ROLES, type Row, textColumn, timeColumn } from './rows.ts';

/** An FTS5 expression for any of these terms. Between quotes everything is text, except a quote and NUL. */
export function matchAny(terms: readonly string[]): string {
  return terms.map(quote).join(' OR ');
}

export function matchTerm({ forms, isBeginning }: QueryTerm): string {
  return isBeginning ? forms.map((form) => `${quote(form)} *`).join(' OR ') : matchAny(forms);
}

function quote(term: string): string {
  return `"${term.replaceAll('\0', ' ').replaceAll('"', '""')}"`;
}

/**
 * SQLite's tokenizer splits words at letters newer than its Unicode tables, and an index without positions cannot
 * search for adjacent words.
 */
export function isUnknownWord(error: unknown): boolean {
  return isSqliteError(error) && error.message.startsWith('fts5: phrase queries are not supported');
}

/** For compactions AS c. */
const OF_SOURCE = `
(:source IS NULL OR c.source_path = :source OR substr(c.source_path, -length(:sourceEnd)) = :sourceEnd)`;

/** For lines AS l with the dialect's `lineJoins`; values from `filterValues`. */
export const LINE_PASSES = `
c.status = 'applied' AND l.role IS NOT NULL AND (:conversation IS NULL OR y.conversation_id = :conversation)
AND (:role IS NULL OR l.role = :role) AND (:sinceMs IS NULL OR l.at_ms >= :sinceMs) AND (:untilMs IS NULL OR l.at_ms < :untilMs)
AND ${OF_SOURCE}`;

/** For batches AS b with the dialect's `batchJoins`: their time overlaps with the one asked for. */
export const BATCH_PASSES = `
(:sinceMs IS NULL OR b.end_ms >= :sinceMs) AND (:untilMs IS NULL OR b.start_ms < :untilMs) AND ${OF_SOURCE}`;

/** The first and the last compaction of the source. */
const FIND_COMPACTIONS = `
SELECT min(c.id) AS oldest, max(c.id) AS newest FROM compactions AS c WHERE ${OF_SOURCE}`;

type FilterValues = {
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

/** Ids from first to last, both included; empty if first is higher. */
type LineRange = { readonly first: number; readonly last: number };

const EVERYTHING: LineRange = { first: 0, last: Number.MAX_SAFE_INTEGER };

/** The lines of a compaction have consecutive ids, so the lines of all others need not be scanned. */
const FIND_OF_COMPACTIONS = `
WITH span AS (${FIND_COMPACTIONS})
SELECT
  (SELECT min(id) FROM lines WHERE block_id = (SELECT min(id) FROM blocks WHERE compaction_id >= (SELECT oldest FROM span))) AS first,
  (SELECT max(id) FROM lines WHERE block_id = (SELECT max(id) FROM blocks WHERE compaction_id <= (SELECT newest FROM span))) AS last`;

/** A file may hold thousands of conversations, and most have consecutive ids too. */
const FIND_OF_CONVERSATION = `
SELECT min(first) AS first, max(last) AS last FROM (
  SELECT (SELECT min(id) FROM lines WHERE batch_id = b.id) AS first, (SELECT max(id) FROM lines WHERE batch_id = b.id) AS last
  FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.conversation_id = :conversation
  UNION ALL
  SELECT (SELECT min(id) FROM lines WHERE cycle_id = y.id), (SELECT max(id) FROM lines WHERE cycle_id = y.id)
  FROM cycles AS y WHERE y.conversation_id = :conversation)`;

/** A range of lines that contains all that pass the filter, and others. */
export function findLineRange(prepare: ReturnType<typeof createStatements>, filter: SearchFilter): LineRange {
  const { conversation, source, sourceEnd } = filterValues(filter);
  const ofSource = source === null ? EVERYTHING : toRange(prepare(FIND_OF_COMPACTIONS).get({ source, sourceEnd }));
  const ofConversation =
    conversation === null ? EVERYTHING : toRange(prepare(FIND_OF_CONVERSATION).get({ conversation }));
  return {
    first: Math.max(ofSource.first, ofConversation.first),
    last: Math.min(ofSource.last, ofConversation.last),
  };
}

function toRange(row: Row = {}): LineRange {
  return { first: readOptionalInteger(row, 'first') ?? 1, last: readOptionalInteger(row, 'last') ?? 0 };
}
