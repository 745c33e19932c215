import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { capture, statesOf } from '../../contract/archive/capturing.ts';
import { openAt, tempArchive } from './drafts.ts';

test('small captures share a block, and a line longer than a block has one of its own', async (t) => {
  const archive = tempArchive(t);
  const long = `${randomBytes(700_000).toString('hex')}\n`;
  const contents = ['a\n', `a\n${long}`, `a\n${long}b\n`, `a\n${long}b\nc\n`];
  for (const [at, content] of contents.entries())
    await capture(archive.port, content, { change: at === 0 ? 'new' : 'grown' });
  const db = new Database(archive.path);
  t.after(() => db.close());
  const counts = db.prepare('SELECT line_count FROM captured_blocks ORDER BY id').pluck().all();
  assert.deepEqual([counts, await statesOf(archive.port)], [[1, 1, 2], contents]);
});

test('what another process captured meanwhile is not captured over it', async (t) => {
  const archive = tempArchive(t);
  const other = openAt(archive.path);
  t.after(() => other.close());
  await capture(other.port, 'theirs\n');
  const outline = { path: '/data/a.jsonl', format: 'f', change: 'new', lastStateId: null } as const;
  assert.equal(await archive.port.captures.begin(outline), null);
  assert.deepEqual(await statesOf(archive.port), ['theirs\n']);
});
