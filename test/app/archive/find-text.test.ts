import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { array, assert as check, asyncProperty, constantFrom, integer, nat, string } from 'fast-check';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import { createTextFinder, matchCaptured } from '../../../src/app/archive/find-text.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../../src/ports/captures.ts';
import { runsOf } from '../../support/runs.ts';

const STATE: CapturedState = {
  id: 1,
  version: 1,
  change: 'new',
  sizeBytes: 0,
  sha256: '',
  capturedAt: new Date(0),
  marks: null,
};
const FILE: CapturedFile = {
  id: 1,
  path: '/talk',
  format: 'chat',
  sessions: [],
  stamp: null,
  readAt: new Date(0),
  last: STATE,
};
const deps = {
  files: createFileStore(),
  runtime: createNodeRuntime(),
  signal: new AbortController().signal,
};

type Found = { readonly lineIds: readonly number[]; readonly isComplete: boolean };

/** Searches one file of these pieces, whose ids are their indexes. Null: an erased piece. `batch`: how many are read at once. */
async function match(text: string, pieces: readonly (Uint8Array | null)[], batch = 3): Promise<Found> {
  async function* readPieces() {
    for (let at = 0; at < pieces.length; at += batch)
      yield pieces.slice(at, at + batch).map((bytes, index) => ({ id: at + index, bytes }));
  }
  const archive = { captures: { listStates: async () => [STATE] }, retention: { readPieces } } as unknown as Archive;
  const found = await matchCaptured(deps, { archive, file: FILE, finder: createTextFinder(text) });
  return { ...found, lineIds: [...found.lineIds] };
}

function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

function escape(text: string, depth: number): string {
  if (depth === 0) return text;
  const once = JSON.stringify(text).slice(1, -1);
  const ascii = once.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return escape(ascii, depth - 1);
}

const TEXT = string({ unit: 'grapheme', minLength: 2, maxLength: 40 }).map((text) => `${text}Zoë "☃"\n${text}`);
const PLACES = array(nat(), { maxLength: 12 });
const SPACE = integer({ min: 0, max: 3000 }).map((size) => 'x'.repeat(size));

test('a text is found in any pieces, in any form, and no other piece is named', async () => {
  const form = integer({ min: 0, max: 3 });
  const property = asyncProperty(TEXT, form, SPACE, SPACE, PLACES, async (text, depth, before, after, places) => {
    const [head, body] = [Buffer.from(before), Buffer.from(escape(text, depth))];
    const pieces = cut(Buffer.concat([head, body, Buffer.from(after)]), places);
    const isHit = (at: number): boolean => {
      const start = pieces.slice(0, at).reduce((sum, { length }) => sum + length, 0);
      const end = start + (pieces[at]?.length ?? 0);
      return start < head.length + body.length && end > head.length && end > start;
    };
    const expected = [...pieces.keys()].filter((at) => isHit(at));
    const { lineIds, isComplete } = await match(text, pieces);
    assert.deepEqual([lineIds.toSorted((a, b) => a - b), isComplete], [expected, true]);
  });
  await check(property, { numRuns: runsOf(150) });
});

test('of a compressed version with the text, every piece is named', async () => {
  const compressions = constantFrom(gzipSync, zstdCompressSync);
  const property = asyncProperty(TEXT, compressions, SPACE, PLACES, async (text, compress, space, places) => {
    const parts = cut(Buffer.from(space + text + space), places.slice(0, 3)); // members or frames
    const file = Buffer.concat(parts.map((part) => compress(part)));
    const pieces = cut(file, places).filter(({ length }) => length > 0);
    assert.deepEqual(await match(text, pieces), { lineIds: [...pieces.keys()], isComplete: true });
    assert.deepEqual(await match(`${text}!`, pieces), { lineIds: [], isComplete: true });
  });
  await check(property, { numRuns: runsOf(60) });
});

test('a text is found across the ends of the windows in which a large file is read', async () => {
  const text = 'anna@example.org';
  const mib = 1024 ** 2;
  for (const place of [mib - 8, mib, 2 * mib - 1]) {
    const content = Buffer.alloc(2 * mib + 100, 'x');
    content.write(text, place);
    assert.deepEqual((await match(text, [content])).lineIds, [0]);
    const size = 700_001;
    const pieces = Array.from({ length: 3 }, (_, at) => content.subarray(at * size, (at + 1) * size));
    const expected = new Set([Math.floor(place / size), Math.floor((place + text.length - 1) / size)]);
    assert.deepEqual((await match(text, pieces)).lineIds, [...expected]);
    assert.deepEqual((await match(text, [gzipSync(content)])).lineIds, [0]);
  }
});

test('what cannot be decompressed to its end is counted unless the text is before that', async () => {
  const file = gzipSync(Buffer.from(`It is quux.${'x'.repeat(5000)}`));
  const damaged = file.subarray(0, -12);
  assert.deepEqual(await match('quux', [damaged]), { lineIds: [0], isComplete: true });
  assert.deepEqual(await match('other', [damaged]), { lineIds: [], isComplete: false });
  assert.deepEqual(await match('other', [file, null]), { lineIds: [], isComplete: false });
});

test('pieces on both sides of an erased one are not read as one text', async () => {
  const [first, second] = [Buffer.from('an'), Buffer.from('na')];
  assert.deepEqual((await match('anna', [first, null, second])).lineIds, []);
  assert.deepEqual((await match('anna', [first, second])).lineIds, [0, 1]);
});
