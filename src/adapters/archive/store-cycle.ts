import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { spaceOut } from '../../core/search/spaceless.ts';
import type { BatchDraft, BatchRef, CycleDraft } from '../../ports/archive.ts';
import { hashColumn, LEVELS, textColumn, timeColumn } from './columns.ts';
import { buildLabel, makeUnique } from './labels.ts';

const INSERT_CYCLE = `
INSERT INTO cycles (compaction_id, position, conversation_id, cycle, parent_cycle_id, clip_sha256, messages_compressed,
  made_count, live_count)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_BATCH = `
INSERT INTO batches (cycle_id, position, label, content, content_sha256, depth, start_ms, end_ms, message_count, first_index, last_index, level)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_BATCH_SEARCH = 'INSERT INTO batch_search (rowid, content) VALUES (?, ?)';
const INSERT_SOURCE = 'INSERT INTO batch_sources (batch_id, position, source_id) VALUES (?, ?, ?)';
const INSERT_LIVE = 'INSERT INTO live_batches (cycle_id, position, batch_id) VALUES (?, ?, ?)';
const FIND_LABEL = 'SELECT 1 FROM batches WHERE label = ?';

/** Rows of a cycle that was just stored. */
export type CycleIds = {
  readonly cycleId: number;
  /** By position in `newBatches`. */
  readonly batchIds: readonly number[];
};

export type CyclePlace = { readonly compactionId: number; readonly position: number };

export function createCycleWriter(db: Database.Database): (draft: CycleDraft, place: CyclePlace) => CycleIds {
  const insertCycle = db.prepare(INSERT_CYCLE);
  const insertBatch = db.prepare(INSERT_BATCH);
  const insertBatchSearch = db.prepare(INSERT_BATCH_SEARCH);
  const insertSource = db.prepare(INSERT_SOURCE);
  const insertLive = db.prepare(INSERT_LIVE);
  const findLabel = db.prepare(FIND_LABEL);

  const writeBatch = (draft: CycleDraft, cycleId: number, position: number, batch: BatchDraft): number => {
    const { conversationId, cycle } = draft;
    const label = makeUnique(
      buildLabel({ conversationId, cycle, position, batch }),
      (name) => findLabel.get(name) !== undefined,
    );
    const { lastInsertRowid } = insertBatch.run(
      cycleId,
      position,
      label,
      textColumn(batch.content),
      hash('sha256', batch.content, 'buffer'),
      batch.depth,
      timeColumn(batch.startTime),
      timeColumn(batch.endTime),
      batch.messageCount,
      batch.firstIndex ?? null,
      batch.lastIndex ?? null,
      LEVELS.indexOf(batch.level ?? 'plain'),
    );
    const batchId = Number(lastInsertRowid);
    insertBatchSearch.run(batchId, spaceOut(batch.content));
    return batchId;
  };

  return (draft, { compactionId, position }) => {
    const { lastInsertRowid } = insertCycle.run(
      compactionId,
      position,
      textColumn(draft.conversationId),
      draft.cycle,
      draft.parentCycleId,
      hashColumn(draft.clipSha256),
      draft.messagesCompressed,
      draft.newBatches.length,
      draft.live.length,
    );
    const cycleId = Number(lastInsertRowid);
    const batchIds: number[] = [];
    draft.newBatches.forEach((batch, at) => {
      const batchId = writeBatch(draft, cycleId, at, batch);
      // Only batches made before this one can be its sources.
      batch.sources.forEach((source, index) => insertSource.run(batchId, index, resolve(source, batchIds)));
      batchIds.push(batchId);
    });
    draft.live.forEach((live, at) => insertLive.run(cycleId, at, resolve(live, batchIds)));
    return { cycleId, batchIds };
  };
}

function resolve(ref: BatchRef, batchIds: readonly number[]): number {
  if (ref.kind === 'stored') return ref.id;
  const id = batchIds[ref.position];
  if (id === undefined) throw new Error(`no new batch at position ${ref.position}`);
  return id;
}
