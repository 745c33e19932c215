import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { verifyFile } from '../../src/app/restore/verify-file.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import type { Archive } from '../../src/ports/archive.ts';
import { chatTranscript } from '../support/chat.ts';
import {
  type ArchiveMethod,
  type Fault,
  faultyArchive,
  faultyFiles,
  faultyRuntime,
  type FileMethod,
  type RuntimeMethod,
} from '../support/failing-ports.ts';
import { storeWith } from '../support/files.ts';
import { type BenchDeps, createWorkbench, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const first = chatTranscript(8);
const original = first + chatTranscript(6, 100);
const FILE = 'talk.jsonl';

function compact(bench: Workbench): Promise<Result<CompactReport, Failure>> {
  return bench.compact(FILE, { compaction: { chunkSize: 20 } });
}

function inputOf({ path }: Workbench): { readonly path: string; readonly name: string; readonly format: null } {
  return { path: path(FILE), name: FILE, format: null };
}

/** A file that was compacted, and has grown since. */
async function makeCompacted(): Promise<Workbench> {
  const bench = createWorkbench();
  bench.write(FILE, first);
  reportOf(await compact(bench));
  bench.write(FILE, bench.read(FILE).toString() + original.slice(first.length));
  await bench.archive().close();
  return bench;
}

const compacted = await makeCompacted();
after(compacted.remove);

function copyOf(t: TestContext): Workbench {
  const folder = mkdtempSync(join(tmpdir(), 'compact-bench-'));
  cpSync(compacted.folder, folder, { recursive: true });
  const bench = createWorkbench({}, folder);
  t.after(bench.remove);
  return bench;
}

/** What is done while something fails. */
type Job = (bench: Workbench) => Promise<Result<unknown, Failure>>;

const restoring: Job = (bench) =>
  restoreFile(bench.deps, { input: inputOf(bench), output: { kind: 'in-place' }, all: true });
const verifying: Job = (bench) => verifyFile(bench.deps, { input: inputOf(bench) });

function filesOf({ folder }: Workbench): readonly string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('archive.db'));
}

/** What a run has instead of what the bench has. */
type Failing = (bench: Workbench, fault: Fault) => Partial<BenchDeps>;

/**
 * How often the fault was met. Nothing is thrown but what is a bug; the file is as it was, or whole in the eyes of a run that comes later,
 * which settles the rest.
 */
async function survives(
  t: TestContext,
  job: Job,
  { failing, fault }: { readonly failing: Failing; readonly fault: Omit<Fault, 'onFail'> },
): Promise<number> {
  const setup = copyOf(t);
  const met: boolean[] = [];
  const overrides = failing(setup, { ...fault, onFail: () => met.push(true) });
  const done = await job(rerun(t, setup, overrides)).catch((error: unknown) => {
    assert.match(String(error), /broken runtime/);
    return err({ kind: 'interrupted' } satisfies Failure);
  });
  // Without its fault it was a run like any other.
  if (met.length === 0) {
    assert.ok(done.ok, JSON.stringify(done));
    return 0;
  }
  assert.deepEqual(filesOf(setup), [FILE]);
  await assertWhole(rerun(t, setup));
  return met.length;
}

/** Also after one more compaction: nothing that the failed run left is in its way. */
async function assertWhole(later: Workbench): Promise<void> {
  if (later.read(FILE).toString() !== original) {
    assert.deepEqual((await later.verify(FILE)).problems, []);
    assert.equal((await later.restore(FILE)).toString(), original);
  }
  reportOf(await compact(later));
  assert.equal((await later.restore(FILE)).toString(), original);
  assert.deepEqual([await later.archive().listPrepared(), filesOf(later)], [[], [FILE]]);
}

const GIVING: readonly string[] = ['open', 'stamp', 'lock', 'begin'];

function testFaults<Method extends string>(
  what: string,
  {
    job,
    methods,
    failing,
  }: { readonly job: Job; readonly methods: readonly Method[]; readonly failing: (method: Method) => Failing },
): void {
  for (const method of methods) {
    test(`${what} while '${method}' fails: the file is as it was, or whole`, async (t) => {
      const fail = (fault: Omit<Fault, 'onFail'>): Promise<number> =>
        survives(t, job, { failing: failing(method), fault });
      const times = await fail({ nth: 'each', when: 'before' });
      assert.ok(times > 0, 'it is called');
      // If the run ends with its first failure, it makes no difference whether later calls would fail too.
      if (times > 1) await fail({ nth: 1, when: 'before' });
      await fail({ nth: 2, when: 'before' });
      // What gives something to be closed or given back gives nothing when it fails.
      if (!GIVING.includes(method)) await fail({ nth: 1, when: 'after' });
    });
  }
}

const failingArchive =
  (method: ArchiveMethod): Failing =>
  (bench, fault) => {
    const archive = faultyArchive(bench.archive(), method, fault);
    return { openArchive: async () => ok(archive) };
  };
const failingFiles =
  (method: FileMethod): Failing =>
  ({ deps }, fault) => ({ files: faultyFiles(deps.files, method, fault) });
const failingRuntime =
  (method: RuntimeMethod): Failing =>
  ({ deps }, fault) => ({ runtime: faultyRuntime(deps.runtime, method, fault) });

const WRITING = [
  'lock',
  'begin',
  'write',
  'drain',
  'sync',
  'takePlace',
  'syncFolder',
  'stamp',
  'open',
  'lines',
  'read',
] as const;

testFaults('compacting', {
  job: compact,
  methods: ['listPrepared', 'findCycles', 'findSame', 'loadCompaction', 'begin', 'append', 'commit', 'markApplied'],
  failing: failingArchive,
});
testFaults('restoring', {
  job: restoring,
  methods: ['listPrepared', 'findCycles', 'loadCompaction', 'readLines'],
  failing: failingArchive,
});
testFaults('verifying', {
  job: verifying,
  methods: ['listPrepared', 'findCycles', 'loadCompaction', 'readLines'],
  failing: failingArchive,
});
testFaults('compacting', { job: compact, methods: WRITING, failing: failingFiles });
testFaults('restoring', { job: restoring, methods: WRITING, failing: failingFiles });
testFaults('compacting', {
  job: compact,
  methods: ['now', 'sha256', 'createHash', 'yieldToEvents'],
  failing: failingRuntime,
});
testFaults('restoring', {
  job: restoring,
  methods: ['sha256', 'createHash', 'yieldToEvents'],
  failing: failingRuntime,
});

/** Dies right before its file gets its name, or right after it, without a word to the archive. */
async function leavePrepared(t: TestContext, bench: Workbench, when: 'before' | 'after'): Promise<void> {
  const killed = (): never => {
    throw new Error('killed');
  };
  const files = storeWith((pending) => ({
    takePlace: async (...place) => {
      if (when === 'after') await pending.takePlace(...place);
      return killed();
    },
  }));
  const archive = { ...bench.archive(), discard: killed, markApplied: killed };
  await assert.rejects(compact(rerun(t, bench, { files, openArchive: async () => ok(archive) })), /killed/);
}

for (const [when, method] of [
  ['before', 'discard'],
  ['after', 'markApplied'],
] as const) {
  test(`'${method}' fails while what a killed run left is settled: it is settled later`, async (t) => {
    for (const job of [compact, restoring, verifying]) {
      for (const failsWhen of ['before', 'after'] as const) {
        const setup = copyOf(t);
        await leavePrepared(t, setup, when);
        const overrides = failingArchive(method)(setup, { nth: 1, when: failsWhen, onFail: () => undefined });
        const done = await job(rerun(t, setup, overrides));
        assert.equal(done.ok ? '' : done.error.kind, 'archive');
        await assertWhole(rerun(t, setup));
      }
    }
  });
}

test('what a run has taken back since it was listed as prepared is no damage', async (t) => {
  const setup = copyOf(t);
  await leavePrepared(t, setup, 'before');
  const archive = setup.archive();
  const listed = await archive.listPrepared();
  setup.write('other.jsonl', chatTranscript(12, 200));
  setup.write(FILE, 'neither the source nor the output');
  let isFirst = true;
  const listPrepared: Archive['listPrepared'] = async () => {
    if (!isFirst) return archive.listPrepared();
    isFirst = false;
    for (const { id } of listed) await archive.discard(id);
    return listed;
  };
  const late = rerun(t, setup, { openArchive: async () => ok({ ...archive, listPrepared }) });
  assert.equal(reportOf(await late.compact('other.jsonl')).result, 'compacted');
});
