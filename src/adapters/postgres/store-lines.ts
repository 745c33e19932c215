import { readTraits } from '../../core/search/query-hints.ts';
import { compressBlock, type RawBlock } from '../archive/blocks.ts';
import { OUTCOMES, ROLES, timeColumn, traitsColumn } from '../archive/rows.ts';
import { type CycleIds, ownerOf } from '../archive/store-rows.ts';
import type { Values } from '../archive/sql/query.ts';
import { messageVectors } from './words.ts';

/** A block with its lines and their words, in one round trip. The ids of lines follow their order. */
export const INSERT_BLOCK = `
WITH block AS (
  INSERT INTO blocks (month, compaction_id, position, first_line, raw_size_bytes, data)
  VALUES (:month::date, :compactionId, :position, :firstLine, :rawSizeBytes, :data) RETURNING id
), stored AS (
  INSERT INTO lines (month, block_id, line, "offset", size_bytes, fate, cycle_id, batch_id, role, at_ms, message_index, message_id, name, traits, sha256)
  SELECT :month::date, block.id, u.line, u.place, u.size_bytes, u.fate, u.cycle_id, u.batch_id, u.role, u.at_ms, u.message_index, u.message_id, u.name, u.traits,
    substr(:hashes::bytea, (u.number::int - 1) * 32 + 1, 32)
  FROM block, unnest(:lines::bigint[], :places::bigint[], :sizes::bigint[], :fates::int[], :cycleIds::bigint[], :batchIds::bigint[], :roles::int[],
    :times::bigint[], :indexes::bigint[], :messageIds::text[], :names::text[], :traits::int[])
    WITH ORDINALITY AS u (line, place, size_bytes, fate, cycle_id, batch_id, role, at_ms, message_index, message_id, name, traits, number)
  ORDER BY u.number
  RETURNING id, line
)
INSERT INTO message_words (line_id, month, part, words)
SELECT stored.id, :month::date, w.part, w.words::tsvector
FROM unnest(:wordLines::bigint[], :parts::int[], :words::text[]) AS w (line, part, words) JOIN stored ON stored.line = w.line`;

export type BlockStatement = {
  /** Of `INSERT_BLOCK`. */
  readonly values: Values;
  /** Roughly what it takes in memory. */
  readonly sizeBytes: number;
};

export type StoreTarget = {
  readonly compactionId: number;
  /** 'YYYY-MM-01' */
  readonly month: string;
  readonly cycles: readonly CycleIds[];
};

const LINE_BYTES = 400;

/** `position`: among the blocks of the compaction. */
export function buildBlock(
  { raw, members }: RawBlock,
  { compactionId, month, position, cycles }: StoreTarget & { readonly position: number },
): BlockStatement {
  const drafts = members.map(({ draft }) => draft);
  const messages = drafts.map(({ message }) => message);
  const owners = drafts.map((draft) => ownerOf(draft, cycles));
  const words = drafts.flatMap(({ line, message }) =>
    message === null ? [] : wordsOf(message.text).map((vector, part) => ({ line, part, vector })),
  );
  const data = compressBlock(raw);
  const values = {
    month,
    compactionId,
    position,
    firstLine: drafts[0]?.line,
    rawSizeBytes: raw.length,
    data,
    hashes: Buffer.concat(members.map(({ sha256 }) => sha256)),
    lines: drafts.map(({ line }) => line),
    places: members.map(({ offset }) => offset),
    sizes: members.map(({ sizeBytes }) => sizeBytes),
    fates: drafts.map(({ outcome }) => OUTCOMES.indexOf(outcome)),
    cycleIds: owners.map(({ cycleId }) => cycleId),
    batchIds: owners.map(({ batchId }) => batchId),
    roles: messages.map((message) => (message === null ? null : ROLES.indexOf(message.role))),
    times: messages.map((message) => (message === null ? null : timeColumn(message.at))),
    indexes: messages.map((message) => message?.index ?? null),
    messageIds: drafts.map(({ line, message }) => (message?.id === `line:${line}` ? null : (message?.id ?? null))),
    names: messages.map((message) => message?.name ?? null),
    traits: messages.map((message) => (message === null ? 0 : traitsColumn(readTraits(message.text)))),
    wordLines: words.map(({ line }) => line),
    parts: words.map(({ part }) => part),
    words: words.map(({ vector }) => vector),
  };
  const wordBytes = words.reduce((sum, { vector }) => sum + 2 * vector.length, 0);
  return { values, sizeBytes: data.length + wordBytes + LINE_BYTES * members.length };
}

/** A message without words has an entry too, so that `archive check` misses no message. */
function wordsOf(text: string): readonly string[] {
  const vectors = messageVectors(text);
  return vectors.length === 0 ? [''] : vectors;
}
