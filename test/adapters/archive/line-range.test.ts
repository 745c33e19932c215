import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { findLineRange } from '../../../src/adapters/archive/search/engine.ts';
import { SQLITE } from '../../../src/adapters/archive/sqlite/dialect.ts';
import { createQuery } from '../../../src/adapters/archive/sqlite/sql.ts';
import type { SearchFilter } from '../../../src/ports/archive-lookup.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  openAt,
  sha256,
  tempFolder,
} from './drafts.ts';

const ANY: SearchFilter = { conversationId: null, role: null, since: null, until: null, source: null };

test('of a file with many conversations only the lines of the one that is asked for are looked through', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const archive = openAt(path);
  const names = ['harbor', 'quay', 'pier'];
  const cycles = names.map((conversationId) =>
    cycleDraft({ conversationId, clipSha256: sha256(conversationId), newBatches: [batchDraft({ content: 'Boats' })] }),
  );
  const lines = names.flatMap((_, cycle) =>
    [1, 2, 3, 4].map((at) => lineDraft(4 * cycle + at, { cycle, message: messageDraft({ id: `m${cycle}-${at}` }) })),
  );
  await applied(archive, compactionDraft(lines.length, { cycles }), lines);
  archive.close();
  const db = new Database(path, { readonly: true });
  t.after(() => db.close());
  const rangeOf = (filter: Partial<SearchFilter>) => findLineRange(createQuery(db), { ...ANY, ...filter }, SQLITE);
  assert.deepEqual(
    await Promise.all(['quay', 'pier', 'nowhere'].map((conversationId) => rangeOf({ conversationId }))),
    [
      { first: 5, last: 8 },
      { first: 9, last: 12 },
      { first: 1, last: 0 },
    ],
  );
  assert.deepEqual(await rangeOf({}), { first: Number.MIN_SAFE_INTEGER, last: Number.MAX_SAFE_INTEGER });
  assert.deepEqual(await rangeOf({ conversationId: 'quay', source: 'nowhere.jsonl' }), { first: 5, last: 0 });
});
