import type Database from 'better-sqlite3';
import type { ArchiveLookup, ArchiveQuery, FoundMessage, Scored } from '../../ports/archive-lookup.ts';
import { textColumn } from './columns.ts';
import { DamageError, guard } from './failure.ts';
import {
  BATCH_COLUMNS,
  BATCH_JOINS,
  IS_LIVE,
  IS_LIVE_IN,
  LINE_COLUMNS,
  LINE_JOINS,
  toArchivedBatch,
  toArchivedLine,
} from './lookup-rows.ts';
import { readInteger, readOptionalInteger } from './rows.ts';
import type { Row } from './rows.ts';

/** FTS5 ranks by bm25, where less is better. In the order of ids it need not rank at all, and stops as soon as there are enough. */
const ORDERS = {
  best: { score: '-s.rank', by: 's.rank' },
  newest: { score: 'NULL', by: 's.rowid DESC' },
} as const satisfies { readonly [order in ArchiveQuery['order']]: unknown };

type Selection = { readonly order: ArchiveQuery['order']; readonly isOfOneConversation: boolean };

function selectMessages({ order, isOfOneConversation }: Selection): string {
  const { score, by } = ORDERS[order];
  return `
SELECT ${LINE_COLUMNS}, ${score} AS score FROM message_search AS s CROSS JOIN lines AS l ON l.id = s.rowid ${LINE_JOINS}
WHERE message_search MATCH :match AND c.status = 'applied'
${isOfOneConversation ? 'AND s.rowid BETWEEN :first AND :last AND y.conversation_id = :conversation' : ''} ORDER BY ${by}`;
}

function selectBatches({ order, isOfOneConversation }: Selection): string {
  const { score, by } = ORDERS[order];
  return `
SELECT ${BATCH_COLUMNS}, 1 AS is_live, ${score} AS score FROM batch_search AS s CROSS JOIN batches AS b ON b.id = s.rowid ${BATCH_JOINS}
WHERE batch_search MATCH :match AND ${isOfOneConversation ? IS_LIVE_IN : IS_LIVE} ORDER BY ${by}`;
}

/** The lines of a compaction have ids in a row: the index need not be looked through for those of all the others. */
const FIND_LINE_RANGE = `
WITH span AS (SELECT min(compaction_id) AS oldest, max(compaction_id) AS newest FROM cycles WHERE conversation_id = :conversation)
SELECT
  (SELECT min(id) FROM lines WHERE block_id = (SELECT min(id) FROM blocks WHERE compaction_id >= (SELECT oldest FROM span))) AS first,
  (SELECT max(id) FROM lines WHERE block_id = (SELECT max(id) FROM blocks WHERE compaction_id <= (SELECT newest FROM span))) AS last`;

type ArchiveSearch = Pick<ArchiveLookup, 'searchMessages' | 'searchBatches'>;

/** Statements are prepared when they are first asked for: most runs need none, and few need more than one. */
export function createArchiveSearch(db: Database.Database, path: string): ArchiveSearch {
  const statements = new Map<string, Database.Statement<[object], Row>>();
  const prepare = (sql: string): Database.Statement<[object], Row> => {
    const known = statements.get(sql) ?? db.prepare<[object], Row>(sql);
    statements.set(sql, known);
    return known;
  };

  const findRange = (conversation: string | Uint8Array): { readonly first: number; readonly last: number } => {
    const row = prepare(FIND_LINE_RANGE).get({ conversation });
    const read = (column: string): number => (row === undefined ? 0 : (readOptionalInteger(row, column) ?? 0));
    return { first: read('first'), last: read('last') };
  };

  /** The first rows of an order that differ in what they say and in whose conversation. */
  const collect = <T extends { readonly conversationId: string | null }>(
    rows: Iterable<Row>,
    {
      limit,
      read,
      contentOf,
    }: { readonly limit: number; readonly read: (row: Row) => T; readonly contentOf: (found: T) => string },
  ): readonly Scored<T>[] => {
    const seen = new Set<string>();
    const found: Scored<T>[] = [];
    for (const row of rows) {
      const one = read(row);
      const key = `${contentOf(one)} ${one.conversationId ?? ''}`;
      if (seen.has(key)) continue;
      seen.add(key);
      found.push({ ...one, score: readScore(row) });
      if (found.length >= limit) break;
    }
    return found;
  };

  const search = <T>(query: ArchiveQuery, work: (match: string) => readonly T[]): readonly T[] =>
    query.terms.length === 0 || query.limit < 1 ? [] : guard(path, () => db.transaction(work)(toMatch(query.terms)));

  return {
    searchMessages: (query) =>
      search(query, (match) => {
        const { order, limit, conversationId } = query;
        const conversation = conversationId === null ? null : textColumn(conversationId);
        const range = conversation === null ? {} : { conversation, ...findRange(conversation) };
        const sql = selectMessages({ order, isOfOneConversation: conversation !== null });
        const rows = prepare(sql).iterate({ match, ...range });
        return collect(rows, { limit, read: toFoundMessage, contentOf: ({ sha256 }) => sha256 });
      }),
    searchBatches: (query) =>
      search(query, (match) => {
        const { order, limit, conversationId } = query;
        const sql = selectBatches({ order, isOfOneConversation: conversationId !== null });
        const rows = prepare(sql).iterate({
          match,
          ...(conversationId === null ? {} : { conversation: textColumn(conversationId) }),
        });
        return collect(rows, { limit, read: toArchivedBatch, contentOf: ({ contentSha256 }) => contentSha256 });
      }),
  };
}

/** Whatever stands between quotes is text to FTS5, but for a quote itself and NUL. */
function toMatch(terms: readonly string[]): string {
  return terms.map((term) => `"${term.replaceAll('\0', ' ').replaceAll('"', '""')}"`).join(' OR ');
}

function readScore(row: Row): number | null {
  const score = row['score'];
  if (score === null) return null;
  return typeof score === 'number' ? score : readInteger(row, 'score');
}

function toFoundMessage(row: Row): FoundMessage {
  const line = toArchivedLine(row);
  if (line.message === null)
    throw new DamageError(`the search index leads to archived line ${line.lineId}, which is no message`);
  return { ...line, message: line.message };
}
