import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { findVectorExtension } from '../../../src/adapters/archive/sqlite/extension.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { findLeftovers } from '../../support/leftovers.ts';
import { change } from '../../support/full-archive.ts';
import { fileExchange } from '../../support/merging.ts';
import { archiveContract } from './contract.ts';
import { type MergingEngine, mergeContract } from './merging.ts';
import { runsOf } from '../../support/runs.ts';

const extension = await findVectorExtension();
assert.ok(extension.ok, JSON.stringify(extension));
const vectorExtension = extension.value;

async function openAt(t: TestContext, path: string): Promise<Archive> {
  const opened = await openArchive({ path, vectorExtension });
  assert.ok(opened.ok, JSON.stringify(opened));
  t.after(() => opened.value.close());
  return opened.value;
}

const engine: MergingEngine = {
  exchange: fileExchange,
  propertyRuns: runsOf(64),
  open: async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'compact-archive-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    return openAt(t, join(folder, 'archive.db'));
  },
  openAgain: (t, archive) => openAt(t, archive.path),
  execute: async ({ path }, sql) => change(path, sql),
  findLeftovers: async ({ path }, word) => findLeftovers(path, word),
};

archiveContract(engine);
mergeContract(engine);
