import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { collect } from '../../support/collect.ts';
import * as fc from 'fast-check';
import type { CaptureDraft, CaptureOutline, StoredCapture } from '../../../src/ports/captures.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { utf8 } from '../../adapters/archive/drafts.ts';
import { type Engine, problemsOf } from './engine.ts';

const AT = new Date('2026-11-22T12:00:00.000Z');

function splitLines(content: string): readonly Uint8Array[] {
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
export async function capture(
  { captures }: Archive,
  content: string,
  { path = '/data/a.jsonl', change = 'new', at = AT }: Partial<CaptureOutline> & { readonly at?: Date } = {},
): Promise<StoredCapture> {
  const last = (await captures.find(path))?.last ?? null;
  const writer = await captures.begin({ path, format: 'chat-lines', change, lastStateId: last?.id ?? null });
  assert.ok(writer !== null);
  const from = change === 'grown' ? (last?.sizeBytes ?? 0) : 0;
  await writer.append(splitLines(Buffer.from(utf8(content)).subarray(from).toString()));
  return writer.commit(draftOf(content, { capturedAt: at }));
}

async function readState({ captures }: Archive, stateId: number): Promise<string> {
  return Buffer.concat(await collect(captures.read(stateId))).toString();
}

/** The content of every state of a file. */
export async function statesOf(archive: Archive, path = '/data/a.jsonl'): Promise<readonly string[]> {
  const file = await archive.captures.find(path);
  const contents: string[] = [];
  for (const { id } of await archive.captures.listStates(file?.id ?? 0)) contents.push(await readState(archive, id));
  return contents;
}

const DAMAGE: readonly (readonly [what: string, sql: string, expected: RegExp])[] = [
  [
    'a block',
    'UPDATE captured_blocks SET data = (SELECT sha256 FROM captured_lines WHERE id = 1)',
    /version 1: .*cannot be decompressed/,
  ],
  ['a line', 'DELETE FROM captured_lines WHERE id = 2', /version 1: captured line 2 is missing/],
  ['a place', 'UPDATE captured_lines SET "offset" = 1 WHERE id = 2', /version 1: captured line 2 is not where/],
  [
    'a hash',
    'UPDATE captured_lines SET sha256 = (SELECT sha256 FROM captured_lines WHERE id = 1) WHERE id = 2',
    /captured line 2 differs from its hash/,
  ],
  ['the runs', 'DELETE FROM captured_runs', /version 1: 8 of its 8 bytes are missing/],
  ['the length of a run', 'UPDATE captured_runs SET line_count = 1', /version 1: 4 of its 8 bytes are missing/],
  [
    'a state',
    'UPDATE captured_states SET sha256 = (SELECT sha256 FROM captured_states WHERE id = 2) WHERE id = 1',
    /version 1: its first 8 bytes differ/,
  ],
  ['a size', 'UPDATE captured_states SET size_bytes = 5', /version 1: its first 5 bytes differ/],
];

export function captureContract(engine: Engine): void {
  test('every state of a file that grows and is rewritten can be read back', async (t) => {
    const archive = await engine.open(t);
    const contents = ['one\ntwo\n', 'one\ntwo\nthree', 'one\ntwo\nthree, and more\nfour\n', 'two\none\n', ''];
    const changes = ['new', 'grown', 'grown', 'rewritten', 'shortened'] as const;
    const versions: number[] = [];
    for (const [at, content] of contents.entries())
      versions.push((await capture(archive, content, { change: changes[at] ?? 'new' })).version);
    assert.deepEqual([await statesOf(archive), versions], [contents, [1, 1, 1, 2, 3]]);
    assert.deepEqual(await problemsOf(archive), []);
  });

  test('any sequence of contents of several files is read back, and no line is stored twice', async (t) => {
    const line = fc.constantFrom('a\n', 'b\n', 'longer line\n', '\n', 'é\r\n');
    const content = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''));
    const step = fc.record({ content, path: fc.constantFrom('/x', '/y') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const archive = await engine.open(t);
        const kept: Record<string, string[]> = { '/x': [], '/y': [] };
        let newBytes = 0;
        for (const { content: text, path } of steps) {
          const before = kept[path]?.at(-1);
          const change = before === undefined ? 'new' : text.startsWith(before) ? 'grown' : 'rewritten';
          newBytes += (await capture(archive, text, { path, change })).newBytes;
          kept[path]?.push(text);
        }
        for (const path of ['/x', '/y']) assert.deepEqual(await statesOf(archive, path), kept[path]);
        const distinct = new Set(steps.flatMap(({ content: text }) => text.match(/[^\n]*\n/g) ?? []));
        assert.equal(
          newBytes,
          [...distinct].reduce((sum, one) => sum + Buffer.byteLength(one), 0),
        );
        assert.deepEqual(await problemsOf(archive), []);
        await archive.close();
      }),
      { numRuns: Math.ceil(engine.propertyRuns / 2) },
    );
  });

  test('a capture that is abandoned, or that contradicts itself, leaves nothing', async (t) => {
    const archive = await engine.open(t);
    const outline = { path: '/data/a.jsonl', format: 'f', change: 'new', lastStateId: null } as const;
    const first = await archive.captures.begin(outline);
    await first?.append([utf8('lost\n')]);
    await first?.abandon();
    const second = await archive.captures.begin(outline);
    await assert.rejects(async () => second?.commit(draftOf('more than was appended')), /0 bytes were appended/);
    assert.deepEqual([await archive.captures.list(), await problemsOf(archive)], [[], []]);
    assert.equal((await capture(archive, 'kept\n')).newBytes, 5);
  });

  test('a file that is gone has a version without content, once', async (t) => {
    const archive = await engine.open(t);
    await capture(archive, 'x\n');
    const file = await archive.captures.find('/data/a.jsonl');
    assert.ok(file !== null);
    for (let times = 0; times < 2; times += 1)
      await archive.captures.markGone(file.id, { lastStateId: file.last.id, at: AT });
    await capture(archive, 'y\n', { change: 'returned' });
    const states = await archive.captures.listStates(file.id);
    assert.deepEqual(
      states.map(({ version, change }) => [version, change]),
      [
        [1, 'new'],
        [2, 'gone'],
        [3, 'returned'],
      ],
    );
  });

  for (const [what, sql, expected] of DAMAGE) {
    test(`a check notices damage to ${what}, and names the file`, async (t) => {
      const archive = await engine.open(t);
      await capture(archive, 'one\ntwo\n');
      await capture(archive, 'three\n', { path: '/data/b.jsonl' });
      await engine.execute(archive, sql);
      assert.match((await problemsOf(archive)).join('\n'), expected);
      assert.match((await problemsOf(archive)).join('\n'), /captured file "\/data\/a\.jsonl"/);
    });
  }

  for (const [what, sql] of [
    ['block', 'UPDATE captured_blocks SET data = (SELECT sha256 FROM captured_states)'],
    ['place', 'UPDATE captured_lines SET "offset" = "offset" + 1'],
  ] as const) {
    test(`a line in a damaged ${what} is stored again, so that a capture never claims what cannot be read`, async (t) => {
      const archive = await engine.open(t);
      const content = 'one\ntwo\nthree\n';
      await capture(archive, content);
      await engine.execute(archive, sql);
      const again = await capture(archive, content, { path: '/data/copy.jsonl' });
      assert.deepEqual([await statesOf(archive, '/data/copy.jsonl'), again.newBytes], [[content], content.length]);
    });
  }
}
