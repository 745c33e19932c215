import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import type { CaptureDraft, CaptureOutline, StoredCapture } from '../../../src/ports/captures.ts';
import { collect } from '../../support/collect.ts';
import { openAt, tempArchive, utf8 } from './drafts.ts';
type Tested = ReturnType<typeof tempArchive>;

const AT = new Date('2026-11-22T12:00:00.000Z');

function linesOf(content: string): readonly Uint8Array[] {
  return (content.match(/[^\n]*\n|[^\n]+$/g) ?? []).map(utf8);
}

function draftOf(content: string, changes: Partial<CaptureDraft> = {}): CaptureDraft {
  const bytes = utf8(content);
  return {
    sizeBytes: bytes.length,
    sha256: hash('sha256', bytes),
    stamp: 'stamp',
    capturedAt: AT,
    sessions: [],
    ...changes,
  };
}

/** Stores what a file holds now; `grown` appends only what is new. */
async function capture(
  { port: { captures } }: Tested,
  content: string,
  { path = '/data/a.jsonl', change = 'new', at = AT }: Partial<CaptureOutline> & { readonly at?: Date } = {},
): Promise<StoredCapture> {
  const last = (await captures.find(path))?.last ?? null;
  const writer = await captures.begin({ path, format: 'chat-lines', change, lastStateId: last?.id ?? null });
  assert.ok(writer !== null);
  const from = change === 'grown' ? (last?.sizeBytes ?? 0) : 0;
  await writer.append(linesOf(Buffer.from(utf8(content)).subarray(from).toString()));
  return writer.commit(draftOf(content, { capturedAt: at }));
}

async function statesOf({ port: { captures } }: Tested, path = '/data/a.jsonl'): Promise<readonly string[]> {
  const states = await captures.listStates((await captures.find(path))?.id ?? 0);
  return Promise.all(states.map(async ({ id }) => Buffer.concat(await collect(captures.read(id))).toString()));
}

test('small captures share a block, and a line longer than a block has one of its own', async (t) => {
  const archive = tempArchive(t);
  const long = `${randomBytes(700_000).toString('hex')}\n`;
  const contents = ['a\n', `a\n${long}`, `a\n${long}b\n`, `a\n${long}b\nc\n`];
  for (const [at, content] of contents.entries())
    await capture(archive, content, { change: at === 0 ? 'new' : 'grown' });
  const db = new Database(archive.path);
  t.after(() => db.close());
  const counts = db.prepare('SELECT line_count FROM captured_blocks ORDER BY id').pluck().all();
  assert.deepEqual([counts, await statesOf(archive)], [[1, 1, 2], contents]);
});

test('what another process captured meanwhile is not captured over it', async (t) => {
  const archive = tempArchive(t);
  const other = openAt(archive.path);
  t.after(() => other.close());
  await capture(other, 'theirs\n');
  const outline = { path: '/data/a.jsonl', format: 'f', change: 'new', lastStateId: null } as const;
  assert.equal(await archive.port.captures.begin(outline), null);
  assert.deepEqual(await statesOf(archive), ['theirs\n']);
});

for (const [what, sql] of [
  ['block', 'UPDATE captured_blocks SET data = zeroblob(length(data))'],
  ['place', 'UPDATE captured_lines SET offset = offset + 1'],
  ['block with other content of the same size', 'UPDATE captured_blocks SET data = :other'],
] as const) {
  test(`a line in a damaged ${what} is stored again, so that a capture never claims what cannot be read`, async (t) => {
    const archive = tempArchive(t);
    const content = 'one\ntwo\nthree\n';
    await capture(archive, content);
    const db = new Database(archive.path);
    const other = zstdCompressSync(utf8(content.toUpperCase()));
    db.prepare(sql).run(...(sql.includes(':other') ? [{ other }] : []));
    db.close();
    const again = await capture(archive, content, { path: '/data/copy.jsonl' });
    assert.deepEqual([await statesOf(archive, '/data/copy.jsonl'), again.newBytes], [[content], content.length]);
    const third = await capture(archive, content, { path: '/data/third.jsonl' });
    assert.deepEqual([await statesOf(archive, '/data/third.jsonl'), third.newBytes], [[content], 0]);
  });
}
