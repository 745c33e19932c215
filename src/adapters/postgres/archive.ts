import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { createBatchSearch } from './batch-search.ts';
import { POSTGRES_CHECK } from './check.ts';
import { guardMethods, type Place } from './failure.ts';
import { createMessageIndex } from './message-index.ts';
import { createPartitions } from './migrate.ts';
import { createPostgresRetention } from './retention.ts';
import { readUsedBytes } from '../archive/read/used-bytes.ts';
import { createLookup, createShared } from '../archive/shared.ts';
import { type Sql, within } from '../archive/sql/query.ts';
import type { PostgresSql } from './sql.ts';
import { createCompactionStore } from '../archive/store/compactions.ts';
import { createPostgresStore } from './store.ts';
import { createVectorStore } from './vectors.ts';

type Opened = { readonly place: Place; readonly schema: string; readonly isReadOnly: boolean };

/** The archive in a prepared schema of a database. */
export function createPostgresArchive(sql: PostgresSql, { place, schema, isReadOnly }: Opened): Archive {
  const archive: Archive = {
    path: place.path,
    isReadOnly,
    isReadableWhileStoring: true,
    ...createShared(
      sql,
      { path: place.path, fileBytes: () => readUsedBytes(sql) },
      { check: POSTGRES_CHECK, retention: createPostgresRetention(sql, place.path) },
    ),
    ...createIndexes(sql),
    ...createCompactionStore(sql, createPostgresStore(sql, createPartitions(sql, schema))),
    inOneState: async (work) => {
      const { query, rollback } = await sql.begin('snapshot');
      try {
        return await work(guardMethods(createState(within(sql, query), place), place));
      } finally {
        await rollback(); // nothing was written
      }
    },
    close: sql.close,
  };
  return guardMethods(archive, place);
}

function createState(sql: Sql, { path }: Place): ArchiveState {
  return { ...createIndexes(sql), ...createLookup(sql, { path, fileBytes: () => readUsedBytes(sql) }) };
}

function createIndexes(sql: Sql): Pick<ArchiveState, 'messages' | 'searchBatches' | 'vectors'> {
  const { query } = sql;
  return {
    messages: createMessageIndex(query),
    searchBatches: createBatchSearch(query),
    vectors: createVectorStore(sql),
  };
}
