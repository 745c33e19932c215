import type Database from 'better-sqlite3';
import type { StoredBatch, StoredCycle } from '../../ports/archive.ts';
import { hashColumn } from './columns.ts';
import { readHash, readInteger, readLevel, readOptionalInteger, readText, readTime, type Row } from './rows.ts';

const LIST_CYCLES = 'SELECT * FROM cycles WHERE compaction_id = ? ORDER BY position';
const FIND_CYCLES = `
SELECT cycles.* FROM cycles JOIN compactions ON compactions.id = cycles.compaction_id
WHERE clip_sha256 = ? AND status = 'applied' ORDER BY cycles.id DESC`;
const LIST_MADE = 'SELECT * FROM batches WHERE cycle_id = ? ORDER BY position';
const LIST_LIVE = `
SELECT batches.* FROM live_batches AS live JOIN batches ON batches.id = live.batch_id WHERE live.cycle_id = ? ORDER BY live.position`;
const LIST_SOURCES = 'SELECT source_id FROM batch_sources WHERE batch_id = ? ORDER BY position';

export type CycleReader = {
  readonly listCycles: (compactionId: number) => readonly StoredCycle[];
  /** Applied ones, newest first. */
  readonly findCycles: (clipSha256: string) => readonly StoredCycle[];
};

/** A batch whose row is gone is missing from `live` and `made`; that is for the caller to notice. */
export function createCycleReader(db: Database.Database): CycleReader {
  const listCycles = db.prepare<[number], Row>(LIST_CYCLES);
  const findCycles = db.prepare<[Uint8Array], Row>(FIND_CYCLES);
  const listMade = db.prepare<[number], Row>(LIST_MADE);
  const listLive = db.prepare<[number], Row>(LIST_LIVE);
  const listSources = db.prepare<[number], number>(LIST_SOURCES).pluck();

  const toCycle = (row: Row): StoredCycle => {
    const id = readInteger(row, 'id');
    return {
      id,
      compactionId: readInteger(row, 'compaction_id'),
      conversationId: readText(row, 'conversation_id'),
      cycle: readInteger(row, 'cycle'),
      parentCycleId: readOptionalInteger(row, 'parent_cycle_id'),
      clipSha256: readHash(row, 'clip_sha256'),
      messagesCompressed: readInteger(row, 'messages_compressed'),
      live: listLive.all(id).map(toBatch),
      made: listMade.all(id).map((made) => ({ ...toBatch(made), sources: listSources.all(readInteger(made, 'id')) })),
    };
  };

  return {
    listCycles: (compactionId) => listCycles.all(compactionId).map(toCycle),
    findCycles: (clipSha256) => findCycles.all(hashColumn(clipSha256)).map(toCycle),
  };
}

export function toBatch(row: Row): StoredBatch {
  const firstIndex = readOptionalInteger(row, 'first_index');
  const lastIndex = readOptionalInteger(row, 'last_index');
  return {
    id: readInteger(row, 'id'),
    label: readText(row, 'label'),
    content: readText(row, 'content'),
    contentSha256: readHash(row, 'content_sha256'),
    depth: readInteger(row, 'depth'),
    startTime: readTime(row, 'start_ms'),
    endTime: readTime(row, 'end_ms'),
    messageCount: readInteger(row, 'message_count'),
    level: readLevel(row, 'level'),
    ...(firstIndex === null ? {} : { firstIndex }),
    ...(lastIndex === null ? {} : { lastIndex }),
  };
}
