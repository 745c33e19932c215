import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { createUnpack } from './blocks.ts';
import { createCheck, type EngineCheck } from './check/check.ts';
import type { RetentionEngine } from './erase/erase.ts';
import { createRetention } from './erase/retention.ts';
import { createCatalog } from './read/catalog.ts';
import { createCompactionReader } from './read/compactions.ts';
import { createLineReader, createOriginals } from './read/lines.ts';
import { createBatchSearch } from './search/batches.ts';
import { createCapturedMessages, withCaptured } from './search/captured.ts';
import type { SearchEngine, VectorEngine } from './search/engine.ts';
import { createSearchIndexer } from './search/indexing.ts';
import { createMessageIndex, createOpenings } from './search/messages.ts';
import { type Sql, within, readUsedBytes } from './sql/query.ts';
import { createCaptureStore } from './store/captures.ts';
import { createCompactionStore } from './store/compactions.ts';
import { createChoices, createProviderBatches, createSummaryCache } from './store/records.ts';
import type { StoreEngine } from './store/engine.ts';
import { createRunLog } from './store/runs.ts';
import type { Reading } from './texts.ts';
import { createVectorStore } from './vectors/vector-store.ts';

/** What engines do differently. */
type Engine = {
  readonly check: EngineCheck;
  readonly retention: RetentionEngine;
  readonly search: SearchEngine;
  readonly store: StoreEngine;
  readonly vectors: VectorEngine;
  /** The same port, whose methods throw `ArchiveError`s for failures of the database. */
  readonly guard: <Port extends object>(port: Port) => Port;
  /** What the archive takes on disk. */
  readonly fileBytes: () => number | Promise<number>;
};

type Facts = Pick<Archive, 'path' | 'isReadOnly' | 'isReadableWhileStoring' | 'close'>;

/** The archive in a database. */
export function createArchive(sql: Sql, facts: Facts, engine: Engine): Archive {
  const { path } = facts;
  const reading = { ...sql, unpack: createUnpack() };
  const createState = (of: Sql & Reading): ArchiveState => {
    const captured = createCapturedMessages(of);
    return {
      ...createCatalog(of, { captured, fileBytes: engine.fileBytes }),
      ...withCaptured(createOriginals(of, path), of),
      ...createOpenings(of),
      messages: createMessageIndex(of, engine.search, captured),
      searchBatches: createBatchSearch(of, engine.search),
      vectors: createVectorStore(of, engine.vectors),
    };
  };
  const state = createState(reading);
  return engine.guard({
    ...facts,
    ...state,
    ...createCompactionReader(reading),
    ...createLineReader(reading),
    ...createCompactionStore(sql, engine.store),
    runs: createRunLog(sql),
    summaries: createSummaryCache(sql),
    providerBatches: createProviderBatches(sql),
    index: createSearchIndexer(sql, engine.search, state),
    captures: createCaptureStore(sql, path),
    choices: createChoices(sql),
    retention: createRetention(sql, path, engine.retention),
    check: createCheck(sql, path, engine.check),
    usedBytes: () => readUsedBytes(sql),
    inOneState: async (work) => {
      const { query, rollback } = await sql.begin('snapshot');
      try {
        return await work(engine.guard(createState({ ...reading, ...within(sql, query) })));
      } finally {
        await rollback(); // nothing was written
      }
    },
  });
}
