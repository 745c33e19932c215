import type { SearchFilter } from '../../ports/message-index.ts';
import { filterValues, FIND_COMPACTIONS } from './filter.ts';
import { readOptionalInteger, type Row } from './rows.ts';
import type { createStatements } from './statements.ts';

/** Ids from the first to the last, both included; there are none where the first is the higher one. */
export type LineRange = { readonly first: number; readonly last: number };

const EVERYTHING: LineRange = { first: 0, last: Number.MAX_SAFE_INTEGER };

/** The lines of a compaction have ids in a row: nothing need be looked through for those of all the others. */
const FIND_OF_COMPACTIONS = `
WITH span AS (${FIND_COMPACTIONS})
SELECT
  (SELECT min(id) FROM lines WHERE block_id = (SELECT min(id) FROM blocks WHERE compaction_id >= (SELECT oldest FROM span))) AS first,
  (SELECT max(id) FROM lines WHERE block_id = (SELECT max(id) FROM blocks WHERE compaction_id <= (SELECT newest FROM span))) AS last`;

/** A file may hold thousands of conversations, most of them in a row too. */
const FIND_OF_CONVERSATION = `
SELECT min(first) AS first, max(last) AS last FROM (
  SELECT (SELECT min(id) FROM lines WHERE batch_id = b.id) AS first, (SELECT max(id) FROM lines WHERE batch_id = b.id) AS last
  FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.conversation_id = :conversation
  UNION ALL
  SELECT (SELECT min(id) FROM lines WHERE cycle_id = y.id), (SELECT max(id) FROM lines WHERE cycle_id = y.id)
  FROM cycles AS y WHERE y.conversation_id = :conversation)`;

/** Where all lines stand that a filter can let through, and others among them. */
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
