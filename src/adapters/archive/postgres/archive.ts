import type { Archive } from '../../../ports/archive.ts';
import { createArchive } from '../archive.ts';
import { archiveError } from '../failure.ts';
import { readText } from '../rows.ts';
import { readUsedBytes } from '../sql/query.ts';
import { POSTGRES_CHECK } from './check.ts';
import { guardMethods, type Place } from './failure.ts';
import { createPartitions } from './months.ts';
import { POSTGRES_VECTORS } from './pgvector.ts';
import { createPostgresRetention } from './retention.ts';
import { POSTGRES_SEARCH } from './search.ts';
import type { PostgresSql } from './sql.ts';
import { createPostgresStore } from './store.ts';

type Opened = { readonly place: Place; readonly isReadOnly: boolean };

/** The archive in a prepared schema of a database. */
export function createPostgresArchive(sql: PostgresSql, { place, isReadOnly }: Opened): Archive {
  const facts = { path: place.path, isReadOnly, isReadableWhileStoring: true, close: sql.close };
  return createArchive(sql, facts, {
    store: createPostgresStore(createPartitions(sql)),
    loadOthers: async () => ({
      check: POSTGRES_CHECK,
      retention: createPostgresRetention(sql, place.path),
      search: POSTGRES_SEARCH,
      vectors: POSTGRES_VECTORS,
      fileBytes: () => readUsedBytes(sql),
      backup: async () => {
        const reason = "'archive backup' copies archives that are files";
        const [row = {}] = await sql.query('SELECT current_schema() AS schema');
        const advice = `Use 'pg_dump -d ${place.database} -n ${readText(row, 'schema')} -f FILE', or the backups of your provider.`;
        throw archiveError({ kind: 'unsupported', path: place.path, reason, advice });
      },
    }),
    guard: (port) => guardMethods(port, place),
  });
}
