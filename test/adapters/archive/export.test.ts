import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { createExportFolders } from '../../../src/adapters/archive/exchange/folder.ts';
import { openFileSource } from '../../../src/adapters/archive/exchange/open.ts';
import { CHANGES, LEVELS, OUTCOMES, ROLES } from '../../../src/adapters/archive/rows.ts';
import { DEEDS } from '../../../src/ports/archive.ts';
import type { ExportKind } from '../../../src/ports/exchange.ts';
import { codePoint } from '../../support/code-points.ts';
import { collect } from '../../support/collect.ts';
import { folderWith } from '../../support/folders.ts';
import { runsOf } from '../../support/runs.ts';
import { applied, compactionDraft, lineDraft, messageDraft, tempArchive } from './drafts.ts';

// Text as an archive can have it: with half characters, a byte order mark at the start, ends of lines and zero bytes.
const halves = fc.array(fc.nat({ max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCodePoint(...units));
const whole = fc.string({ unit: codePoint, maxLength: 8 });
const text = fc.oneof(
  whole,
  halves,
  whole.map((value) => `\u{feff}${value}\r\n\0`),
);
const orNull = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { freq: 2 });
const count = fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
const ms = fc.oneof(fc.maxSafeInteger(), fc.constant(8.64e15 + 1)); // also later than a `Date` can be
const date = fc.date({ noInvalidDate: true });
const sha256 = whole.map((value) => hash('sha256', value));
const key = fc.tuple(sha256, sha256).map(([one, other]) => `${one}-${other}-${other.slice(0, 32)}`);
const bytes = fc.oneof(
  fc.uint8Array(),
  whole.map((value) => Uint8Array.from(Buffer.from(`\u{feff}${value}`))),
);
const few = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 3 });

const batchPlace = fc.record({ cycle: count, batch: count });
const batchName = fc.record({ unit: key, cycle: count, batch: count });
const batch = fc.record({
  label: text,
  content: text,
  contentSha256: sha256,
  depth: count,
  startMs: orNull(ms),
  endMs: orNull(ms),
  messageCount: count,
  firstIndex: orNull(ms),
  lastIndex: orNull(ms),
  level: fc.constantFrom(...LEVELS),
  sources: few(batchName),
});
const cycle = fc.record({
  conversationId: text,
  cycle: count,
  parent: orNull(fc.record({ unit: key, cycle: count })),
  clipSha256: sha256,
  messagesCompressed: count,
  title: orNull(text),
  batches: few(batch),
  live: few(batchName),
});
const compaction = fc.record({
  key,
  format: text,
  sourcePath: text,
  outputPath: orNull(text),
  source: fc.record({ sha256, sizeBytes: count, lineCount: count, hasBom: fc.boolean() }),
  output: fc.record({ sha256, sizeBytes: count }),
  settingsSha256: sha256,
  settings: text,
  createdAtMs: ms,
  processId: count,
  receipt: orNull(text),
  isErased: fc.boolean(),
  cycles: few(cycle),
  inserted: few(fc.record({ beforeLine: count, bytes, erasedSha256: orNull(sha256) })),
  kept: few(
    fc.record({
      firstLine: count,
      lineCount: count,
      sizeBytes: count,
      lineSha256: few(sha256.map((one) => one.slice(0, 32))),
    }),
  ),
  carried: few(fc.record({ unit: key, cycle: count, batch: count, line: count })),
  files: few(
    fc.record({
      run: orNull(
        fc.record({
          token: text,
          begunAtMs: ms,
          by: fc.record({ user: text, host: text, version: text }),
          command: orNull(text),
          undoneAtMs: orNull(ms),
        }),
      ),
      sourcePath: text,
      outputPath: orNull(text),
      undoneAtMs: orNull(ms),
    }),
  ),
});
const content = bytes.map((found) => ({
  bytes: found,
  sha256: hash('sha256', found).slice(0, 32),
  sizeBytes: found.length,
}));
const message = fc.record({
  role: fc.constantFrom(...ROLES),
  atMs: orNull(ms),
  index: orNull(ms),
  id: orNull(text),
  name: orNull(text),
  traits: fc.nat({ max: 3 }),
});
const line = fc
  .record({
    unit: key,
    line: count,
    outcome: fc.constantFrom(...OUTCOMES),
    batch: orNull(batchPlace),
    cycle: orNull(count),
    message: orNull(message),
    found: content,
    receipt: orNull(text),
  })
  .map(({ found, ...rest }) => ({ ...found, ...rest, ...(rest.receipt === null ? {} : { bytes: new Uint8Array() }) }));
const piece = fc
  .record({ path: text, version: count, found: content, receipt: orNull(text) })
  .map(({ found, ...rest }) => ({ ...found, ...rest, bytes: rest.receipt === null ? found.bytes : null }));
const capture = fc.record({
  path: text,
  format: text,
  sessions: few(text),
  stamp: orNull(text),
  readAt: date,
  states: few(
    fc.record({
      version: count,
      change: fc.constantFrom(...CHANGES),
      sizeBytes: count,
      sha256,
      capturedAt: date,
      marks: orNull(fc.record({ mtimeNs: text, mode: count })),
    }),
  ),
});
const usage = fc.record({ input_tokens: count, cached_input_tokens: count, output_tokens: count });
const summary = fc.record({ request: sha256, provider: text, model: text, text, usage, createdAt: date });
const vector = fc.oneof(
  fc.record({ kind: fc.constant('message' as const), unit: key, line: count, vector: orNull(bytes) }),
  fc.record({ kind: fc.constant('batch' as const), unit: key, cycle: count, batch: count, vector: orNull(bytes) }),
);

const receipt = text.map((value) => `r${value}`);
const records = fc.record({
  receipt: few(fc.record({ receipt, atMs: ms, report: text })),
  erasedState: few(fc.record({ receipt, sha256, originSha256: sha256 })),
  hold: few(
    fc.record({
      kind: fc.constantFrom('conversation' as const, 'source' as const),
      value: text,
      reason: orNull(text),
      addedAt: date,
    }),
  ),
  choice: few(
    fc.record({ kind: fc.constantFrom('drop-rule', 'pin'), conversationId: text, path: text, text, chosenAt: date }),
  ),
  log: few(
    fc.record({
      token: receipt,
      doneAt: date,
      by: fc.record({ user: text, host: text, version: text }),
      action: fc.constantFrom(...DEEDS),
      details: text,
    }),
  ),
  compaction: few(compaction),
  line: few(line),
  capture: few(capture),
  piece: few(piece),
  summary: few(summary),
  model: few(fc.record({ provider: text, model: text, dimensions: fc.integer({ min: 1 }) })),
  vector: few(vector),
});

for (const encoding of ['jsonl', 'parquet'] as const)
  test(`what is written in ${encoding} is read again, record by record`, async (t) => {
    const folder = folderWith(t, {});
    const folders = createExportFolders(null);
    const state = { run: 0 };
    const property = fc.asyncProperty(records, async (found) => {
      const path = join(folder, String((state.run += 1)));
      const writer = await folders.create(path, encoding);
      for (const [kind, all] of Object.entries(found))
        for (const record of all) writer.write(kind as ExportKind, record);
      writer.commit();
      for (const [kind, all] of Object.entries(found))
        assert.deepEqual(plain(await collect(folders.read(path, kind as ExportKind))), plain(all));
    });
    await fc.assert(property, { numRuns: runsOf(15) });
  });

test('an earlier version exported whole hashes of kept lines, which are read as their first halves', async (t) => {
  const folders = createExportFolders(null);
  const path = join(folderWith(t, {}), 'export');
  const writer = await folders.create(path, 'jsonl');
  const [whole, half] = [hash('sha256', 'one'), hash('sha256', 'two').slice(0, 32)];
  const run = { firstLine: 1, lineCount: 2, sizeBytes: 8 };
  for (const one of fc.sample(compaction, 1))
    writer.write('compaction', { ...one, kept: [{ ...run, lineSha256: [whole, half] }] });
  writer.commit();
  const found = await collect(folders.read(path, 'compaction'));
  assert.deepEqual(
    found.map(({ kept }) => kept),
    [[{ ...run, lineSha256: [whole.slice(0, 32), half] }]],
  );
});

test('a role that is none is damage, and no message of the user', async (t) => {
  const archive = tempArchive(t);
  await applied(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft({ role: 'assistant' }) })]);
  const change = async (role: number): Promise<readonly unknown[]> => {
    const db = new Database(archive.path);
    db.pragma('ignore_check_constraints = ON'); // as a bent byte does
    db.prepare('UPDATE lines SET role = ?').run(role);
    db.close();
    const opened = openFileSource(archive.path);
    assert.ok(opened.ok);
    t.after(opened.value.close);
    const pages = await collect(opened.value.reader.lines(1));
    return pages.flatMap(({ lines }) => lines.map(({ message: said }) => said?.role));
  };
  assert.deepEqual(await change(ROLES.indexOf('assistant')), ['assistant']);
  await assert.rejects(change(ROLES.length), {
    failure: { kind: 'damaged', path: archive.path, reason: "a row's role is not what was stored" },
  });
});

test('an export is no archive to merge, and a file is no export: both say what to try', async (t) => {
  const folders = createExportFolders(null);
  const path = join(folderWith(t, { 'notes.txt': 'x' }), 'export');
  (await folders.create(path, 'jsonl')).commit();
  const advice = `Run 'compact archive import ${path}'.`;
  assert.deepEqual(openFileSource(path), {
    ok: false,
    error: { kind: 'cannot-open', path, reason: 'it is an export', advice },
  });
  const file = join(path, '../notes.txt');
  await assert.rejects(collect(folders.read(file, 'line')), {
    failure: {
      kind: 'bad-export',
      path: file,
      line: null,
      reason: 'it is not a folder',
      advice: 'Name the folder of an export.',
    },
  });
});

test('an export whose files do not fit the encoding in its manifest is refused', async (t) => {
  const folders = createExportFolders(null);
  for (const [encoding, other] of [
    ['jsonl', 'parquet'],
    ['parquet', 'jsonl'],
  ] as const) {
    const path = join(folderWith(t, {}), 'export');
    (await folders.create(path, encoding)).commit();
    const manifest = join(path, 'manifest.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"${encoding}"`, `"${other}"`));
    await assert.rejects(collect(folders.read(path, 'line')), {
      failure: {
        kind: 'bad-export',
        path: join(path, `lines.${other}`),
        line: null,
        reason: 'the file is missing in the manifest',
        advice: 'Copy the whole export again, or make a new one.',
      },
    });
  }
});

/** Bytes of any kind are the same if they are the same bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
