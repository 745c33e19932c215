import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FROZEN_TRANSCRIPTS, frozenVersions, restoredOf, thawArchive } from '../adapters/archive/frozen.ts';
import { chatTranscript } from '../support/chat.ts';
import { checked } from '../support/full-archive.ts';
import { createWorkbench, reportOf } from '../support/workbench.ts';
import type { Workbench } from '../support/workbench.ts';
import type { TestContext } from 'node:test';

/** A folder with an archive as a program of that schema left it, and the transcripts that it compacted. */
function benchOf(t: TestContext, version: number): Workbench {
  const folder = mkdtempSync(join(tmpdir(), 'compact-earlier-'));
  thawArchive(version, folder);
  const bench = createWorkbench({}, folder);
  t.after(bench.remove);
  return bench;
}

for (const version of frozenVersions()) {
  test(`schema ${version}: the archive is sound after it was brought up to date`, async (t) => {
    const report = await checked(benchOf(t, version).archivePath);
    assert.ok(report.ok);
    assert.deepEqual([report.value.result, report.value.compactions, report.value.problems], ['sound', 4, []]);
  });

  for (const name of FROZEN_TRANSCRIPTS) {
    test(`schema ${version}: ${name} verifies and is restored, byte for byte`, async (t) => {
      const bench = benchOf(t, version);
      const { result, cycles, problems } = await bench.verify(name);
      assert.deepEqual([result, cycles, problems], ['verified', 2, []]);
      assert.deepEqual(await bench.restore(name), restoredOf(version, name));
    });
  }

  test(`schema ${version}: a transcript is compacted again on what was stored, and all of it can be restored`, async (t) => {
    const bench = benchOf(t, version);
    const more = chatTranscript(8, 300);
    appendFileSync(bench.path('talk.jsonl'), more);
    const { conversations } = reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 4 } }));
    assert.deepEqual(
      conversations.map(({ cycles }) => cycles),
      [3],
    );
    assert.deepEqual(
      await bench.restore('talk.jsonl'),
      Buffer.concat([restoredOf(version, 'talk.jsonl'), Buffer.from(more)]),
    );
    assert.equal((await checked(bench.archivePath)).ok, true);
  });
}
