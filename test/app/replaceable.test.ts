import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createExtractiveProvider } from '../../src/adapters/model/extractive.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const DROID_SESSION = join(import.meta.dirname, '../../fixtures/transcripts/droid/session.jsonl');
const original = chatTranscript(30);
const CONTINUED = '{"role":"user","content":"said to the compacted file"}\n';

async function compactTo(bench: Workbench, name: string, output: string, ifOverTokens: number | null = null) {
  return bench.compact(name, { output: { kind: 'file', path: bench.path(output) }, ifOverTokens });
}

test('an output of ours that was continued is not replaced, whether there is something to compact or not', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await compactTo(bench, 'talk.jsonl', 'out.jsonl'));
  appendFileSync(bench.path('out.jsonl'), CONTINUED);
  const continued = bench.read('out.jsonl');
  for (const limit of [null, 1_000_000]) {
    const done = await compactTo(bench, 'talk.jsonl', 'out.jsonl', limit);
    assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
    assert.deepEqual(bench.read('out.jsonl'), continued);
  }
});

test('a file that was compacted in place is not replaced by another’s output: what it keeps is nowhere else', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  bench.write('other.jsonl', chatTranscript(30, 500));
  reportOf(await bench.compact('talk.jsonl'));
  const done = await compactTo(bench, 'other.jsonl', 'talk.jsonl');
  assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
  assert.equal((await bench.restore('talk.jsonl')).toString(), original);
});

test('the output of one input gives way to another’s as long as the first is still there', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  bench.write('other.jsonl', chatTranscript(30, 500));
  reportOf(await compactTo(bench, 'talk.jsonl', 'out.jsonl'));
  assert.equal(reportOf(await compactTo(bench, 'other.jsonl', 'out.jsonl')).result, 'compacted');
  rmSync(bench.path('other.jsonl'));
  const done = await compactTo(bench, 'talk.jsonl', 'out.jsonl');
  assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
  assert.equal((await bench.restore('out.jsonl')).toString(), chatTranscript(30, 500));
});

test('an output is recognized in the named format when a torn first line hides its format', async (t) => {
  const bench = benchFor(t);
  const [header = '', ...rest] = readFileSync(DROID_SESSION, 'utf8').split('\n');
  bench.write('session.jsonl', [header.slice(0, 5), ...rest].join('\n'));
  const run = async () =>
    bench.compact('session.jsonl', {
      format: 'droid',
      keepInvalid: true,
      compaction: { keepRecent: 2 },
      output: { kind: 'file', path: bench.path('out.jsonl') },
    });
  assert.equal(reportOf(await run()).result, 'compacted');
  const output = bench.read('out.jsonl');
  assert.equal(reportOf(await run()).result, 'compacted');
  assert.deepEqual(bench.read('out.jsonl'), output);
});

test('what comes to stand at the output’s path while summaries are made is not replaced', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  const extractive = createExtractiveProvider();
  const slow = rerun(t, bench, {
    model: {
      ...extractive,
      complete: async (request) => {
        bench.write('out.jsonl', 'my notes\n');
        return extractive.complete(request);
      },
    },
  });
  const done = await compactTo(slow, 'talk.jsonl', 'out.jsonl');
  assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
  assert.equal(bench.read('out.jsonl').toString(), 'my notes\n');
  assert.deepEqual(await bench.archive().listPrepared(), []);
});

test('restore does not write over what holds more than it would write, or anything else', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await compactTo(bench, 'talk.jsonl', 'out.jsonl'));
  for (const content of [original + CONTINUED, 'another file', original.toUpperCase()]) {
    bench.write('out.jsonl.restored', content);
    await assert.rejects(bench.restore('out.jsonl'), /output-exists/);
    assert.equal(bench.read('out.jsonl.restored').toString(), content);
  }
});

test('restore writes over the original itself, a part of it, and an empty file', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await compactTo(bench, 'talk.jsonl', 'out.jsonl'));
  for (const content of [original, original.slice(0, 100), '']) {
    bench.write('out.jsonl.restored', content);
    assert.equal((await bench.restore('out.jsonl')).toString(), original);
  }
});

test('restore does not write over the archive that it reads', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await bench.compact('talk.jsonl'));
  symlinkSync(bench.archivePath, bench.path('talk.jsonl.restored'));
  await assert.rejects(bench.restore('talk.jsonl'), /output-exists/);
  assert.deepEqual((await rerun(t, bench).verify('talk.jsonl')).problems, []);
});
