import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { createBatchSearch } from './batch-search.ts';
import { createCaptureStore } from './captures.ts';
import { createCatalog, usedBytes } from './catalog.ts';
import { createCheck } from './check.ts';
import { guardMethods, type Place } from './failure.ts';
import { createCompactionReader, createRunLog, createBatchRecords, createSummaryCache } from './load.ts';
import { createMessageIndex } from './message-index.ts';
import { createPartitions } from './migrate.ts';
import { createLineReader, createOriginals } from './read-lines.ts';
import { createDroppedRules, createRetention } from './retention.ts';
import type { Sql } from './sql.ts';
import { createBegin, createSettling } from './store.ts';
import { createVectorStore } from './vectors.ts';

type Opened = { readonly place: Place; readonly schema: string; readonly isReadOnly: boolean };

/** The archive in a prepared schema of a database. */
export function createPostgresArchive(sql: Sql, { place, schema, isReadOnly }: Opened): Archive {
  const archive: Archive = {
    path: place.path,
    isReadOnly,
    isReadableWhileStoring: true,
    ...createState(sql, place),
    ...createCompactionReader(sql),
    ...createLineReader(sql),
    ...createSettling(sql),
    summaries: createSummaryCache(sql),
    batches: createBatchRecords(sql),
    runs: createRunLog(sql),
    captures: createCaptureStore(sql, place.path),
    begin: createBegin(sql, createPartitions(sql, schema)),
    droppedRules: createDroppedRules(sql),
    retention: createRetention(sql, place.path),
    usedBytes: () => usedBytes(sql.query),
    check: createCheck(sql, place.path),
    inOneState: async (work) => {
      const { query, rollback } = await sql.begin('snapshot');
      try {
        return await work(guardMethods(createState({ ...sql, query }, place), place));
      } finally {
        await rollback(); // nothing was written
      }
    },
    close: sql.close,
  };
  return guardMethods(archive, place);
}

function createState(sql: Sql, { path }: Place): ArchiveState {
  const { query } = sql;
  return {
    messages: createMessageIndex(query),
    searchBatches: createBatchSearch(query),
    ...createCatalog(query),
    ...createOriginals(query, path),
    vectors: createVectorStore(sql),
  };
}
