import type { QueryTerm } from '../../../core/search/question.ts';
import type { Row } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { queryWords } from './words.ts';

/** How many ids a row of `word_lines` covers, so that two bytes hold the distance from its base. */
const SPAN = 2 ** 15;
const LINE_BYTES = 2;
/** Before the lines of a row: its base, and the length of its lines. */
const HEAD_BYTES = 12;

/**
 * Adds to `word_lines` what `message_words` says of some compactions, which must not be there yet. `compactions`: a statement that selects
 * their ids.
 */
export const indexWords = (compactions: string): string => `
INSERT INTO word_lines (compaction_id, base, month, word, lines)
SELECT o.compaction_id, o.base, o.month, o.word, string_agg(int2send((o.line_id - o.base)::int2), ''::bytea) FROM (
  SELECT k.compaction_id, w.line_id & ~${SPAN - 1}::bigint AS base, k.month, v.lexeme AS word, w.line_id
  FROM blocks AS k JOIN lines AS l ON l.block_id = k.id AND l.month = k.month
  JOIN message_words AS w ON w.line_id = l.id AND w.month = l.month CROSS JOIN LATERAL unnest(w.words) AS v
  WHERE k.compaction_id IN (${compactions}) ORDER BY word, k.compaction_id, base, k.month, w.line_id) AS o
GROUP BY o.word, o.compaction_id, o.base, o.month`;

/** Adds to `batch_terms` what `batch_words` says of a batch. */
export const INDEX_BATCH_TERMS = `
INSERT INTO batch_terms (batch_id, count, word)
SELECT w.batch_id, cardinality(v.positions), v.lexeme FROM batch_words AS w CROSS JOIN LATERAL unnest(w.words) AS v WHERE w.batch_id = :id`;

type Statement = (isWanted: string) => string;

/** A row has at least one line. */
const COUNT: Statement = (isWanted) => `
SELECT coalesce(sum(length(f.lines)), 0) / ${LINE_BYTES} AS found FROM (SELECT w.lines FROM word_lines AS w WHERE ${isWanted} LIMIT :atMost) AS f`;
/** One row for each word, because a row for each hit would cost far more. */
const LIST: Statement = (isWanted) => `
SELECT string_agg(int8send(w.base) || int4send(length(w.lines)) || w.lines, ''::bytea) AS found FROM word_lines AS w
WHERE ${isWanted} AND w.base > :first::bigint - ${SPAN} AND w.base <= :last::bigint`;

type Range = { readonly first: number; readonly last: number };

const EVERYTHING: Range = { first: 0, last: Number.MAX_SAFE_INTEGER };

/** A word of the index, or the beginning of words. */
type Wanted = { readonly word: string; readonly isBeginning: boolean };

/** A message matches if it has all words of one of these. */
type Alternatives = readonly (readonly Wanted[])[];

/** Finds the messages that have words. */
export type WordHits = {
  /** How many they are; `atMost` where there are more. */
  readonly count: (terms: readonly QueryTerm[], atMost: number) => Promise<readonly number[]>;
  /** Their ids within a range, ascending. */
  readonly list: (terms: readonly QueryTerm[], range: Range) => Promise<readonly (readonly number[])[]>;
};

export function createWordHits(query: Query): WordHits {
  const ask = async <T>(
    wanted: readonly Wanted[],
    {
      sql,
      values,
      read,
    }: { readonly sql: Statement; readonly values: object; readonly read: (found: Row[string]) => T },
  ): Promise<ReadonlyMap<string, T>> => {
    const found = new Map<string, T>();
    for (const isBeginning of [false, true]) {
      const words = [...new Set(wanted.filter((one) => one.isBeginning === isBeginning).map(({ word }) => word))];
      if (words.length === 0) continue;
      const rows = await query(forEachWord(sql, isBeginning), { ...values, words });
      for (const [at, row] of rows.entries())
        found.set(keyOf({ word: words[at] ?? '', isBeginning }), read(row['found']));
    }
    return found;
  };

  const listAll = async (terms: readonly Alternatives[], range: Range): Promise<readonly (readonly number[])[]> => {
    const lines = await ask(terms.flat(2), { sql: LIST, values: range, read: (found) => readLines(found, range) });
    return terms.map((alternatives) =>
      unite(alternatives.map((words) => intersect(words.map((one) => lines.get(keyOf(one)) ?? [])))),
    );
  };

  return {
    count: async (terms, atMost) => {
      const wanted = terms.map(toAlternatives);
      const simple = wanted.flatMap((alternatives) => alternatives.flatMap((words) => onlyWord(words) ?? []));
      const counts = await ask(simple, { sql: COUNT, values: { atMost }, read: Number });
      const least = wanted.map((alternatives) =>
        Math.max(0, ...alternatives.flatMap(onlyWord).map((one) => (one === null ? 0 : (counts.get(keyOf(one)) ?? 0)))),
      );
      // Messages may have several of the words, so these must be listed, unless one word alone has enough of them.
      const isOpen = wanted.map(
        (alternatives, at) =>
          (least[at] ?? 0) < atMost &&
          (alternatives.length > 1 || alternatives.some((words) => onlyWord(words) === null)),
      );
      const listed = (
        await listAll(
          wanted.filter((_, at) => isOpen[at]),
          EVERYTHING,
        )
      ).values();
      return least.map((count, at) =>
        Math.min(atMost, isOpen[at] === true ? (listed.next().value?.length ?? 0) : count),
      );
    },
    list: (terms, range) => listAll(terms.map(toAlternatives), range),
  };
}

function toAlternatives({ forms, isBeginning }: QueryTerm): Alternatives {
  const distinct = new Map(forms.map(queryWords).map((words) => [words.join(' '), words]));
  distinct.delete('');
  return [...distinct.values()].map((words) => words.map((word) => ({ word, isBeginning })));
}

/** The word of an alternative whose count needs no list; null: it has several words, or a beginning. */
function onlyWord(words: readonly Wanted[]): Wanted | null {
  const [word] = words;
  return words.length === 1 && word !== undefined && !word.isBeginning ? word : null;
}

function keyOf({ word, isBeginning }: Wanted): string {
  return isBeginning ? `${word}*` : word;
}

function forEachWord(sql: Statement, isBeginning: boolean): string {
  const isWanted = isBeginning ? 'w.word >= u.word AND w.word < u.word || chr(1114111)' : 'w.word = u.word';
  return `
SELECT h.found FROM unnest(:words::text[]) WITH ORDINALITY AS u (word, position) CROSS JOIN LATERAL (${sql(isWanted)}) AS h ORDER BY u.position`;
}

/** Ids from rows of `word_lines`: base, length in bytes, lines. Rows come in any order, but rarely overlap. */
function readLines(found: Row[string], { first, last }: Range): readonly number[] {
  if (!(found instanceof Uint8Array)) return [];
  const bytes = Buffer.from(found.buffer, found.byteOffset, found.byteLength);
  const ids: number[] = [];
  let isAscending = true;
  for (const { base, start, end } of readHeads(bytes).toSorted((a, b) => a.firstId - b.firstId)) {
    for (let at = start; at < end; at += LINE_BYTES) {
      const id = base + bytes.readUInt16BE(at);
      if (id < first || id > last) continue;
      isAscending &&= id > (ids.at(-1) ?? -1);
      ids.push(id);
    }
  }
  return isAscending ? ids : sortDistinct(ids);
}

type RowHead = { readonly base: number; readonly firstId: number; readonly start: number; readonly end: number };

/** Where the lines of each row are in the bytes. */
function readHeads(bytes: Buffer): readonly RowHead[] {
  const heads: RowHead[] = [];
  for (let at = 0; at < bytes.length;) {
    const base = Number(bytes.readBigInt64BE(at));
    const start = at + HEAD_BYTES;
    const end = start + bytes.readInt32BE(at + 8);
    heads.push({ base, firstId: base + bytes.readUInt16BE(start), start, end });
    at = end;
  }
  return heads;
}

/** Lists may have hundreds of thousands of ids, so they are merged rather than sorted. */
function unite(lists: readonly (readonly number[])[]): readonly number[] {
  return lists.reduce((left, right) => (left.length === 0 ? right : merge(left, right)), []);
}

function merge(left: readonly number[], right: readonly number[]): readonly number[] {
  const ids: number[] = [];
  let at = 0;
  for (const id of right) {
    for (let known = left[at]; known !== undefined && known < id; known = left[at]) {
      ids.push(known);
      at += 1;
    }
    if (left[at] === id) at += 1;
    ids.push(id);
  }
  for (; at < left.length; at += 1) ids.push(left[at] ?? 0);
  return ids;
}

function intersect(lists: readonly (readonly number[])[]): readonly number[] {
  const [first = [], ...rest] = lists;
  return rest.reduce((left, right) => {
    const known = new Set(right);
    return left.filter((id) => known.has(id));
  }, first);
}

function sortDistinct(ids: readonly number[]): readonly number[] {
  const sorted = Float64Array.from(ids).sort();
  return Array.from(sorted.filter((id, at) => id !== sorted[at - 1]));
}
