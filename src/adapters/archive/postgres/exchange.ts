import { ok, type Result } from '../../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../../ports/archive.ts';
import type { OpenSource, OpenTarget } from '../../../ports/exchange.ts';
import { createReader } from '../exchange/read-units.ts';
import { createUnitStore, type MergeEngine } from '../exchange/unit-store.ts';
import { readText } from '../rows.ts';
import { createPostgresArchive, createPostgresStore } from './archive.ts';
import { guardMethods, type Place } from './failure.ts';
import { createPartitions } from './schema.ts';
import { within } from '../sql/query.ts';
import { type PostgresSql, POSTGRES } from './sql.ts';
import { POSTGRES_VECTORS } from './pgvector.ts';

const IDENTIFY = `
SELECT pg_postmaster_start_time()::text || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())::text || ' '
  || to_regnamespace(quote_ident(:schema))::oid::text AS identity`;

/** An archive in a database, once it is open. */
export type OpenedSql = { readonly sql: PostgresSql; readonly place: Place; readonly schema: string };

/** The same for every URL of the same archive, as long as its server runs. */
export async function identify({ sql, schema }: OpenedSql): Promise<string> {
  const [row = {}] = await sql.query(IDENTIFY, { schema });
  return readText(row, 'identity');
}

/** Reads one state of an archive: everything goes through one transaction that only reads. */
export async function openSqlSource(opened: OpenedSql): Promise<Result<OpenSource, ArchiveFailure>> {
  const { sql, place } = opened;
  const identity = await identify(opened);
  const { query, rollback } = await sql.begin('snapshot');
  const state = { ...sql, ...within(sql, query) };
  const archive: Archive = createPostgresArchive(state, { place, isReadOnly: true });
  const close = async (): Promise<void> => {
    await rollback();
    await sql.close();
  };
  return ok({ path: place.path, identity, archive, reader: guardMethods(createReader(query, POSTGRES), place), close });
}

export async function openSqlTarget(opened: OpenedSql): Promise<Result<OpenTarget, ArchiveFailure>> {
  const { sql, place } = opened;
  const storing = createPostgresStore(createPartitions(sql));
  const transaction: MergeEngine['transaction'] = async (work) => {
    await storing.prepareAhead?.(await storing.prepare(sql.query));
    return sql.transaction('write', async (query) => {
      for (const lock of LOCK_MERGE) await query(lock);
      return work(query);
    });
  };
  const store = createUnitStore({ ...sql, transaction, storing, path: place.path, vectors: POSTGRES_VECTORS });
  return ok({ identity: await identify(opened), store: guardMethods(store, place), close: sql.close });
}

/**
 * In the order in which an erasure takes its locks. One merge stores at a time, so none stores what another one has just stored; and nobody else
 * takes the label of a batch meanwhile.
 */
const LOCK_MERGE = [
  ...POSTGRES.capturing.begin,
  ...POSTGRES.storingLocks,
  'LOCK TABLE batches IN SHARE ROW EXCLUSIVE MODE',
];
