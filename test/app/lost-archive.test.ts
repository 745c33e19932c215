import assert from 'node:assert/strict';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';

/** Whether all of it was restored, or why not. */
async function restoreAll(bench: Workbench, partial = false): Promise<string> {
  const done = await restoreFile(bench.deps, {
    input: { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null },
    output: { kind: 'file', path: bench.path('restored.jsonl') },
    all: true,
    partial,
  });
  return done.ok ? 'restored' : done.error.kind;
}

test('a file that was compacted with another archive is left alone, unless it is to start anew', async (t) => {
  const lost = benchFor(t);
  lost.write('talk.jsonl', chatTranscript(30));
  reportOf(await lost.compact('talk.jsonl'));
  assert.equal(await restoreAll(lost), 'restored');

  const later = benchFor(t);
  writeFileSync(later.path('talk.jsonl'), lost.read('talk.jsonl'));
  appendFileSync(later.path('talk.jsonl'), chatTranscript(20, 100));
  const before = later.read('talk.jsonl');
  for (const output of [{ kind: 'in-place' }, { kind: 'none' }] as const) {
    const { result, reason, notes } = reportOf(await later.compact('talk.jsonl', { output }));
    assert.deepEqual([result, reason], ['skipped', 'archive-missing']);
    assert.match(notes.join(), /not in the archive .*archive\.db; name .* --archive, or go on .* --fresh/);
  }
  assert.deepEqual(later.read('talk.jsonl'), before);
  const fresh = reportOf(await later.compact('talk.jsonl', { isFresh: true }));
  assert.match(fresh.notes.join(), /does not have its earlier compaction/);
  const compacted = later.read('talk.jsonl');
  assert.equal(await restoreAll(later), 'not-in-archive');
  assert.deepEqual(later.read('talk.jsonl'), compacted);
  assert.deepEqual(await later.restore('talk.jsonl', false), before);
});

test('a summary that somebody pasted as the first message does not keep the original from coming back', async (t) => {
  const bench = benchWith(t, 'other.jsonl', chatTranscript(30));
  reportOf(await bench.compact('other.jsonl'));
  const records = bench.read('other.jsonl').toString().split('\n');
  const pasted = records.find((line) => line.includes('[Context Summary')) ?? assert.fail();
  const content: unknown = JSON.parse(pasted).content;
  const key = /\[Archive: ([0-9a-f]{12}) /.exec(JSON.stringify(content))?.[1] ?? assert.fail();
  const first = `${JSON.stringify({ role: 'user', content: content, name: 'pasted' })}\n`;
  for (const text of [first, first.replace(key, '0123456789ab')]) {
    const original = text + chatTranscript(40, 200);
    bench.write('talk.jsonl', original);
    const isKnown = text === first;
    reportOf(await bench.compact('talk.jsonl', { isFresh: !isKnown }));
    if (!isKnown) assert.equal(await restoreAll(bench), 'not-in-archive');
    assert.equal(await restoreAll(bench, !isKnown), 'restored');
    assert.equal(bench.read('restored.jsonl').toString(), original);
    rmSync(bench.path('restored.jsonl'));
  }
});
