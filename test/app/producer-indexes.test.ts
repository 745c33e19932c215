import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RestoreReport } from '../../src/app/contract/reports.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const NOTE = 'the index was left as it is';

type Scene = { readonly bench: Workbench; readonly events: readonly string[]; readonly clear: () => void };

/** A transcript of a format whose producer keeps an index; `events`: resets and renames, in their order. */
function sceneFor(t: TestContext, note: string | null = null): Scene {
  const events: string[] = [];
  const bench = benchFor(t, {
    producerIndexes: {
      reset: async ({ path, format }: { path: string; format: string }) => {
        events.push(`reset ${format} ${path.split('/').at(-1)}`);
        return note;
      },
    },
    reached: (step) => {
      if (step === 'renamed') events.push(step);
    },
  });
  bench.write('talk.jsonl', original);
  return { bench, events, clear: () => events.splice(0) };
}

async function restoreInPlace({ bench }: Scene): Promise<RestoreReport> {
  const input = { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null };
  const done = await restoreFile(bench.deps, { input, output: { kind: 'in-place' }, all: false });
  assert.ok(done.ok);
  return done.value;
}

test('an index of the producer is reset before a compaction replaces the transcript, and before a restore does', async (t) => {
  const scene = sceneFor(t);
  const report = reportOf(await scene.bench.compact('talk.jsonl'));
  assert.deepEqual(scene.events, ['reset chat-lines talk.jsonl', 'renamed']);
  assert.deepEqual(report.notes, []);
  scene.clear();
  const restored = await restoreInPlace(scene);
  assert.deepEqual(scene.events, ['reset chat-lines talk.jsonl', 'renamed']);
  assert.equal('notes' in restored, false);
});

test('a compaction that is reused resets the index as well', async (t) => {
  const scene = sceneFor(t);
  await scene.bench.compact('talk.jsonl');
  await restoreInPlace(scene);
  scene.clear();
  assert.equal(reportOf(await scene.bench.compact('talk.jsonl')).result, 'compacted');
  assert.deepEqual(scene.events, ['reset chat-lines talk.jsonl', 'renamed']);
});

test('what is written elsewhere leaves the index alone', async (t) => {
  const scene = sceneFor(t);
  const output = { kind: 'file', path: scene.bench.path('out.jsonl') } as const;
  await scene.bench.compact('talk.jsonl', { output });
  assert.deepEqual(scene.events, ['renamed']);
});

test('an index that could not be reset is a note, and the transcript is replaced all the same', async (t) => {
  const scene = sceneFor(t, NOTE);
  const report = reportOf(await scene.bench.compact('talk.jsonl'));
  assert.deepEqual([report.result, report.notes], ['compacted', [NOTE]]);
  assert.deepEqual((await restoreInPlace(scene)).notes, [NOTE]);
  assert.equal(scene.bench.read('talk.jsonl').toString(), original);
});
