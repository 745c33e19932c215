import assert from 'node:assert/strict';
import { after } from 'node:test';
import { openOn } from '../../../src/adapters/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { archiveContract } from './contract.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import type { Engine } from './engine.ts';
import { startPglite } from './pglite.ts';

const { database, driver } = await startPglite();
after(() => database.close());
const place = { path: 'postgres://nobody@localhost/test', host: 'localhost', user: 'nobody', database: 'test' };

async function openArchive(): Promise<Archive> {
  const options = { create: true, notice: () => undefined, wait: async () => undefined, place, schema: 'compact' };
  const opened = await openOn(driver, options);
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  return opened.value;
}

const archive = await openArchive();
const engine: Engine = {
  propertyRuns: 4,
  open: async () => {
    await database.exec(EMPTY_ARCHIVE);
    return archive;
  },
  openAgain: openArchive,
  execute: async (_, sql) => {
    // Without triggers, and so without foreign keys.
    await database.exec(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`);
  },
};

archiveContract(engine);
