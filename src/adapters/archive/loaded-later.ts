import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { createCheck, type EngineCheck } from './check/check.ts';
import type { RetentionEngine } from './erase/erase.ts';
import { createRetention } from './erase/retention.ts';
import { createCatalog } from './read/catalog.ts';
import { createOriginals } from './read/lines.ts';
import { createCapturedMessages, withCaptured } from './search/captured.ts';
import type { SearchEngine, VectorEngine } from './search/engine.ts';
import { createSearchIndexer } from './search/indexing.ts';
import { createBatchSearch, createMessageIndex, createOpenings } from './search/messages.ts';
import type { Sql } from './sql/query.ts';
import { createAuditLog } from './store/audit-log.ts';
import { createCaptureStore } from './store/captures.ts';
import type { Reading } from './texts.ts';
import { createVectorStore } from './vectors/vector-store.ts';

/** What engines do differently in these parts. */
export type LaterEngine = {
  readonly check: EngineCheck;
  readonly retention: RetentionEngine;
  readonly search: SearchEngine;
  readonly vectors: VectorEngine;
  readonly backup: Archive['backup'];
  /** What the archive takes on disk. */
  readonly fileBytes: () => number | Promise<number>;
};

/** The parts of an archive that most compactions and restorations do not need. */
export type LaterParts = ArchiveState &
  Pick<Archive, 'index' | 'captures' | 'log' | 'check' | 'backup'> & {
    readonly retention: Omit<Archive['retention'], 'isPurged'>;
  };

export function createLaterParts(sql: Sql & Reading, path: string, engine: LaterEngine): LaterParts {
  const state = createState(sql, path, engine);
  return {
    ...state,
    index: createSearchIndexer(sql, engine.search, state),
    captures: createCaptureStore(sql, path),
    log: createAuditLog(sql),
    backup: engine.backup,
    retention: createRetention(sql, path, engine.retention),
    check: createCheck(sql, path, engine.check),
  };
}

/** One state of an archive, for reading. */
export function createState(
  sql: Sql & Reading,
  path: string,
  { search, vectors, fileBytes }: LaterEngine,
): ArchiveState {
  const captured = createCapturedMessages(sql);
  return {
    ...createCatalog(sql, { captured, fileBytes }),
    ...withCaptured(createOriginals(sql, path), sql),
    ...createOpenings(sql),
    messages: createMessageIndex(sql, search, captured),
    searchBatches: createBatchSearch(sql, search),
    vectors: createVectorStore(sql, vectors),
  };
}
