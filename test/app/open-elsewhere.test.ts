import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, utimesSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { findWriter } from '../../src/adapters/fs/open-elsewhere.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import type { FileStore } from '../../src/ports/files.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf } from '../support/workbench.ts';

const original = chatTranscript(30);
/** Searches to the end, however busy the machine is. */
const files: FileStore = {
  ...createFileStore(),
  findWriter: async (stamp) => findWriter(stamp, Number.POSITIVE_INFINITY),
};

/** A program that holds a file open, as it was opened here, until it is ended. */
async function programWith(t: TestContext, path: string, flags: 'a' | 'r'): Promise<() => Promise<void>> {
  const descriptor = openSync(path, flags);
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', descriptor] });
  await once(child, 'spawn');
  closeSync(descriptor);
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  t.after(end);
  return end;
}

test('what a program has open for writing is not replaced: it would write on to a file that is gone', async (t) => {
  const bench = benchFor(t, { files });
  const end = await programWith(t, bench.write('talk.jsonl', original), 'a');
  const report = reportOf(await bench.compact('talk.jsonl'));
  assert.deepEqual([report.result, report.reason], ['skipped', 'in-use']);
  assert.match(report.notes.join(), /^\S+ \(process \d+\) has it open for writing$/);
  assert.equal(bench.read('talk.jsonl').toString(), original);
  assert.deepEqual(await bench.archive().listPrepared(), []);
  await end();
  assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
});

test('another output can be made of it, and what is only read may be replaced', async (t) => {
  const bench = benchFor(t, { files });
  await programWith(t, bench.write('talk.jsonl', original), 'a');
  const output = { kind: 'file', path: bench.path('out.jsonl') } as const;
  assert.equal(reportOf(await bench.compact('talk.jsonl', { output })).result, 'compacted');
  await programWith(t, bench.write('other.jsonl', original), 'r');
  assert.equal(reportOf(await bench.compact('other.jsonl')).result, 'compacted');
});

test('a compacted file that a program has open is not restored in place', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original, { files });
  reportOf(await bench.compact('talk.jsonl'));
  const before = bench.read('talk.jsonl');
  await programWith(t, bench.path('talk.jsonl'), 'a');
  const input = { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null };
  const done = await restoreFile(bench.deps, { input, output: { kind: 'in-place' }, all: false });
  assert.equal(done.ok ? '' : done.error.kind, 'in-use');
  assert.deepEqual(bench.read('talk.jsonl'), before);
});

test('where nothing tells whether a file is open, one that was found in a folder must not have changed lately', async (t) => {
  const clock = { now: new Date('2026-03-01T08:00:00.000Z') };
  const bench = benchFor(t, {
    files: { ...files, showsWriters: () => false },
    runtime: { ...createNodeRuntime(), now: () => clock.now },
  });
  const path = bench.write('talk.jsonl', original);
  utimesSync(path, clock.now, clock.now);
  const minIdleMs = 10 * 60_000;
  for (const minutes of [0, 1, 9]) {
    clock.now = new Date(Date.UTC(2026, 2, 1, 8, minutes));
    for (const output of [{ kind: 'in-place' }, { kind: 'none' }] as const) {
      const { result, reason, notes } = reportOf(await bench.compact('talk.jsonl', { minIdleMs, output }));
      const note =
        'it changed within the last 10 minutes, and this system does not tell whether a program has it open (--min-idle, min_idle_minutes)';
      assert.deepEqual([result, reason, notes], ['skipped', 'in-use', [note]]);
    }
  }
  assert.equal(bench.read('talk.jsonl').toString(), original);
  clock.now = new Date(Date.UTC(2026, 2, 1, 8, 10));
  assert.equal(reportOf(await bench.compact('talk.jsonl', { minIdleMs })).result, 'compacted');
});

test('where the system tells, or the person named the file, it may have changed just now', async (t) => {
  for (const [showsWriters, minIdleMs] of [
    [true, 600_000],
    [false, 0],
  ] as const) {
    const bench = benchWith(t, 'talk.jsonl', original, { files: { ...files, showsWriters: () => showsWriters } });
    assert.equal(reportOf(await bench.compact('talk.jsonl', { minIdleMs })).result, 'compacted');
  }
});

test('the time is told in its largest whole unit', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original, { files: { ...files, showsWriters: () => false } });
  for (const [seconds, told] of [
    [90, '90 seconds'],
    [3600, 'hour'],
    [36 * 3600, '36 hours'],
    [10 * 86_400, '10 days'],
  ] as const) {
    const { notes } = reportOf(await bench.compact('talk.jsonl', { minIdleMs: seconds * 1000 }));
    assert.ok(notes[0]?.startsWith(`it changed within the last ${told}, and`), notes[0]);
  }
});

test('a session that its own program shows as open is skipped if it was found, and reported as open if it was named', async (t) => {
  const bench = benchFor(t, {
    files: { ...files, findSessionUser: async () => ({ processId: 123, name: 'Claude Code' }) },
  });
  bench.write('talk.jsonl', original);
  const open = 'Claude Code (process 123) has this session open';
  for (const output of [{ kind: 'in-place' }, { kind: 'none' }] as const) {
    const { result, reason, notes } = reportOf(await bench.compact('talk.jsonl', { minIdleMs: 0, output }));
    assert.deepEqual([result, reason, notes], ['skipped', 'in-use', [open]]);
  }
  assert.equal(bench.read('talk.jsonl').toString(), original);
  const aside = reportOf(await bench.compact('talk.jsonl', { output: { kind: 'file', path: bench.path('a.jsonl') } }));
  assert.doesNotMatch(aside.notes.join(), /open/);
  const named = reportOf(await bench.compact('talk.jsonl'));
  assert.equal(named.result, 'compacted');
  assert.equal(named.notes.at(-1), `${open}, and notices nothing until it opens it again`);
});
