import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { indexAll } from '../../support/indexing.ts';
import { applied, compactionDraft, lineDraft, messageDraft, tempArchive, type TestArchive } from './drafts.ts';

/** Rows of an index that hold all the words of a query. */
async function match(archive: TestArchive, query: string): Promise<readonly number[]> {
  await indexAll(archive);
  const db = new Database(archive.path, { readonly: true });
  const rows = db
    .prepare<[string], number>('SELECT rowid FROM message_search WHERE message_search MATCH ? ORDER BY rowid')
    .pluck()
    .all(query);
  db.close();
  return rows;
}

test('words beside a NUL or a lone surrogate are found', async (t) => {
  const archive = tempArchive(t);
  await applied(archive, compactionDraft(1), [
    lineDraft(1, { message: messageDraft({ text: 'hull\0mast \ud800 keel' }) }),
  ]);
  assert.deepEqual(await match(archive, 'hull mast keel'), [1]);
});

test('a message is found by the first 200,000 characters of its text', async (t) => {
  const archive = tempArchive(t);
  const text = `early ${'x '.repeat(100_000)}late`;
  await applied(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft({ text }) })]);
  assert.deepEqual([await match(archive, 'early'), await match(archive, 'late')], [[1], []]);
});

test('who said a message, when, and its own id stand beside its line', async (t) => {
  const archive = tempArchive(t);
  const at = new Date('2026-03-01T08:00:00.123Z');
  await archive.store(compactionDraft(2), [
    lineDraft(1, { message: messageDraft({ id: 'x\ud800', role: 'tool', name: 'grep', at, index: 9 }) }),
    lineDraft(2, { message: messageDraft({ id: 'line:2', role: 'system', at: null }) }),
  ]);
  const db = new Database(archive.path, { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('SELECT role, name, at_ms, message_index, message_id FROM lines ORDER BY line').all(), [
    { role: 3, name: 'grep', at_ms: at.getTime(), message_index: 9, message_id: Buffer.from('x\ud800', 'utf16le') },
    { role: 2, name: null, at_ms: null, message_index: 1, message_id: null },
  ]);
});
