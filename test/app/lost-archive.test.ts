import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf } from '../support/workbench.ts';
import type { Workbench } from '../support/workbench.ts';

async function restoredAll(bench: Workbench): Promise<boolean | undefined> {
  const done = await restoreFile(bench.deps, {
    input: { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null },
    output: { kind: 'file', path: bench.path('restored.jsonl') },
    all: true,
  });
  assert.ok(done.ok, JSON.stringify(done));
  return done.value.isStillCompacted;
}

test('restored back to the first compaction of this archive, a file that was compacted before with another one says that it is compacted still', async (t) => {
  const lost = benchFor(t);
  lost.write('talk.jsonl', chatTranscript(30));
  reportOf(await lost.compact('talk.jsonl'));
  assert.equal(await restoredAll(lost), undefined);

  const later = benchFor(t);
  writeFileSync(later.path('talk.jsonl'), lost.read('talk.jsonl'));
  appendFileSync(later.path('talk.jsonl'), chatTranscript(20, 100));
  const before = later.read('talk.jsonl');
  reportOf(await later.compact('talk.jsonl'));
  assert.equal(await restoredAll(later), true);
  assert.deepEqual(later.read('restored.jsonl'), before);
});
