import { hash } from 'node:crypto';
import type { CompactionDraft, CycleDraft } from '../../ports/archive.ts';
import { compressInsertedLine } from '../archive/blocks.ts';
import { hashColumn, LEVELS, readText, timeColumn } from '../archive/rows.ts';
import { compactionColumns } from '../archive/store.ts';
import { buildLabel, type CycleIds, makeUnique, resolve } from '../archive/store-rows.ts';
import { recordFile } from '../archive/store/runs.ts';
import { thisMachine } from '../runtime/machine.ts';
import type { Query } from '../archive/sql/query.ts';
import type { StoreTarget } from './store-lines.ts';
import { INDEX_BATCH_TERMS } from './word-hits.ts';
import { batchVector } from './words.ts';

const INSERT_COMPACTION = `
INSERT INTO compactions (id, month, status, format, source_path, output_path, source_sha256, source_size_bytes, source_line_count,
  source_has_bom, output_sha256, output_size_bytes, settings_sha256, settings, created_at_ms, process_id, machine, first_line_id, last_line_id)
SELECT :id, :month::date, 'prepared', :format, :sourcePath, :outputPath, :sourceSha256::bytea, :sourceSizeBytes, :sourceLineCount,
  :sourceHasBom, :outputSha256::bytea, :outputSizeBytes, :settingsSha256::bytea, :settings, :createdAtMs, :processId, :machine, min(l.id), max(l.id)
FROM blocks AS k JOIN lines AS l ON l.block_id = k.id AND l.month = k.month WHERE k.compaction_id = :id AND k.month = :month::date`;
const INSERT_INSERTED = `
INSERT INTO inserted_lines (compaction_id, position, before_line, bytes, raw_size)
VALUES (:compactionId, :position, :beforeLine, :bytes, :rawSize)`;
const INSERT_KEPT = `
INSERT INTO kept_runs (compaction_id, position, first_line, line_count, size_bytes, line_sha256)
SELECT :compactionId, u.number - 1, u.first_line, u.line_count, u.size_bytes, substr(:hashes::bytea, u.first_hash * 32 + 1, u.line_count::int * 32)
FROM unnest(:firstLines::bigint[], :lineCounts::bigint[], :sizes::bigint[], :firstHashes::int[])
  WITH ORDINALITY AS u (first_line, line_count, size_bytes, first_hash, number)`;
const INSERT_CARRIED = `
INSERT INTO carried_lines (cycle_id, line_id, batch_id)
SELECT * FROM unnest(:cycleIds::bigint[], :lineIds::bigint[], :batchIds::bigint[])`;
export const INSERT_SPEAKERS = `
INSERT INTO speakers (name) SELECT DISTINCT name FROM lines
WHERE month = :month::date AND role IN (0, 1) AND name IS NOT NULL AND block_id IN (SELECT id FROM blocks WHERE compaction_id = :id AND month = :month::date)
  AND name NOT IN (SELECT name FROM speakers)
ORDER BY name ON CONFLICT DO NOTHING`;

/** Writes everything but the lines, which are there already. */
export async function writeCompaction(query: Query, draft: CompactionDraft, target: StoreTarget): Promise<void> {
  const { compactionId, month, cycles } = target;
  if (draft.cycles.length !== cycles.length)
    throw new Error(`there are ${draft.cycles.length} cycles instead of ${cycles.length}`);
  const columns = compactionColumns(draft);
  const { sourcePath, outputPath, settings, run } = draft;
  // Here text is escaped on its way, so it is taken as it is.
  await query(INSERT_COMPACTION, {
    ...columns,
    sourcePath,
    outputPath,
    settings,
    id: compactionId,
    month,
    machine: thisMachine(),
  });
  if (run !== null) await recordFile(query, run, { compactionId, sourcePath, outputPath });
  for (const [position, cycle] of draft.cycles.entries()) {
    const ids = cycles[position];
    if (ids !== undefined) await writeCycle(query, cycle, { compactionId, position, ids });
  }
  await writeInserted(query, draft, compactionId);
  await writeKept(query, draft, compactionId);
  await writeCarried(query, draft, cycles);
  await query(INSERT_SPEAKERS, { id: compactionId, month });
}

async function writeInserted(query: Query, { inserted, source }: CompactionDraft, compactionId: number): Promise<void> {
  for (const [position, { beforeLine, bytes }] of inserted.entries()) {
    if (beforeLine < 1 || beforeLine > source.lineCount + 1)
      throw new Error(`no place before source line ${beforeLine}`);
    const stored = compressInsertedLine(bytes);
    const values = { compactionId, position, beforeLine, bytes: stored.bytes, rawSize: stored.rawSizeBytes };
    await query(INSERT_INSERTED, values);
  }
}

async function writeKept(query: Query, { kept }: CompactionDraft, compactionId: number): Promise<void> {
  if (kept.length === 0) return;
  let hashCount = 0;
  const firstHashes = kept.map(({ lineSha256 }) => {
    hashCount += lineSha256.length;
    return hashCount - lineSha256.length;
  });
  await query(INSERT_KEPT, {
    compactionId,
    firstLines: kept.map(({ firstLine }) => firstLine),
    lineCounts: kept.map(({ lineCount }) => lineCount),
    sizes: kept.map(({ sizeBytes }) => sizeBytes),
    firstHashes,
    hashes: Buffer.concat(kept.flatMap(({ lineSha256 }) => lineSha256.map(hashColumn))),
  });
}

async function writeCarried(query: Query, { carried }: CompactionDraft, cycles: readonly CycleIds[]): Promise<void> {
  if (carried.length === 0) return;
  const owners = carried.map(({ cycle, batch }) => {
    const ids = cycles[cycle];
    const batchId = ids?.batchIds[batch];
    if (ids === undefined || batchId === undefined)
      throw new Error(`no batch ${batch} of cycle ${cycle} for a carried line`);
    return { cycleId: ids.cycleId, batchId };
  });
  await query(INSERT_CARRIED, {
    cycleIds: owners.map(({ cycleId }) => cycleId),
    lineIds: carried.map(({ lineId }) => lineId),
    batchIds: owners.map(({ batchId }) => batchId),
  });
}

const INSERT_CYCLE = `
INSERT INTO cycles (id, compaction_id, position, conversation_id, cycle, parent_cycle_id, clip_sha256, messages_compressed, made_count, live_count)
VALUES (:id, :compactionId, :position, :conversationId, :cycle, :parentCycleId, :clipSha256, :messagesCompressed, :madeCount, :liveCount)`;
const INSERT_BATCH = `
WITH stored AS (
  INSERT INTO batches (id, cycle_id, position, label, content, content_sha256, depth, start_ms, end_ms, message_count, first_index, last_index, level)
  VALUES (:id, :cycleId, :position, :label, :content, :contentSha256, :depth, :startMs, :endMs, :messageCount, :firstIndex, :lastIndex, :level)
  RETURNING id
)
INSERT INTO batch_words (batch_id, word_count, words) SELECT id, :wordCount::int, :words::tsvector FROM stored`;
const INSERT_SOURCES = `
INSERT INTO batch_sources (batch_id, position, source_id)
SELECT :id, u.number - 1, u.source FROM unnest(:sources::bigint[]) WITH ORDINALITY AS u (source, number)`;
const INSERT_LIVE = `
INSERT INTO live_batches (cycle_id, position, batch_id)
SELECT :id, u.number - 1, u.batch FROM unnest(:batches::bigint[]) WITH ORDINALITY AS u (batch, number)`;
// Until the end of the transaction, nobody else takes a label that begins like this.
const LOCK_LABELS = 'SELECT pg_advisory_xact_lock(hashtextextended(:label::text, 0))';
const LIST_TAKEN = `
SELECT label FROM batches WHERE label = :label OR (label > :label || '-' AND label < :label || '.')`;

async function writeCycle(
  query: Query,
  draft: CycleDraft,
  of: { readonly compactionId: number; readonly position: number; readonly ids: CycleIds },
): Promise<void> {
  const { compactionId, position } = of;
  const { cycleId, batchIds } = of.ids;
  if (draft.newBatches.length !== batchIds.length)
    throw new Error(`cycle ${position} has ${draft.newBatches.length} new batches instead of ${batchIds.length}`);
  await query(INSERT_CYCLE, {
    id: cycleId,
    compactionId,
    position,
    conversationId: draft.conversationId,
    cycle: draft.cycle,
    parentCycleId: draft.parentCycleId,
    clipSha256: hashColumn(draft.clipSha256),
    messagesCompressed: draft.messagesCompressed,
    madeCount: draft.newBatches.length,
    liveCount: draft.live.length,
  });
  for (const [at, { sources }] of draft.newBatches.entries()) {
    const id = batchIds[at];
    await writeBatch(query, draft, { id, cycleId, position: at });
    // Only earlier batches can be sources of a batch.
    const earlier = batchIds.slice(0, at);
    if (sources.length > 0) await query(INSERT_SOURCES, { id, sources: sources.map((one) => resolve(one, earlier)) });
  }
  await query(INSERT_LIVE, { id: cycleId, batches: draft.live.map((live) => resolve(live, batchIds)) });
}

async function writeBatch(
  query: Query,
  { conversationId, cycle, newBatches }: CycleDraft,
  { id, cycleId, position }: { readonly id: number | undefined; readonly cycleId: number; readonly position: number },
): Promise<void> {
  const batch = newBatches[position];
  if (batch === undefined || id === undefined) throw new Error(`no new batch at position ${position}`);
  const label = buildLabel({ conversationId, cycle, position, batch });
  await query(LOCK_LABELS, { label });
  const taken = new Set((await query(LIST_TAKEN, { label })).map((row) => readText(row, 'label')));
  const { vector, wordCount } = batchVector(batch.content);
  await query(INSERT_BATCH, {
    id,
    cycleId,
    position,
    label: makeUnique(label, (name) => taken.has(name)),
    content: batch.content,
    contentSha256: hash('sha256', batch.content, 'buffer'),
    depth: batch.depth,
    startMs: timeColumn(batch.startTime),
    endMs: timeColumn(batch.endTime),
    messageCount: batch.messageCount,
    firstIndex: batch.firstIndex ?? null,
    lastIndex: batch.lastIndex ?? null,
    level: LEVELS.indexOf(batch.level ?? 'plain'),
    wordCount,
    words: vector,
  });
  await query(INDEX_BATCH_TERMS, { id });
}
