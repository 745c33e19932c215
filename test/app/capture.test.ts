import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { captureFile } from '../../src/app/archive/capture-file.ts';
import { recordGone, listCaptured } from '../../src/app/archive/captured.ts';
import type { FileStore, SourceFile } from '../../src/ports/files.ts';
import { chatTranscript } from '../support/chat.ts';
import { capture, restored, tryCapture, tryRestore } from '../support/captures.ts';
import { benchFor, benchWith, type Workbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');

/** Runs ten seconds after every write, so that stamps can be relied on. */
function settledBench(t: TestContext, overrides: Parameters<typeof benchFor>[1] = {}): Workbench {
  const now = (): Date => new Date(Date.now() + 10_000);
  return benchFor(t, { runtime: { ...createNodeRuntime(), now }, ...overrides });
}

/** A store that does something to a file when its content is first read. */
function meddlingStore(meddle: (source: SourceFile) => void, times = 1): FileStore {
  const files = createFileStore();
  let left = times;
  return {
    ...files,
    open: async (path, options) => {
      const opened = await files.open(path, options);
      if (!opened.ok) return opened;
      const source = opened.value;
      const lines: SourceFile['lines'] = function* (from) {
        let count = 0;
        for (const line of source.lines(from)) {
          yield line;
          count += 1;
          if (count !== 60 || left === 0) continue; // the format has been detected
          left -= 1;
          meddle(source);
        }
      };
      return { ok: true, value: { ...source, lines } };
    },
  };
}

const TALK = chatTranscript(40);

test('a captured transcript of any format comes back byte for byte', async (t) => {
  const printed: Buffer[] = [];
  const bench = benchFor(t, { stdout: (bytes) => printed.push(Buffer.from(bytes)) });
  // Some of each format: what they hold makes no difference here.
  const names = readdirSync(FIXTURES)
    .flatMap((format) =>
      readdirSync(join(FIXTURES, format))
        .map((name) => join(format, name))
        .slice(0, 3),
    )
    .filter((name) => /\.jsonl?$/.test(name));
  let count = 0;
  for (const name of names) {
    const content = readFileSync(join(FIXTURES, name), 'latin1');
    const captured = await captureFile(bench.deps, {
      input: { path: join(FIXTURES, name), name, format: null },
      isDryRun: false,
      rereads: false,
    });
    if (!captured.ok) continue; // the damaged ones
    count += 1;
    const done = await tryRestore(bench, '', { file: join(FIXTURES, name), output: { kind: 'stdout' } });
    assert.ok(done.ok);
    assert.equal(Buffer.concat(printed.splice(0)).toString('latin1'), content, name);
  }
  assert.ok(count > 0.8 * names.length, `${count} of ${names.length}`);
});

test('a compressed transcript comes back as it was compressed', async (t) => {
  const bench = benchFor(t);
  const packed = { 'x.jsonl.gz': gzipSync(TALK, { level: 1 }), 'x.jsonl.zst': zstdCompressSync(TALK) };
  for (const [name, bytes] of Object.entries(packed)) {
    bench.write(name, bytes);
    await capture(bench, name);
    assert.equal(await restored(bench, name), bytes.toString('latin1'));
  }
  const grown = Buffer.concat([packed['x.jsonl.gz'], gzipSync(chatTranscript(2))]);
  bench.write('x.jsonl.gz', grown);
  assert.equal((await capture(bench, 'x.jsonl.gz')).change, 'grown');
  assert.equal(await restored(bench, 'x.jsonl.gz'), grown.toString('latin1'));
});

test('a file that grows has one version; rewritten, shortened, gone and returned it has others', async (t) => {
  const bench = benchFor(t);
  const states = [
    TALK,
    `${TALK}{"role":"user","content":"half`,
    `${TALK}{"role":"user","content":"half a line"}\n`,
    chatTranscript(60, 500),
    chatTranscript(3),
    '',
  ];
  const told: unknown[] = [];
  for (const state of states) {
    bench.write('x.jsonl', state);
    const { result, change, version } = await capture(bench, 'x.jsonl');
    told.push([result, change, version]);
  }
  rmSync(bench.path('x.jsonl'));
  const missing = await recordGone(bench.deps, { folders: [bench.folder], isDryRun: false });
  assert.deepEqual(missing.ok && missing.value.map(({ file, result }) => [file, result]), [
    [bench.path('x.jsonl'), 'gone'],
  ]);
  bench.write('x.jsonl', TALK);
  const { change, version, bytes } = await capture(bench, 'x.jsonl');
  assert.deepEqual(
    [...told, [change, version, bytes.new]],
    [
      ['captured', 'new', 1],
      ['captured', 'grown', 1],
      ['captured', 'grown', 1],
      ['captured', 'rewritten', 2],
      ['captured', 'shortened', 3],
      ['captured', 'shortened', 4],
      ['returned', 6, 0],
    ],
  );
  const expected = [states[2], states[3], states[4], '', null, TALK];
  for (const [at, content] of expected.entries()) {
    if (typeof content === 'string') assert.equal(await restored(bench, 'x.jsonl', { version: at + 1 }), content);
  }
  const gone = await tryRestore(bench, 'x.jsonl', { version: 5, output: { kind: 'stdout' } });
  assert.deepEqual(gone, { ok: false, error: { kind: 'no-version', file: bench.path('x.jsonl') } });
  const listed = await listCaptured(bench.deps, { file: 'x.jsonl' });
  assert.ok(listed.ok);
  assert.deepEqual(
    listed.value[0]?.versions.map(({ states: count, change: why }) => [count, why]),
    [
      [3, 'new'],
      [1, 'rewritten'],
      [1, 'shortened'],
      [1, 'shortened'],
      [1, 'gone'],
      [1, 'returned'],
    ],
  );
});

test('the state at a time is the last one that was captured by then', async (t) => {
  const times = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => new Date(`${day}T00:00:00Z`));
  const clock = { at: 0 };
  const bench = benchFor(t, { runtime: { ...createNodeRuntime(), now: () => times[clock.at] ?? new Date() } });
  const contents = [chatTranscript(4), chatTranscript(8), chatTranscript(8, 90)];
  for (const [at, content] of contents.entries()) {
    clock.at = at;
    bench.write('x.jsonl', content);
    await capture(bench, 'x.jsonl');
  }
  for (const [at, content] of contents.entries())
    assert.equal(await restored(bench, 'x.jsonl', { at: times[at] ?? null }), content);
  const early = await tryRestore(bench, 'x.jsonl', { at: new Date('2025-12-31T00:00:00Z') });
  assert.equal(!early.ok && early.error.kind, 'no-version');
});

test('an unchanged file is not read again, until a week later', async (t) => {
  const opened: string[] = [];
  const files = createFileStore();
  const clock = { aheadMs: 10_000 };
  const bench = benchFor(t, {
    files: { ...files, open: (path) => (opened.push(path), files.open(path)) },
    runtime: { ...createNodeRuntime(), now: () => new Date(Date.now() + clock.aheadMs) },
  });
  bench.write('x.jsonl', TALK);
  const results: unknown[] = [];
  for (const aheadMs of [10_000, 10_000, 8 * 24 * 3_600_000]) {
    clock.aheadMs = aheadMs;
    results.push([(await capture(bench, 'x.jsonl')).result, opened.splice(0).length]);
  }
  results.push([(await capture(bench, 'x.jsonl', { rereads: true })).result, opened.splice(0).length]);
  assert.deepEqual(results, [
    ['captured', 1],
    ['unchanged', 0],
    ['unchanged', 1],
    ['unchanged', 1],
  ]);
});

test('a file that is rewritten within one step of its clock, with the same size, is captured again', async (t) => {
  const real = createFileStore();
  const stamp = { mtimeNs: 1_000_000_000_000n, changedNs: 1_000_000_000_000n };
  const clock = { ms: 1_000_500 };
  const bench = benchFor(t, {
    files: {
      ...real,
      open: async (path) => {
        const opened = await real.open(path);
        return opened.ok
          ? { ok: true, value: { ...opened.value, stamp: { ...opened.value.stamp, ...stamp } } }
          : opened;
      },
      stamp: async (path) => {
        const stamped = await real.stamp(path);
        return stamped.ok ? { ok: true, value: { ...stamped.value, ...stamp } } : stamped;
      },
    },
    runtime: { ...createNodeRuntime(), now: () => new Date(clock.ms) },
  });
  bench.write('x.jsonl', TALK);
  await capture(bench, 'x.jsonl');
  bench.write('x.jsonl', TALK.replaceAll('parser', 'parsed'));
  clock.ms += 3_600_000;
  assert.equal((await capture(bench, 'x.jsonl')).change, 'rewritten');
  assert.equal((await capture(bench, 'x.jsonl')).result, 'unchanged');
});

const LONG = chatTranscript(400);
const MORE = chatTranscript(10, 9000);
const OTHER = chatTranscript(300, 5000);
const MEDDLING: readonly (readonly [what: string, meddle: (path: string) => void, expected: string])[] = [
  ['grows', (path) => appendFileSync(path, MORE), LONG],
  ['shrinks', (path) => truncateSync(path, TALK.length), TALK],
  ['is rewritten', (path) => writeFileSync(path, OTHER), OTHER],
  [
    'is rewritten with the same size',
    (path) => writeFileSync(path, LONG.replaceAll('parser', 'parsed')),
    LONG.replaceAll('parser', 'parsed'),
  ],
  ['is emptied and grows again', (path) => (truncateSync(path), appendFileSync(path, LONG + MORE)), LONG],
  ['is deleted', (path) => rmSync(path), LONG],
];

for (const [what, meddle, expected] of MEDDLING) {
  test(`a file that ${what} while it is read is captured as it was at one moment`, async (t) => {
    const bench = settledBench(t, { files: meddlingStore(({ path }) => meddle(path)) });
    bench.write('x.jsonl', LONG);
    assert.equal((await capture(bench, 'x.jsonl')).result, 'captured');
    assert.equal(await restored(bench, 'x.jsonl', { version: 1 }), expected);
    if (!existsSync(bench.path('x.jsonl'))) return;
    await capture(bench, 'x.jsonl');
    assert.equal(await restored(bench, 'x.jsonl'), bench.read('x.jsonl').toString());
  });
}

test('a file that is replaced while it is read keeps its old content too', async (t) => {
  const replace = ({ path }: SourceFile): void => {
    writeFileSync(`${path}.new`, OTHER);
    renameSync(`${path}.new`, path);
  };
  const bench = settledBench(t, { files: meddlingStore(replace) });
  bench.write('x.jsonl', LONG);
  await capture(bench, 'x.jsonl');
  assert.equal((await capture(bench, 'x.jsonl')).version, 2);
  assert.deepEqual([await restored(bench, 'x.jsonl', { version: 1 }), await restored(bench, 'x.jsonl')], [LONG, OTHER]);
});

test('a file that never stands still is a failure that says so, and nothing of it is stored', async (t) => {
  let seed = 0;
  const rewrite = ({ path }: SourceFile): void => writeFileSync(path, chatTranscript(400, (seed += 1) * 1000));
  const bench = settledBench(t, { files: meddlingStore(rewrite, Number.POSITIVE_INFINITY) });
  bench.write('x.jsonl', LONG);
  assert.deepEqual(await tryCapture(bench, 'x.jsonl'), {
    ok: false,
    error: { kind: 'source-changed', file: 'x.jsonl' },
  });
  assert.deepEqual(await bench.archive().captures.list(), []);
});

test('a fork with nine tenths in common costs at most 12 % of its size', async (t) => {
  const bench = benchWith(t, 'a.jsonl', LONG);
  bench.write(
    'b.jsonl',
    LONG.slice(0, LONG.lastIndexOf('\n', LONG.length * 0.9) + 1) + OTHER.slice(0, LONG.length * 0.1),
  );
  await capture(bench, 'a.jsonl');
  const { bytes } = await capture(bench, 'b.jsonl');
  assert.ok((bytes.stored ?? bytes.size) < 0.05 * bytes.size, JSON.stringify(bytes));
});

test('capturing changes nothing about the file or its folder, and a dry run nothing at all', async (t) => {
  const bench = benchWith(t, 'x.jsonl', TALK);
  bench.archive();
  const look = (): unknown => {
    const { mtimeMs, ctimeMs, size, ino } = statSync(bench.path('x.jsonl'));
    return {
      mtimeMs,
      ctimeMs,
      size,
      ino,
      names: readdirSync(bench.folder).filter((name) => !name.startsWith('archive')),
    };
  };
  const before = look();
  const planned = await capture(bench, 'x.jsonl', { isDryRun: true });
  assert.deepEqual([planned.result, planned.change, await bench.archive().captures.list()], ['planned', 'new', []]);
  await capture(bench, 'x.jsonl');
  assert.deepEqual(look(), before);
});

test('what is no transcript is refused, unless it was one when it was captured', async (t) => {
  const bench = benchWith(t, 'x.jsonl', 'only words\n');
  const refused = await tryCapture(bench, 'x.jsonl');
  assert.equal(!refused.ok && refused.error.kind, 'not-a-transcript');
  bench.write('x.jsonl', TALK);
  await capture(bench, 'x.jsonl');
  bench.write('x.jsonl', 'only words\nand more');
  assert.equal((await capture(bench, 'x.jsonl')).change, 'shortened');
  assert.equal(await restored(bench, 'x.jsonl'), 'only words\nand more');
});
