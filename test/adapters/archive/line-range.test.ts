import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { collect } from '../../support/collect.ts';
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

test('the lines of a day and of a summary are found without reading all lines', async (t) => {
  const archive = openAt(join(tempFolder(t), 'archive.db'));
  t.after(archive.close);
  await applied(archive, compactionDraft(2), [
    lineDraft(1, { message: messageDraft() }),
    lineDraft(2, { message: messageDraft() }),
  ]);
  const prepare = t.mock.method(Database.prototype, 'prepare');
  const day = { since: new Date('2026-03-01T00:00:00Z'), until: new Date('2026-03-02T00:00:00Z') };
  assert.equal((await archive.messages.listFrom(day, 9)).length, 2);
  assert.equal((await collect(archive.readOriginals(1))).flat().length, 2);
  const statements = prepare.mock.calls.map(({ arguments: [sql] }) => sql).filter((sql) => sql.includes('lines AS l'));
  prepare.mock.restore();
  assert.ok(statements.length >= 3);
  const db = new Database(archive.path, { readonly: true });
  t.after(() => db.close());
  for (const sql of statements) {
    const names = [...sql.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 1]);
    const plan = db.prepare<[object], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
    const steps = plan.all(Object.fromEntries(names)).map(({ detail }) => detail);
    assert.deepEqual(
      steps.filter((step) => /^SCAN l\b|AUTOMATIC.*INDEX/.test(step)),
      [],
      sql,
    );
  }
});
