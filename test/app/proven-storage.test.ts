import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { DEFAULT_COMPACTION_CONFIG } from '../../src/core/policy.ts';
import { type Compactor, createCompactor } from '../../src/index.ts';
import type { Archive, StoredLine } from '../../src/ports/archive.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { chatTranscript, prose } from '../support/chat.ts';
import { change } from '../support/full-archive.ts';
import { messages } from '../support/messages.ts';
import { createWorkbench, reportOf, type Workbench } from '../support/workbench.ts';

const BLANK_BLOCKS = 'UPDATE packs SET data = zeroblob(length(data))';
/** Nothing about the rows contradicts itself: only the source tells that they are wrong. */
const SWAP_LINES = `
UPDATE lines SET offset = 0, size_bytes = (SELECT size_bytes FROM lines ORDER BY id LIMIT 1),
  sha256 = (SELECT sha256 FROM lines ORDER BY id LIMIT 1) WHERE id = (SELECT max(id) FROM lines)`;

/** A bench on a transcript whose archive exists; at a step of the next compaction, somebody changes the archive. */
function benchWhere(t: TestContext, step: Step, sql: string): Workbench {
  const state = { isDone: false };
  const bench = createWorkbench({
    reached: (reached) => {
      if (reached !== step || state.isDone) return;
      state.isDone = true;
      change(bench.archivePath, sql);
    },
  });
  t.after(bench.remove);
  bench.archive();
  bench.write('talk.jsonl', chatTranscript(40));
  return bench;
}

/** The failure's kind and reason, and whether the source is as it was and nothing of the run is left in the archive. */
async function attempt(bench: Workbench): Promise<readonly unknown[]> {
  const before = bench.read('talk.jsonl');
  const done = await bench.compact('talk.jsonl');
  assert.ok(!done.ok);
  assert.ok(done.error.kind === 'archive');
  const { failure } = done.error;
  return [failure.kind, 'reason' in failure ? failure.reason : '', bench.read('talk.jsonl').equals(before)];
}

for (const { what, sql, reason } of [
  {
    what: 'blanked',
    sql: BLANK_BLOCKS,
    reason: /^its block of summaries cannot be decompressed$/,
  },
  { what: 'exchanged', sql: SWAP_LINES, reason: /another sha256 than the original|is not behind the one before it$/ },
  {
    what: 'removed',
    sql: 'DELETE FROM lines WHERE id = (SELECT max(id) FROM lines)',
    reason: /of \d+ archived lines are there$|neither kept nor archived/,
  },
  { what: 'kept in another row', sql: 'UPDATE kept_runs SET first_line = first_line + 1', reason: /./ },
  { what: 'deleted', sql: 'DELETE FROM compactions', reason: /\(it is gone\)/ },
] as const) {
  test(`where what was just stored is ${what}, the transcript stays as it is and the run fails`, async (t) => {
    const bench = benchWhere(t, 'prepared', sql);
    const [kind, why, isSame] = await attempt(bench);
    assert.deepEqual([kind, isSame], ['damaged', true]);
    assert.match(String(why), reason);
    assert.deepEqual(await bench.archive().listPrepared(), []);
    // The next run finds nothing in its way.
    reportOf(await bench.compact('talk.jsonl'));
    assert.equal((await bench.verify('talk.jsonl')).result, 'verified');
  });
}

for (const trigger of [
  'CREATE TRIGGER planted AFTER INSERT ON packs BEGIN UPDATE packs SET data = zeroblob(9) WHERE id = NEW.id; END',
  'CREATE TRIGGER planted AFTER INSERT ON lines BEGIN DELETE FROM lines WHERE id = NEW.id; END',
  "CREATE TRIGGER planted AFTER UPDATE OF status ON compactions BEGIN UPDATE packs SET data = x'00'; END",
]) {
  test(`a trigger that is planted after the archive was opened never runs: ${trigger}`, async (t) => {
    const bench = benchWhere(t, 'planned', trigger);
    assert.deepEqual(await attempt(bench), ['not-ours', 'compact did not make its trigger "planted"', true]);
  });
}

test('a trigger that is planted while the transcript is written costs no line', async (t) => {
  const trigger = 'CREATE TRIGGER planted AFTER UPDATE ON compactions BEGIN DELETE FROM lines; END';
  const bench = benchWhere(t, 'written', trigger);
  const original = bench.read('talk.jsonl');
  const done = await bench.compact('talk.jsonl');
  assert.ok(!done.ok);
  change(bench.archivePath, 'DROP TRIGGER planted');
  const restored = bench.read('talk.jsonl').equals(original) ? original : await bench.restore('talk.jsonl');
  assert.deepEqual(restored, original);
});

/** A disk that gives back other bytes than it was given, with a checksum that fits them. */
function onBadDisk(archive: Archive): Archive {
  const spoil = (line: StoredLine): StoredLine => {
    const bytes = Uint8Array.from(line.bytes, (byte, at) => (at === 5 ? byte ^ 1 : byte));
    return { ...line, bytes };
  };
  return {
    ...archive,
    readLines: async function* (id) {
      for await (const lines of archive.readLines(id))
        yield lines.map((line) => (line.line === 7 ? spoil(line) : line));
    },
  };
}

for (const output of ['in-place', 'file', 'stdout'] as const) {
  test(`a disk that gives back one wrong bit fails the run (${output})`, async (t) => {
    const bench: Workbench = createWorkbench({
      openArchive: async () => ({ ok: true, value: onBadDisk(bench.archive()) }),
    });
    t.after(bench.remove);
    bench.write('talk.jsonl', chatTranscript(40));
    const before = bench.read('talk.jsonl');
    const target = output === 'file' ? { kind: output, path: bench.path('out.jsonl') } : { kind: output };
    const done = await bench.compact('talk.jsonl', { output: target });
    assert.ok(!done.ok);
    assert.ok(done.error.kind === 'archive' && done.error.failure.kind === 'damaged');
    assert.match(done.error.failure.reason, /does not come back from it \(what comes out has another sha256/);
    assert.deepEqual([bench.read('talk.jsonl'), bench.stdout().length], [before, 0]);
    assert.throws(() => bench.read('out.jsonl'), { code: 'ENOENT' });
    assert.deepEqual(await bench.archive().listPrepared(), []);
  });
}

test('what was stored for the same input before is not used where it does not give the source back', async (t) => {
  const bench = createWorkbench();
  t.after(bench.remove);
  const original = chatTranscript(40);
  bench.write('talk.jsonl', original);
  reportOf(await bench.compact('talk.jsonl'));
  bench.archive();
  change(bench.archivePath, SWAP_LINES);
  bench.write('talk.jsonl', original);
  const report = reportOf(await bench.compact('talk.jsonl'));
  assert.equal(
    report.notes.some((note) => note.includes('stored summaries were used')),
    false,
  );
  assert.deepEqual(await bench.restore('talk.jsonl'), Buffer.from(original));
});

test('a library keeps its history where the archive does not give back what it was given', async (t) => {
  const bench = createWorkbench();
  t.after(bench.remove);
  const history = messages(...Array.from({ length: 25 }, (_, at) => ({ content: prose(at, 80) })));
  const compactor = (archive: Archive): Compactor =>
    createCompactor({
      model: bench.deps.model,
      archive,
      config: { ...DEFAULT_COMPACTION_CONFIG, chunkSize: 10, keepRecent: 5 },
      modelName: 'm',
    });
  const failed = await compactor(onBadDisk(bench.archive())).compress(history, 'c1');
  assert.deepEqual([failed.failed, failed.history], [true, history]);
  assert.deepEqual(await bench.archive().listPrepared(), []);
  const first = await compactor(bench.archive()).compress(history, 'c1');
  const again = await compactor(onBadDisk(bench.archive())).compress(history, 'c1');
  assert.deepEqual([first.failed, again.failed, again.history], [undefined, true, history]);
});
