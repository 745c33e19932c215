import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import type { CaptureDraft, CaptureOutline, StoredCapture } from '../../../src/ports/captures.ts';
import { openAt, tempArchive, tempFolder, utf8 } from './drafts.ts';

type Tested = ReturnType<typeof tempArchive>;

const AT = new Date('2026-11-22T12:00:00.000Z');

function linesOf(content: string): readonly Uint8Array[] {
  return (content.match(/[^\n]*\n|[^\n]+$/g) ?? []).map(utf8);
}

function draftOf(content: string, changes: Partial<CaptureDraft> = {}): CaptureDraft {
  const bytes = utf8(content);
  return { sizeBytes: bytes.length, sha256: hash('sha256', bytes), stamp: 'stamp', capturedAt: AT, ...changes };
}

/** Stores what a file holds now; `grown` appends only what is new. */
function capture(
  { captures }: Tested,
  content: string,
  { path = '/data/a.jsonl', change = 'new', at = AT }: Partial<CaptureOutline> & { readonly at?: Date } = {},
): StoredCapture {
  const last = captures.find(path)?.last ?? null;
  const writer = captures.begin({ path, format: 'chat-lines', change, lastStateId: last?.id ?? null });
  assert.ok(writer !== null);
  const from = change === 'grown' ? (last?.sizeBytes ?? 0) : 0;
  writer.append(linesOf(Buffer.from(utf8(content)).subarray(from).toString()));
  return writer.commit(draftOf(content, { capturedAt: at }));
}

function readState({ captures }: Tested, stateId: number): string {
  return Buffer.concat([...captures.read(stateId)]).toString();
}

function statesOf(archive: Tested, path = '/data/a.jsonl'): readonly string[] {
  const file = archive.captures.find(path);
  return archive.captures.listStates(file?.id ?? 0).map(({ id }) => readState(archive, id));
}

const problemsOf = (archive: Tested): readonly string[] =>
  [...archive.check()].flatMap((step) => (step.kind === 'damage' ? [step.damage.message] : []));

function corrupt({ path }: Tested, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

test('every state of a file that grows and is rewritten can be read back', (t) => {
  const archive = tempArchive(t);
  const contents = ['one\ntwo\n', 'one\ntwo\nthree', 'one\ntwo\nthree, and more\nfour\n', 'two\none\n', ''];
  const changes = ['new', 'grown', 'grown', 'rewritten', 'shortened'] as const;
  const versions = contents.map((content, at) => capture(archive, content, { change: changes[at] ?? 'new' }).version);
  assert.deepEqual([statesOf(archive), versions], [contents, [1, 1, 1, 2, 3]]);
  assert.deepEqual(problemsOf(archive), []);
});

test('any sequence of contents of several files is read back, and no line is stored twice', (t) => {
  const line = fc.constantFrom('a\n', 'b\n', 'longer line\n', '\n', 'é\r\n');
  const content = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''));
  const step = fc.record({ content, path: fc.constantFrom('/x', '/y') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const archive = openAt(join(tempFolder(t), 'archive.db'));
      const kept: Record<string, string[]> = { '/x': [], '/y': [] };
      let newBytes = 0;
      for (const { content: text, path } of steps) {
        const before = kept[path]?.at(-1);
        const change = before === undefined ? 'new' : text.startsWith(before) ? 'grown' : 'rewritten';
        newBytes += capture(archive, text, { path, change }).newBytes;
        kept[path]?.push(text);
      }
      for (const path of ['/x', '/y']) assert.deepEqual(statesOf(archive, path), kept[path]);
      const distinct = new Set(steps.flatMap(({ content: text }) => text.match(/[^\n]*\n/g) ?? []));
      assert.equal(
        newBytes,
        [...distinct].reduce((sum, one) => sum + Buffer.byteLength(one), 0),
      );
      assert.deepEqual(problemsOf(archive), []);
      archive.close();
    }),
    { numRuns: 15 },
  );
});

test('small captures share a block, and a line longer than a block has one of its own', (t) => {
  const archive = tempArchive(t);
  const long = `${randomBytes(700_000).toString('hex')}\n`;
  const contents = ['a\n', `a\n${long}`, `a\n${long}b\n`, `a\n${long}b\nc\n`];
  contents.forEach((content, at) => capture(archive, content, { change: at === 0 ? 'new' : 'grown' }));
  const db = new Database(archive.path);
  t.after(() => db.close());
  const counts = db.prepare('SELECT line_count FROM captured_blocks ORDER BY id').pluck().all();
  assert.deepEqual([counts, statesOf(archive)], [[1, 1, 2], contents]);
});

test('what another process captured meanwhile is not captured over it', (t) => {
  const archive = tempArchive(t);
  const other = openAt(archive.path);
  t.after(() => other.close());
  capture(other, 'theirs\n');
  assert.equal(archive.captures.begin({ path: '/data/a.jsonl', format: 'f', change: 'new', lastStateId: null }), null);
  assert.deepEqual(statesOf(archive), ['theirs\n']);
});

test('a capture that is abandoned, or that contradicts itself, leaves nothing', (t) => {
  const archive = tempArchive(t);
  const outline = { path: '/data/a.jsonl', format: 'f', change: 'new', lastStateId: null } as const;
  const first = archive.captures.begin(outline);
  first?.append([utf8('lost\n')]);
  first?.abandon();
  const second = archive.captures.begin(outline);
  assert.throws(() => second?.commit(draftOf('more than was appended')), /0 bytes were appended/);
  assert.deepEqual([archive.captures.list(), problemsOf(archive)], [[], []]);
  assert.equal(capture(archive, 'kept\n').newBytes, 5);
});

test('a file that is gone has a version without content, once', (t) => {
  const archive = tempArchive(t);
  capture(archive, 'x\n');
  const file = archive.captures.find('/data/a.jsonl');
  assert.ok(file !== null);
  for (let times = 0; times < 2; times += 1) archive.captures.markGone(file.id, { lastStateId: file.last.id, at: AT });
  capture(archive, 'y\n', { change: 'returned' });
  const states = archive.captures.listStates(file.id);
  assert.deepEqual(
    states.map(({ version, change }) => [version, change]),
    [
      [1, 'new'],
      [2, 'gone'],
      [3, 'returned'],
    ],
  );
});

for (const [what, sql] of [
  ['block', 'UPDATE captured_blocks SET data = zeroblob(length(data))'],
  ['place', 'UPDATE captured_lines SET offset = offset + 1'],
  ['block with other content of the same size', 'UPDATE captured_blocks SET data = :other'],
] as const) {
  test(`a line in a damaged ${what} is stored again, so that a capture never claims what cannot be read`, (t) => {
    const archive = tempArchive(t);
    const content = 'one\ntwo\nthree\n';
    capture(archive, content);
    const db = new Database(archive.path);
    const other = zstdCompressSync(utf8(content.toUpperCase()));
    db.prepare(sql).run(...(sql.includes(':other') ? [{ other }] : []));
    db.close();
    const again = capture(archive, content, { path: '/data/copy.jsonl' });
    assert.deepEqual([statesOf(archive, '/data/copy.jsonl'), again.newBytes], [[content], content.length]);
    const third = capture(archive, content, { path: '/data/third.jsonl' });
    assert.deepEqual([statesOf(archive, '/data/third.jsonl'), third.newBytes], [[content], 0]);
  });
}

const DAMAGE: readonly (readonly [what: string, sql: string, expected: RegExp])[] = [
  ['a block', 'UPDATE captured_blocks SET data = zeroblob(length(data))', /version 1: .*cannot be decompressed/],
  ['a line', 'DELETE FROM captured_lines WHERE id = 2', /version 1: captured line 2 is missing/],
  ['a place', 'UPDATE captured_lines SET offset = 1 WHERE id = 2', /version 1: captured line 2 is not where/],
  ['a hash', 'UPDATE captured_lines SET sha256 = randomblob(32) WHERE id = 2', /captured line 2 differs from its hash/],
  ['the runs', 'DELETE FROM captured_runs', /version 1: 8 of its 8 bytes are missing/],
  ['the length of a run', 'UPDATE captured_runs SET line_count = 1', /version 1: 4 of its 8 bytes are missing/],
  ['a state', 'UPDATE captured_states SET sha256 = randomblob(32)', /version 1: its first 8 bytes differ/],
  ['a size', 'UPDATE captured_states SET size_bytes = 5', /version 1: its first 5 bytes differ/],
];

for (const [what, sql, expected] of DAMAGE) {
  test(`a check notices damage to ${what}, and names the file`, (t) => {
    const archive = tempArchive(t);
    capture(archive, 'one\ntwo\n');
    corrupt(archive, `PRAGMA foreign_keys = OFF; ${sql}`);
    assert.match(problemsOf(archive).join('\n'), expected);
    assert.match(problemsOf(archive).join('\n'), /captured file "\/data\/a\.jsonl"/);
  });
}
