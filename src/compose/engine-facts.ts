import { findVectorExtension, sqliteVersion } from '../adapters/archive/sqlite/extension.ts';
import { SCHEMA_VERSION } from '../adapters/archive/sqlite/schema.ts';
import { systemFacts } from '../adapters/runtime/node.ts';

/** What this program runs on, in words. */
export async function engineFacts() {
  const extension = await findVectorExtension();
  const vectors = extension.ok ? 'sqlite-vec is there' : extension.error;
  return { ...systemFacts(), sqlite: sqliteVersion(), vectors, archiveVersion: SCHEMA_VERSION };
}
