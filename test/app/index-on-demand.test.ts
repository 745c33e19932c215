import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { openSqliteArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { exportArchive } from '../../src/app/archive/export-archive.ts';
import { importArchive } from '../../src/app/archive/import-archive.ts';
import { updateIndex } from '../../src/app/search/update-index.ts';
import type { Archive } from '../../src/ports/archive.ts';
import { problemsOf } from '../contract/archive/engine.ts';
import { capture, damage } from '../support/captures.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { INDEX_DEPS, indexAll } from '../support/indexing.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { fileTarget, merge, type MergeTarget, withDeps } from '../support/merging.ts';
import { erase, hold, prune } from '../support/retention.ts';
import { findMessages, search } from '../support/searching.ts';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

/** A talk that says a word of its own first. */
function talkOf(word: string, from = 0): string {
  return `${chatLine({ role: 'user', id: `${word}-1`, content: `the ${word} is green` })}\n${chatTranscript(12, from)}`;
}

/** Erasures leave paths. */
const nameOf = (word: string): string => `talk-${word.charCodeAt(0)}.jsonl`;

/** Compacts a talk, or captures it. */
async function keep(bench: Workbench, word: string, isCaptured = false): Promise<void> {
  const name = nameOf(word);
  bench.write(name, talkOf(word, word.length * 100));
  if (isCaptured) await capture(bench, name);
  else reportOf(await bench.compact(name));
}

async function shows(bench: Pick<Workbench, 'deps'>, word: string): Promise<number> {
  return (await findMessages(bench, word)).length;
}

test('a compaction stores and does not index; a search does, and finds', async (t) => {
  const bench = benchFor(t);
  await keep(bench, 'zebra');
  const { index } = bench.archive();
  assert.ok((await index.measure()).messages > 0);
  assert.deepEqual(await problemsOf(bench.archive()), []);
  assert.equal(await shows(bench, 'zebra'), 1);
  assert.deepEqual(await index.measure(), { messages: 0, bytes: 0 });
  const figures = await bench.archive().measure();
  assert.ok(figures.index.bytes > 0);
  assert.deepEqual(figures.index.unindexed, { messages: 0, bytes: 0 });
});

test('the newest is indexed first, and what a search leaves is told', async (t) => {
  const bench = benchFor(t);
  for (const word of ['zebra', 'okapi', 'gnu']) await keep(bench, word);
  const { hasMore } = await updateIndex(INDEX_DEPS, oneByOne(bench.archive()), 1);
  assert.equal(hasMore, true);
  const never = { deps: { ...bench.deps, indexing: 'never' as const } };
  const left = (await bench.archive().index.measure()).messages;
  const own = bench.archive();
  assert.deepEqual(await findIn(own, 'gnu'), 1);
  assert.deepEqual(await findIn(own, 'zebra'), 0);
  // The rest is few enough to be read.
  assert.deepEqual([await shows(never, 'zebra'), await shows(never, 'okapi')], [1, 1]);
  assert.equal((await search(never, 'zebra')).unindexed, null);
  assert.equal((await own.index.measure()).messages, left);
});

/** Hits in the index alone. */
async function findIn({ messages }: Archive, word: string): Promise<number> {
  const filter = { conversationId: null, role: null, since: null, until: null, source: null };
  return ((await messages.listHits([{ forms: [word], isBeginning: false }], filter))[0] ?? []).length;
}

/** An archive that gives one run of lines at a time. */
function oneByOne(archive: Archive): Archive {
  return { ...archive, index: { ...archive.index, read: (from) => archive.index.read(from, 1) } };
}

test('an archive that may not be written answers from its index and from a few of the rest, and says what it left out', async (t) => {
  const bench = benchFor(t);
  await keep(bench, 'zebra');
  await indexAll(bench.archive());
  await keep(bench, 'okapi');
  await keep(bench, 'gnu', true);
  const archive: Archive = { ...bench.archive(), isReadOnly: true };
  const reading = { deps: { ...bench.deps, openArchive: async () => ({ ok: true, value: archive }) as const } };
  const left = await archive.index.measure();
  assert.deepEqual([await shows(reading, 'zebra'), await shows(reading, 'okapi')], [1, 1]);
  assert.equal((await search(reading, 'okapi', { order: 'newest', kinds: 'messages' })).hits.length, 1);
  const { unindexed } = await search(reading, 'gnu');
  assert.equal(unindexed?.why, 'read-only');
  assert.ok(unindexed.messages > 0 && unindexed.messages < left.messages);
  assert.deepEqual(await archive.index.measure(), left);
});

for (const [what, sql] of [
  ['a pack', 'UPDATE packs SET data = zeroblob(length(data))'],
  ['a place in a pack', 'UPDATE blocks SET pack_offset = 9999999 WHERE position >= 0'],
] as const)
  test(`a search says what damage to ${what} keeps out of the index`, async (t) => {
    const bench = benchFor(t);
    await keep(bench, 'zebra');
    damage(bench, sql);
    // As another process: this one still knows the pack.
    const opened = openSqliteArchive({ path: bench.archivePath });
    assert.ok(opened.ok && opened.value !== null);
    const archive = opened.value;
    t.after(() => archive.close());
    const left = await archive.index.measure();
    assert.ok(left.messages > 0);
    const other = { deps: { ...bench.deps, openArchive: async () => ({ ok: true, value: archive }) as const } };
    assert.deepEqual((await search(other, 'okapi', { kinds: 'messages' })).unindexed, { ...left, why: 'unreadable' });
  });

test('an interrupted update goes on where it stopped, and a slice is taken as a whole or not at all', async (t) => {
  const bench = benchFor(t);
  for (const word of ['zebra', 'okapi', 'gnu']) await keep(bench, word);
  await keep(bench, 'lemur', true);
  const archive = oneByOne(bench.archive());
  const all = await archive.index.measure();
  const stopping = new AbortController();
  const progress = { update: () => stopping.abort(), finish: () => undefined };
  const first = await updateIndex(
    { ...INDEX_DEPS, signal: stopping.signal, progress },
    archive,
    Number.POSITIVE_INFINITY,
  );
  assert.ok(first.bytes > 0 && first.bytes < all.bytes);
  const slice = await archive.index.read({ kind: 'archived', before: null }, 1);
  assert.ok(slice !== null);
  const broken = slice.lines.map(({ lineId }, at) => ({
    lineId,
    get text(): string {
      if (at > 2) throw new Error('cut off');
      return 'half';
    },
    captured: null,
  }));
  await assert.rejects(archive.index.add(slice, broken), /cut off/);
  assert.deepEqual([await findIn(archive, 'half'), (await archive.index.measure()).bytes], [0, first.bytes]);
  // Two do the same work at the same time.
  await Promise.all([indexAll(archive), indexAll(bench.archive())]);
  for (const word of ['zebra', 'okapi', 'gnu', 'lemur']) assert.equal(await shows(bench, word), 1);
  assert.deepEqual(await problemsOf(bench.archive()), []);
});

test('a process that is killed while it indexes leaves the slice for the next one', async (t) => {
  const bench = benchFor(t);
  await keep(bench, 'zebra');
  const before = await bench.archive().index.measure();
  const child = spawn(process.execPath, [join(import.meta.dirname, '../support/dying-indexer.ts'), bench.archivePath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  assert.equal(String(await Promise.race([once(child.stdout, 'data'), exited])), 'in the middle\n');
  child.kill('SIGKILL');
  await exited;
  assert.deepEqual([await bench.archive().index.measure(), await findIn(bench.archive(), 'zebra')], [before, 0]);
  assert.equal(await shows(bench, 'zebra'), 1);
  assert.deepEqual(await problemsOf(bench.archive()), []);
});

const SECRET = 'quagga';
const WORDS = ['zebra', SECRET, 'okapi'];
type Act = (bench: Workbench, t: TestContext) => Promise<readonly string[]>;

async function moved(target: MergeTarget): Promise<void> {
  const archive = await target.open();
  try {
    await indexAll(archive);
    assert.deepEqual(await problemsOf(archive), []);
    for (const word of WORDS) assert.equal(await findIn(archive, word), 1, word);
  } finally {
    await archive.close();
  }
}

/** What each does, and the words that are gone then. */
const ACTS: Readonly<Record<string, Act>> = {
  'erase a word': async (bench) => {
    await erase(bench, { kind: 'match', text: SECRET });
    return [SECRET];
  },
  'erase a transcript': async (bench) => {
    await erase(bench, { kind: 'source', glob: nameOf(SECRET) });
    return [SECRET];
  },
  'prune everything that is not held': async (bench) => {
    await hold(bench, { kind: 'source', value: nameOf('zebra') });
    assert.notEqual((await erase(bench, { kind: 'source', glob: nameOf('zebra') })).result, 'erased');
    await prune(bench, { before: new Date(Date.now() + 1e9) });
    return [SECRET, 'okapi'];
  },
  merge: async (bench) => {
    const target = fileTarget(bench.path('merged.db'));
    await merge(target, [bench.archivePath]);
    await moved(target);
    return [];
  },
  'export and import': async (bench) => {
    const folder = bench.path('exported');
    const filter = { conversation: null, source: null, since: null, until: null };
    const from = fileTarget(bench.archivePath);
    const exported = await withDeps(from, undefined, (deps) =>
      exportArchive(deps, { folder, encoding: 'jsonl', filter }),
    );
    assert.ok(exported.ok, JSON.stringify(exported));
    const target = fileTarget(bench.path('imported.db'));
    const imported = await withDeps(target, undefined, (deps) => importArchive(deps, { folder, maxLineBytes: null }));
    assert.ok(imported.ok, JSON.stringify(imported));
    await moved(target);
    return [];
  },
  verify: async (bench) => {
    for (const word of WORDS.slice(0, 2)) assert.equal((await bench.verify(nameOf(word))).result, 'verified');
    return [];
  },
};

test('whatever share of it is indexed, an archive is erased, pruned, merged, exported, checked and searched alike', async (t) => {
  const scene = fc.record({ runs: fc.nat(4), act: fc.constantFrom(...Object.keys(ACTS)) });
  await fc.assert(
    fc.asyncProperty(scene, async ({ runs, act }) => {
      const bench = benchFor(t);
      for (const word of WORDS) await keep(bench, word, word === 'okapi');
      const archive = oneByOne(bench.archive());
      for (let done = 0; done < runs; done += 1) await updateIndex(INDEX_DEPS, archive, 1);
      const gone = (await ACTS[act]?.(bench, t)) ?? [];
      assert.deepEqual(await problemsOf(archive), []);
      for (const word of gone) assert.deepEqual(findLeftovers(bench.archivePath, word), [], `${act}, ${runs}`);
      for (const word of WORDS)
        assert.equal(await shows(bench, word), gone.includes(word) ? 0 : 1, `${word} ${act} ${runs}`);
      assert.deepEqual(await problemsOf(archive), []);
    }),
    { numRuns: runsOf(20) },
  );
});
