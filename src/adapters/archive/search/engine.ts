import type { SearchFilter, VectorModel } from '../../../ports/archive-lookup.ts';
import { readOptionalInteger, ROLES, type Row, timeColumn } from '../rows.ts';
import type { Dialect, Query, Values } from '../sql/query.ts';
import type { QueryTerm } from '../../../core/search/question.ts';

/** What the full text of an engine tells. Everything else about a search is the same for all engines. */
export type SearchEngine = {
  /** What the index takes of a message, in one or more parts. Needs no database. */
  readonly toEntry: (text: string) => readonly string[];
  /** Adds messages to the index, whose ids ascend. */
  readonly addMessages: (query: Query, messages: readonly IndexEntry[]) => Promise<void>;
  /** The approximate number of messages, as `count`. */
  readonly countMessages: string;
  /** How many messages contain each word; counting stops at `atMost`. */
  readonly countHits: (query: Query, words: readonly QueryTerm[], atMost: number) => Promise<readonly number[]>;
  /** The messages in a range that contain each word, ascending. */
  readonly listHits: (
    query: Query,
    words: readonly QueryTerm[],
    range: LineRange,
  ) => Promise<readonly (readonly number[])[]>;
  /** Which of these messages contain a word. */
  readonly listHitsAmong: (query: Query, word: QueryTerm, lineIds: readonly number[]) => Promise<readonly number[]>;
  /**
   * The two messages before each line, and the two after it, that are of its cycle and at most 40 ids away: `of` (its id), `id`, `size_bytes`,
   * `traits`, ascending.
   */
  readonly listNear: (query: Query, lines: readonly Row[]) => Promise<readonly Row[]>;
  /** The summaries that contain any of the terms, best first, with their scores. */
  readonly scoreBatches: (query: Query, terms: readonly string[]) => Promise<ReadonlyMap<number, number>>;
  /** Whether a summary contains a term that no later one made from it contains. */
  readonly hasUniqueTerm: (query: Query, batchId: number, terms: readonly string[]) => Promise<boolean>;
};

/** A message for the index. `parts`: as `toEntry` gives them. */
export type IndexEntry = { readonly id: number; readonly parts: readonly string[] };

/**
 * Only the first 200,000 characters of a message are searchable; nobody writes more by hand. The stored line is complete.
 */
export function cutForSearch(text: string): string {
  if (text.length <= MAX_SEARCH_CHARS) return text;
  const cut = `${text.slice(0, MAX_SEARCH_CHARS)}\n`;
  // Until a character of it is read, V8 only notes where the piece is, and keeps the long text for it.
  return Number.isNaN(cut.charCodeAt(0)) ? '' : cut;
}

export const MAX_SEARCH_CHARS = 200_000;

/** What engines do differently with vectors. */
export type VectorEngine = {
  /** Before vectors are stored or compared in a transaction or query. Throws if the engine cannot. */
  readonly prepare: (query: Query) => Promise<void>;
  /** Before vectors are stored, so that nobody else stores others. */
  readonly lock: (query: Query) => Promise<void>;
  /** Before the vectors of a model are stored. `isFirst`: the archive has none. */
  readonly begin: (query: Query, model: VectorModel, isFirst: boolean) => Promise<void>;
  /** After the vectors of a model were removed. */
  readonly forget: (query: Query) => Promise<void>;
  /** After the vector of a message was stored, as `vectorBytes` gives it. */
  readonly index: (query: Query, lineId: number, vector: Uint8Array) => Promise<void>;
  /** Messages that pass the filter, among them those whose vectors are nearest. Null: all must be compared. */
  readonly findCandidates: (
    query: Query,
    vector: Float32Array,
    asked: {
      readonly filter: SearchFilter;
      readonly limit: number;
      readonly listPassing: (lineIds: readonly number[]) => Promise<ReadonlySet<number>>;
    },
  ) => Promise<readonly number[] | null>;
};

/** A value may be null, so Postgres must be told its type. */
export const OF_PATH = (column: string): string => `
(CAST(:source AS text) IS NULL OR ${column} = :source
  OR substr(${column}, length(${column}) - length(CAST(:sourceEnd AS text)) + 1) = :sourceEnd)`;
/** For compactions AS c. */
const OF_SOURCE = OF_PATH('c.source_path');

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

/** Ids of archived lines from first to last, both included; empty if first is higher. Captured lines, with their negative ids, are always in it. */
export type LineRange = { readonly first: number; readonly last: number };

export const ALL_LINES: LineRange = { first: Number.MIN_SAFE_INTEGER, last: Number.MAX_SAFE_INTEGER };

/** The lines of a compaction have ids in a range, so the lines of all others need not be scanned. */
const findOfSource = ({ onCompaction }: Pick<Dialect, 'onCompaction'>): string => `
SELECT min(k.first_line_id) AS first, max(k.last_line_id) AS last FROM compactions AS c JOIN blocks AS k ON ${onCompaction} WHERE ${OF_SOURCE}`;
/** A file may hold thousands of conversations, and most have ids in a range too. */
const FIND_OF_CONVERSATION = `
SELECT min(first) AS first, max(last) AS last FROM (
  SELECT b.first_line_id AS first, b.last_line_id AS last
  FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.conversation_id = :conversation
  UNION ALL
  SELECT (SELECT min(id) FROM lines WHERE cycle_id = y.id), (SELECT max(id) FROM lines WHERE cycle_id = y.id)
  FROM cycles AS y WHERE y.conversation_id = :conversation) AS ranges`;

/** A range that contains all messages that pass a filter, and others. */
export async function findLineRange(query: Query, filter: SearchFilter, dialect: Dialect): Promise<LineRange> {
  const values = filterValues(filter);
  const find = async (sql: string | null): Promise<LineRange> => {
    if (sql === null) return ALL_LINES;
    const [row = {}] = await query(sql, values);
    return { first: readOptionalInteger(row, 'first') ?? 1, last: readOptionalInteger(row, 'last') ?? 0 };
  };
  const ofSource = await find(filter.source === null ? null : findOfSource(dialect));
  const ofConversation = await find(filter.conversationId === null ? null : FIND_OF_CONVERSATION);
  return {
    first: Math.max(ofSource.first, ofConversation.first),
    last: Math.min(ofSource.last, ofConversation.last),
  };
}
