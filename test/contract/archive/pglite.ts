import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Extensions, PGlite } from '@electric-sql/pglite';
import { createTurns } from '../../../src/adapters/archive/sqlite/turns.ts';
import type { Driver } from '../../../src/adapters/archive/postgres/sql.ts';

/** Postgres in this process. It has one connection, so transactions take turns. */
export async function startPglite(
  extensions: Extensions = {},
): Promise<{ readonly database: PGlite; readonly driver: Driver }> {
  const database = await PGlite.create({ loadDataDir: await loadEmptyDatabase(), extensions });
  await database.exec('SET search_path = compact');
  const takeTurn = createTurns();
  const query: Driver['query'] = async (sql, values) =>
    (await database.query<Record<string, unknown>>(sql, [...values])).rows;
  const driver: Driver = {
    query,
    connect: async () => {
      const release = await takeTurn();
      return { query, release };
    },
    maintain: async (sql) => {
      const release = await takeTurn();
      try {
        await database.exec(sql);
      } finally {
        release();
      }
    },
    close: async () => undefined,
  };
  return { database, driver };
}

/** To create a database takes seconds, so an empty one is kept for the next run. */
async function loadEmptyDatabase(): Promise<Blob> {
  const manifest = new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const folder = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
  const file = `${folder}pglite-${version}.tar`;
  if (existsSync(file)) return new Blob([readFileSync(file)]);
  const database = await PGlite.create();
  const dump = await database.dumpDataDir('none');
  await database.close();
  mkdirSync(folder, { recursive: true });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, Buffer.from(await dump.arrayBuffer()));
  renameSync(temporary, file);
  return dump;
}

const TAR_BLOCK_BYTES = 512;

/** The files of a tar archive of a database, joined, without its write-ahead log. */
export function withoutLog(tar: Buffer): Buffer {
  const files: Buffer[] = [];
  for (let at = 0; at + TAR_BLOCK_BYTES <= tar.length;) {
    const name = tar.toString('latin1', at, at + 100);
    const sizeBytes = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8) || 0;
    const start = at + TAR_BLOCK_BYTES;
    if (/(?:^|\/)(?:base|global)\//.test(name)) files.push(tar.subarray(start, start + sizeBytes));
    at = start + Math.ceil(sizeBytes / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
  }
  return Buffer.concat(files);
}
