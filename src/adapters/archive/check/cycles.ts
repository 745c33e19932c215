import type { Dialect } from '../sql/query.ts';
import { hash } from 'node:crypto';
import { OUTCOMES, readHash, readInteger, readOptionalInteger, readText, type Row } from '../rows.ts';
import { readContent, withTexts } from '../texts.ts';
import { attempt, type CheckSource, finding, type Finding, type Head, type Place, type Totals } from './finding.ts';
import type { LineFacts } from './lines.ts';

const LIST_CYCLES = `
SELECT c.id, c.position, c.conversation_id, c.cycle, c.parent_cycle_id, c.messages_compressed, c.made_count, c.live_count, p.cycle AS parent_cycle,
  (SELECT count(*) FROM live_batches WHERE cycle_id = c.id) AS live_found,
  (SELECT count(*) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id AND b.cycle_id > c.id) AS live_newer,
  CAST((SELECT coalesce(sum(b.message_count), 0) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id) AS bigint) AS live_messages,
  (SELECT count(*) FROM carried_lines AS d JOIN lines AS l ON l.id = d.line_id
    WHERE d.cycle_id = c.id AND l.outcome <> ${OUTCOMES.indexOf('quoted')}) AS wrongly_carried
FROM cycles AS c LEFT JOIN cycles AS p ON p.id = c.parent_cycle_id WHERE c.compaction_id = :id ORDER BY c.position`;
const LIST_BATCHES = 'SELECT id FROM batches WHERE cycle_id = :id ORDER BY position';
const getBatch = ({ isBatchIndexed }: Dialect): string => `
SELECT b.label, y.compaction_id, b.text_offset, b.text_size, b.content_sha256, b.depth, b.message_count, (SELECT count(*) FROM carried_lines WHERE batch_id = b.id) AS carried_count, count(s.source_id) AS source_count,
  CAST(coalesce(sum(o.message_count), 0) AS bigint) AS source_messages, max(o.depth) AS source_depth, max(s.source_id) AS newest_source,
  CAST(NOT ${isBatchIndexed} AS int) AS is_unfindable
FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id LEFT JOIN batch_sources AS s ON s.batch_id = b.id LEFT JOIN batches AS o ON o.id = s.source_id WHERE b.id = :id GROUP BY b.id, y.compaction_id`;

type Of = { readonly head: Head; readonly lines: LineFacts; readonly totals: Totals };

/**
 * Checks a compaction's cycles and batches: all exist, match their hashes, count their messages right, and are newer
 * than their sources.
 */
export function checkCycles(source: CheckSource, { head, lines, totals }: Of): AsyncIterable<Finding> {
  const { query, dialect } = source;
  async function* checkCycle(row: Row, place: Place): AsyncGenerator<Finding> {
    const batchIds = (await query(LIST_BATCHES, { id: readInteger(row, 'id') })).map((one) => readInteger(one, 'id'));
    yield* checkCounts(row, batchIds.length, place);
    for (const batchId of batchIds) {
      totals.batches += 1;
      const lineCount = lines.isWhole ? (lines.linesOf.get(batchId) ?? 0) : null;
      for (const batch of await withTexts(source, await query(getBatch(dialect), { id: batchId })))
        yield* checkBatch(batch, { batchId, place, lineCount });
    }
  }
  return attempt({ ...head.place, name: `${head.place.name}, conversations` }, async function* () {
    const rows = await query(LIST_CYCLES, { id: head.id });
    if (rows.some((row, at) => readInteger(row, 'position') !== at) || rows.length === 0)
      yield finding('reference', head.place, 'a conversation of it is gone');
    for (const row of rows) {
      const name = `${head.place.name}, conversation ${readText(row, 'conversation_id')}`;
      const place = { name, compactionIds: head.place.compactionIds };
      yield* attempt(place, () => checkCycle(row, place));
    }
  });
}

function* checkCounts(row: Row, made: number, place: Place): Generator<Finding> {
  const [madeCount, liveCount, live] = [
    readInteger(row, 'made_count'),
    readInteger(row, 'live_count'),
    readInteger(row, 'live_found'),
  ];
  if (made !== madeCount)
    yield finding('wrong-count', place, `${made} batches are there of ${madeCount} that were made`);
  if (live !== liveCount)
    yield finding('wrong-count', place, `its clip-archive speaks of ${liveCount} batches, ${live} are known`);
  const [compressed, messages] = [readInteger(row, 'messages_compressed'), readInteger(row, 'live_messages')];
  if (compressed !== messages)
    yield finding('wrong-count', place, `its batches stand for ${messages} messages, ${compressed} were compressed`);
  if (readInteger(row, 'live_newer') > 0)
    yield finding('order', place, 'its clip-archive speaks of batches that are newer than it');
  if (readInteger(row, 'wrongly_carried') > 0)
    yield finding('reference', place, 'lines are listed as carried along that were not kept word for word');
  yield* checkParent(row, place);
}

function* checkParent(row: Row, place: Place): Generator<Finding> {
  const parentId = readOptionalInteger(row, 'parent_cycle_id');
  const parentCycle = readOptionalInteger(row, 'parent_cycle');
  // A missing row is reported with the references.
  if (parentId === null || parentCycle === null) return;
  const cycle = readInteger(row, 'cycle');
  if (parentId >= readInteger(row, 'id') || parentCycle !== cycle - 1)
    yield finding('order', place, `its cycle ${cycle} continues what is not the cycle before it`);
}

function* checkBatch(
  row: Row,
  { batchId, place, lineCount }: { readonly batchId: number; readonly place: Place; readonly lineCount: number | null },
): Generator<Finding> {
  const label = readText(row, 'label');
  const messageCount = readInteger(row, 'message_count');
  if (hash('sha256', readContent(row)) !== readHash(row, 'content_sha256'))
    yield finding('wrong-hash', place, `batch ${label} is not what was stored (by sha256)`);
  if (row['text_size'] === 0) return; // erased
  if (readInteger(row, 'is_unfindable') === 1)
    yield finding('search', place, `batch ${label} is not in the search index, so that search does not find it`);
  const depth = readInteger(row, 'depth');
  const ownLines = lineCount === null ? null : lineCount + readInteger(row, 'carried_count');
  if (readInteger(row, 'source_count') === 0) {
    if (depth !== 0)
      yield finding(
        'wrong-count',
        place,
        `batch ${label} is of depth ${depth}, but the batches that it was made from are gone`,
      );
    // A batch without lines is the summary that was found in the transcript.
    if (ownLines !== null && ownLines > 0 && ownLines !== messageCount)
      yield finding('wrong-count', place, `batch ${label} counts ${messageCount} messages, ${ownLines} belong to it`);
    return;
  }
  const missing = messageCount - readInteger(row, 'source_messages');
  const isComplete = ownLines === null ? missing >= 0 : missing === ownLines;
  if (!isComplete || readOptionalInteger(row, 'source_depth') !== depth - 1)
    yield finding(
      'wrong-count',
      place,
      `batch ${label} counts ${messageCount} messages at depth ${depth}, but its sources do not add up to that`,
    );
  if (readInteger(row, 'newest_source') >= batchId)
    yield finding('order', place, `batch ${label} was made from batches that are newer than it`);
}
