import type { NearMessage } from '../../../core/search/rank.ts';
import type {
  ArchivedBatch,
  ArchivedLine,
  ArchiveLookup,
  FoundMessage,
  MessageIndex,
  Scored,
  SearchFilter,
  StoredCandidate,
} from '../../../ports/archive-lookup.ts';
import { DamageError } from '../failure.ts';
import {
  BATCH_COLUMNS,
  createDistinct,
  IS_LIVE,
  IS_LIVE_IN,
  LINE_COLUMNS,
  toArchivedBatch,
  toArchivedLine,
} from '../read/lookup.ts';
import { readFields, readInteger, readOptionalText, readStoredTraits, readText, type Row } from '../rows.ts';
import { OF_BATCH, readNumber, type Sql } from '../sql/query.ts';
import { type Reading, withTexts } from '../texts.ts';
import { CANDIDATE, type CapturedMessages, NEAR } from './captured.ts';
import { BATCH_PASSES, filterValues, findLineRange, LINE_PASSES, type SearchEngine } from './engine.ts';

const MAX_SPEAKERS = 5000;
const LIST_SPEAKERS = `SELECT name FROM speakers ORDER BY name LIMIT ${MAX_SPEAKERS}`;
/** Lines that are looked at in one go. */
const NEWEST_PAGE = 500;
/** Lines have no index by time, but summaries have times and the ids of their lines. */
const LIST_FROM = `
SELECT l.id FROM batches AS b CROSS JOIN lines AS l
WHERE ${OF_BATCH} AND b.start_ms < :untilMs AND b.end_ms >= :sinceMs AND l.role IS NOT NULL AND l.at_ms >= :sinceMs AND l.at_ms < :untilMs
UNION ALL SELECT -m.captured_id FROM captured_messages AS m WHERE m.line_id IS NULL AND m.at_ms >= :sinceMs AND m.at_ms < :untilMs
LIMIT :limit`;

/** Finds messages by words. */
export function createMessageIndex(
  { query, dialect }: Pick<Sql, 'query' | 'dialect'>,
  engine: SearchEngine,
  captured: CapturedMessages,
): MessageIndex {
  const isAmong = dialect.isAmong('l.id', 'ids');
  const listNewest = `
SELECT ${LINE_COLUMNS} FROM lines AS l ${dialect.lineJoins} WHERE ${isAmong} AND (${LINE_PASSES} OR l.role IS NULL) ORDER BY l.id DESC`;
  const loadCandidates = `
SELECT l.*, y.conversation_id, y.id AS its_cycle_id FROM lines AS l ${dialect.lineJoins} WHERE ${isAmong} AND ${LINE_PASSES} ORDER BY l.id`;
  const listBeside = `
SELECT l.id, l.size_bytes, l.traits, coalesce(l.cycle_id, o.cycle_id) AS its_cycle_id
FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id WHERE ${isAmong} AND l.role IS NOT NULL`;

  const listHits: MessageIndex['listHits'] = async (words, filter) =>
    engine.listHits(query, words, await findLineRange(query, filter, dialect));

  /** Most neighbors have the next ids, and are of the same cycle and thus of the same conversation. */
  const findNear = async (rows: readonly Row[]): Promise<(id: number) => readonly NearMessage[]> => {
    const besideOf = (row: Row): readonly number[] =>
      Array.from({ length: 2 * NEAR + 1 }, (_, at) => readInteger(row, 'id') + at - NEAR);
    const beside = await query(listBeside, { ids: [...new Set(rows.flatMap(besideOf))] });
    const byId = new Map(beside.map((row) => [row['id'], row]));
    const near = new Map(
      rows.map((row): readonly [unknown, readonly Row[]] => {
        const around = besideOf(row).flatMap((id): readonly Row[] => {
          const one = id === row['id'] ? undefined : byId.get(id);
          return one === undefined ? [] : [one];
        });
        return [row['id'], around.filter((one) => one['its_cycle_id'] === row['its_cycle_id'])];
      }),
    );
    const open = rows.filter((row) => (near.get(row['id'])?.length ?? 0) < 2 * NEAR);
    if (open.length > 0) {
      const found = Map.groupBy(await engine.listNear(query, open), (row) => row['of']);
      for (const { id } of open) near.set(id, found.get(id) ?? []);
    }
    return (id) => {
      const around = near.get(id) ?? [];
      const before = around.filter((row) => readInteger(row, 'id') < id).toReversed();
      return [
        ...before.map((row, at) => toNear(row, -1 - at)),
        ...around.slice(before.length).map((row, at) => toNear(row, 1 + at)),
      ];
    };
  };

  const loadArchived = async (ids: readonly number[], filter: SearchFilter): Promise<readonly FoundMessage[]> =>
    (await query(listNewest, { ...filterValues(filter), ids })).map((row) => toFound(toArchivedLine(row)));
  const loadCaptured = async (ids: readonly number[], filter: SearchFilter): Promise<readonly FoundMessage[]> => {
    const passing = (await captured.loadCandidates(ids, filter)).map(({ lineId }) => lineId);
    return (await captured.loadLines(passing, filter)).toReversed().map(toFound);
  };
  /** The first of these ids, a page at a time, because most readers want only the first few. */
  const takeFirst = async (
    ids: readonly number[],
    load: (page: readonly number[]) => Promise<readonly FoundMessage[]>,
    limit: number,
  ): Promise<readonly FoundMessage[]> => {
    const distinct = createDistinct<FoundMessage>(({ sha256 }) => sha256, limit);
    for (let first = 0; first < ids.length && !distinct.isFull(); first += NEWEST_PAGE)
      for (const message of await load(ids.slice(first, first + NEWEST_PAGE))) distinct.add(message);
    return distinct.list();
  };

  return {
    countMessages: () => readNumber(query, engine.countMessages),
    listSpeakers: async () => (await query(LIST_SPEAKERS)).map((row) => readText(row, 'name')),
    countHits: (words, atMost) => engine.countHits(query, words, atMost),
    listHits,
    listHitsAmong: async (word, ids) => (await engine.listHitsAmong(query, word, ids)).toSorted((a, b) => a - b),
    listFrom: ({ since, until }, limit) =>
      query.numbers(LIST_FROM, { sinceMs: since.getTime(), untilMs: until.getTime(), limit }),
    loadCandidates: async (ids, filter) => {
      if (ids.length === 0) return [];
      const [archived, others] = [ids.filter((id) => id > 0), ids.filter((id) => id < 0)];
      const own = await captured.loadCandidates(others, filter);
      const rows = await query(loadCandidates, { ...filterValues(filter), ids: archived });
      const nearOf = await findNear(rows);
      const candidates = rows.map((row): StoredCandidate => {
        const lineId = readInteger(row, 'id');
        const found = readFields(row, { conversationId: readOptionalText, ...CANDIDATE });
        return { lineId, ...found, near: nearOf(lineId) };
      });
      return [...own, ...candidates];
    },
    listNewest: async (words, { filter, limit }) => {
      if (words.length === 0 || limit < 1) return [];
      const ids = [...new Set((await listHits(words, filter)).flat())].toSorted((a, b) => a - b);
      const own = ids.filter((id) => id < 0);
      const archived = ids.slice(own.length).toReversed();
      return [
        ...(await takeFirst(archived, (page) => loadArchived(page, filter), limit)),
        ...(await takeFirst(own, (page) => loadCaptured(page, filter), limit)),
      ];
    },
  };
}

function toNear(row: Row, steps: number): NearMessage {
  const lineId = readInteger(row, 'id');
  return { lineId, steps, ...readFields(row, { sizeBytes: readInteger, traits: readStoredTraits }) };
}

function toFound(line: ArchivedLine): FoundMessage {
  if (line.message === null)
    throw new DamageError(`the search index leads to archived line ${line.lineId}, which is no message`);
  return { ...line, message: line.message };
}

/** Of the first batch of a conversation. */
const LIST_ARCHIVED = `
SELECT l.id FROM (
  SELECT b.id, b.first_line_id, b.last_line_id FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id JOIN compactions AS c ON c.id = y.compaction_id
  WHERE y.conversation_id = :conversation AND c.status = 'applied' ORDER BY y.id, b.position LIMIT 1
) AS b JOIN lines AS l ON ${OF_BATCH} WHERE l.role = 0 ORDER BY l.id LIMIT 5`;
/** Not far behind the beginning of a file. */
const LIST_CAPTURED = `
SELECT coalesce(m.line_id, -m.captured_id) AS id FROM captured_messages AS m JOIN (
  SELECT r.first_line_id AS id FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id
  JOIN captured_runs AS r ON r.version_id = v.id AND r.position = 0 WHERE f.path = :file ORDER BY v.version LIMIT 1
) AS s ON m.captured_id BETWEEN s.id AND s.id + 200
WHERE m.role = 0 ORDER BY m.captured_id LIMIT 5`;

/** Finds the first messages of users, which say what a session is about. */
export function createOpenings({ query }: Pick<Sql, 'query'>): Pick<ArchiveLookup, 'listOpenings'> {
  return {
    listOpenings: async ({ conversation, file }) => {
      const archived = conversation === null ? [] : await query.numbers(LIST_ARCHIVED, { conversation });
      return archived.length > 0 ? archived : query.numbers(LIST_CAPTURED, { file });
    },
  };
}

const IS_REPLACED = `
c.status = 'applied' AND (CAST(:conversation AS text) IS NULL OR y.conversation_id = :conversation)
AND EXISTS (SELECT 1 FROM batch_sources AS r WHERE r.source_id = b.id) AND NOT ${IS_LIVE}`;
/** Summaries that are loaded in one go. */
const PAGE = 25;

/** Finds summaries by words. Replaced ones are found by what none that was made from them says. */
export function createBatchSearch(
  { query, dialect, unpack }: Reading,
  engine: SearchEngine,
): ArchiveLookup['searchBatches'] {
  const load = (isLive: 0 | 1, condition: string): string => `
SELECT ${BATCH_COLUMNS}, ${isLive} AS is_live FROM batches AS b ${dialect.batchJoins}
WHERE ${dialect.isAmong('b.id', 'ids')} AND ${condition} AND ${BATCH_PASSES}`;
  const [loadLive, loadLiveIn, loadReplaced] = [load(1, IS_LIVE), load(1, IS_LIVE_IN), load(0, IS_REPLACED)];
  const listReplaced = `SELECT DISTINCT source_id AS id FROM batch_sources WHERE ${dialect.isAmong('source_id', 'ids')}`;
  return async ({ terms, filter, order, limit }) => {
    if (terms.length === 0 || limit < 1) return [];
    const scores = await engine.scoreBatches(query, terms);
    const ids = order === 'newest' ? [...scores.keys()].toSorted((a, b) => b - a) : [...scores.keys()];
    const scored = (batch: ArchivedBatch): Scored<ArchivedBatch> => ({
      ...batch,
      score: order === 'newest' ? null : (scores.get(batch.id) ?? 0),
    });

    /** The first of them, each text of a conversation once. */
    const take = async (
      sql: string,
      ids: readonly number[],
      isWanted: (id: number) => Promise<boolean>,
    ): Promise<readonly Scored<ArchivedBatch>[]> => {
      const distinct = createDistinct<Scored<ArchivedBatch>>(({ contentSha256 }) => contentSha256, limit);
      for (let first = 0; first < ids.length && !distinct.isFull(); first += PAGE) {
        const page = ids.slice(first, first + PAGE);
        const found = await query(sql, { ...filterValues(filter), ids: page });
        const rows = await withTexts({ query, dialect, unpack }, found);
        const byId = new Map(rows.map((row) => [readInteger(row, 'id'), row]));
        for (const id of page) {
          const row = byId.get(id);
          if (row !== undefined && (await isWanted(id))) distinct.add(scored(toArchivedBatch(row)));
        }
      }
      return distinct.list();
    };
    const live = await take(filter.conversationId === null ? loadLive : loadLiveIn, ids, async () => true);
    const sources = new Set(await query.numbers(listReplaced, { ids }));
    const replaced = await take(
      loadReplaced,
      ids.filter((id) => sources.has(id)),
      (id) => engine.hasUniqueTerm(query, id, terms),
    );
    if (replaced.length === 0) return live;
    const rankOf = ({ id, score }: Scored<ArchivedBatch>): number => (order === 'newest' ? id : (score ?? 0));
    return [...live, ...replaced].toSorted((a, b) => rankOf(b) - rankOf(a)).slice(0, limit);
  };
}
