import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { searchArchive } from '../../src/app/search/search-archive.ts';
import { FROZEN_TRANSCRIPTS, frozenVersions, restoredOf, thawArchive } from '../adapters/archive/frozen.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { checked } from '../support/full-archive.ts';
import { createWorkbench, reportOf, type Workbench } from '../support/workbench.ts';

/** A folder with an archive that the program of that version wrote, and the transcripts that it compacted. */
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

  test(`schema ${version}: what was archived then is found, and what is archived now beside it`, async (t) => {
    const bench = benchOf(t, version);
    appendFileSync(
      bench.path('talk.jsonl'),
      `${chatLine({ role: 'user', content: 'A zebra' })}\n${chatTranscript(8, 300)}`,
    );
    reportOf(await bench.compact('talk.jsonl'));
    const asked = {
      kinds: 'messages',
      conversation: null,
      role: null,
      since: null,
      until: null,
      source: null,
    } as const;
    for (const order of ['best', 'newest'] as const) {
      const found = async (query: string): Promise<readonly string[]> => {
        const report = await searchArchive(bench.deps, { ...asked, query, order, limit: 1 });
        assert.ok(report.ok);
        return report.value.hits.map(
          ({ text, marks }) => marks.map(({ start, end }) => text.slice(start, end))[0] ?? '',
        );
      };
      assert.deepEqual([await found('harbors'), await found('zebras')], [['harbor'], ['zebra']]);
    }
  });

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
