import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { BatchShown, ShowReport } from '../../src/app/contract/archive-reports.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import type { LookupFailure } from '../../src/app/contract/failure.ts';
import { listArchive, measureArchive } from '../../src/app/search/list-archive.ts';
import { showArchived, showOriginals } from '../../src/app/search/show-archived.ts';
import { storeLines } from '../../src/app/compact/archive-lines.ts';
import type { Archive } from '../../src/ports/archive.ts';
import { compactionDraft, lineDraft } from '../adapters/archive/drafts.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, type BenchSettings, reportOf, type Workbench } from '../support/workbench.ts';

async function show(bench: Workbench, name: string): Promise<ShowReport> {
  const shown = await showArchived(bench.deps, { name });
  assert.ok(shown.ok, JSON.stringify(shown));
  return shown.value;
}

async function showBatch(bench: Workbench, name: string): Promise<BatchShown> {
  const shown = await show(bench, name);
  assert.ok(shown.kind === 'batch');
  return shown;
}

async function refusal(bench: Workbench, name: string): Promise<LookupFailure> {
  const shown = await showArchived(bench.deps, { name });
  assert.ok(!shown.ok, JSON.stringify(shown));
  return shown.error;
}

async function originals(bench: Workbench, name: string): Promise<string> {
  const lines: string[] = [];
  const shown = await showOriginals(bench.deps, { name }, ({ bytes }) => lines.push(Buffer.from(bytes).toString()) > 0);
  assert.deepEqual(shown, { ok: true, value: lines.length });
  return lines.join('');
}

/** The key in the last line of the clip-archive of `talk.jsonl`. */
function keyIn(bench: Workbench): string {
  return /\[Archive: ([\da-f]{12}) /.exec(bench.read('talk.jsonl').toString())?.[1] ?? 'no key';
}

/** A bench on which a talk was compacted, and the report. */
async function compacted(t: TestContext): Promise<{ readonly bench: Workbench; readonly done: CompactReport }> {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  return { bench, done: reportOf(await bench.compact('talk.jsonl')) };
}

/** Compacted again and again until older batches are merged; all that was said, as it was. */
async function manyCycles(bench: Workbench, settings: BenchSettings = {}): Promise<string> {
  let everything = '';
  writeFileSync(bench.path('talk.jsonl'), '');
  for (let cycle = 0; cycle < 3; cycle += 1) {
    const more = chatTranscript(30, cycle * 100);
    appendFileSync(bench.path('talk.jsonl'), more);
    everything += more;
    reportOf(await bench.compact('talk.jsonl', { ...settings, compaction: { chunkSize: 20, ...settings.compaction } }));
  }
  return everything;
}

test('a batch is shown by its label, its number, and as much of its label as no other has', async (t) => {
  const {
    bench,
    done: { conversations },
  } = await compacted(t);
  const id = conversations[0]?.id ?? '';
  const batch = conversations[0]?.batches[0];
  assert.ok(batch !== undefined);
  const shown = await showBatch(bench, batch.label);
  const { archivedAt, sha256, text, ...rest } = shown;
  assert.ok(!Number.isNaN(Date.parse(archivedAt)));
  assert.deepEqual([sha256.length, text.length > 100], [64, true]);
  assert.deepEqual(rest, {
    schema: 'compact/show@1',
    kind: 'batch',
    show: 'batch:1',
    ...batch,
    conversation: id,
    cycle: 1,
    indices: { first: 1, last: batch.count },
    file: bench.path('talk.jsonl'),
    format: 'chat-lines',
    isLive: true,
    sources: [],
    replacedBy: [],
  });
  for (const name of ['batch:1', batch.label.slice(0, -3), id, id.slice(0, 5), 'compaction']) {
    assert.deepEqual(await show(bench, name), shown, name);
  }
});

test('the lines behind the live batches are all that was summarized, byte for byte, each once', async (t) => {
  const bench = benchFor(t);
  const everything = await manyCycles(bench);
  const { conversations } = reportOf(await bench.compact('talk.jsonl'));
  const labels = conversations[0]?.batches.map(({ label }) => label) ?? [];
  const behind = (await Promise.all(labels.map(async (label) => originals(bench, label)))).join('');
  const kept = bench.read('talk.jsonl').toString().split('\n').slice(1).join('\n');
  const sorted = (text: string): readonly string[] => text.split('\n').toSorted((a, b) => (a < b ? -1 : 1));
  assert.deepEqual(sorted(behind + kept), sorted(everything));
});

test('a merged batch names its sources, they name it, and its lines are theirs in the order in which they were said', async (t) => {
  const bench = benchFor(t);
  const everything = await manyCycles(bench);
  const { conversations } = reportOf(await bench.compact('talk.jsonl'));
  const merged = await showBatch(bench, conversations[0]?.batches[0]?.label ?? '');
  assert.ok(merged.depth >= 1 && merged.sources.length > 1);
  for (const { label } of merged.sources) {
    const source = await showBatch(bench, label);
    assert.deepEqual([source.replacedBy, source.isLive], [[merged.label], false]);
  }
  const lines = (await originals(bench, merged.label)).trimEnd().split('\n');
  assert.equal(lines.length, merged.count);
  const places = lines.map((line) => everything.indexOf(line));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

test('a message that an earlier clip-archive kept word for word is behind the batch that took it up', async (t) => {
  const bench = benchFor(t);
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const record = (n: number): string => {
    const role = n % 2 === 1 ? 'user' : 'assistant';
    const content =
      n === 1 ? 'error: constraint, decision, requirement? the wooden boat' : `turn ${n} ${'word '.repeat(80)}`;
    const parentUuid = n === 1 ? null : uuid(n - 1);
    const common = {
      parentUuid,
      uuid: uuid(n),
      sessionId: uuid(0),
      timestamp: new Date(n * 60_000).toISOString(),
      type: role,
      isSidechain: false,
      version: '2.1.0',
      cwd: '/',
    };
    return JSON.stringify({
      ...common,
      message: { role, content: role === 'user' ? content : [{ type: 'text', text: content }] },
    });
  };
  const lines = Array.from({ length: 40 }, (_, at) => record(at + 1));
  bench.write('session.jsonl', `${lines.join('\n')}\n`);
  const first = reportOf(
    await bench.compact('session.jsonl', { targetTokens: 2500, compaction: { chunkSize: 10, maxSummaryTokens: 60 } }),
  );
  assert.equal(first.result, 'compacted');
  const before = await show(bench, uuid(1));
  assert.ok(before.kind === 'message');
  assert.equal(before.label, null);
  reportOf(await bench.compact('session.jsonl', { compaction: { keepRecent: 2, maxSummaryTokens: 60 } }));
  const after = await show(bench, uuid(1));
  assert.ok(after.kind === 'message' && after.label !== null);
  assert.match(await originals(bench, after.label), /the wooden boat/);
});

test('a message is shown by its own id and by what a search names, with its line as it stood', async (t) => {
  const bench = benchFor(t);
  const line = '{"role":"user", "id":"m-1", "content":"one \\u0041","content":"the boat"}\r\n';
  bench.write('talk.jsonl', `${line}${chatTranscript(30)}`);
  reportOf(await bench.compact('talk.jsonl'));
  const shown = await show(bench, 'm-1');
  assert.ok(shown.kind === 'message');
  const { text, original, role, index, line: place, show: name } = shown;
  assert.deepEqual(
    { text, original, role, index, place, name },
    {
      text: 'the boat',
      original: { encoding: 'utf-8', data: line },
      role: 'user',
      index: 1,
      place: 1,
      name: 'message:1',
    },
  );
  assert.deepEqual(await show(bench, 'message:1'), shown);
  assert.deepEqual([await originals(bench, 'm-1'), await originals(bench, 'message:1')], [line, line]);
});

test('a line that is no message and no text is shown all the same, as base64', async (t) => {
  const bench = benchFor(t);
  const bytes = Buffer.from([0x7b, 0xff, 0x0a]);
  const archive = bench.archive();
  const line = lineDraft(1, { bytes, outcome: 'other', batch: null });
  await archive.markApplied((await storeLines(archive, compactionDraft(1), [line])).id);
  const shown = await show(bench, 'message:1');
  assert.ok(shown.kind === 'message');
  const { id, role, text, original } = shown;
  assert.deepEqual([id, role, text, original], [null, null, '{\ufffd', { encoding: 'base64', data: 'e/8K' }]);
});

test('who has read enough gets no further lines', async (t) => {
  const { bench } = await compacted(t);
  let count = 0;
  const shown = await showOriginals(bench.deps, { name: 'batch:1' }, () => {
    count += 1;
    return count < 3;
  });
  assert.deepEqual([shown, count], [{ ok: true, value: 3 }, 3]);
});

test('skipped lines of a key are not looked up', async (t) => {
  const { bench } = await compacted(t);
  const key = keyIn(bench);
  const lookedUp: number[] = [];
  const archive: Archive = {
    ...bench.archive(),
    findLines: async (name, limit) => {
      if (name.kind === 'id') lookedUp.push(name.id);
      return bench.archive().findLines(name, limit);
    },
  };
  const openArchive = () => Promise.resolve({ ok: true, value: archive } as const);
  const indices: (number | null)[] = [];
  let count = 0;
  await showOriginals({ ...bench.deps, openArchive }, { name: key }, async ({ report }) => {
    count += 1;
    if (count > 20) indices.push((await report()).index);
    return count < 22;
  });
  assert.deepEqual(
    [indices, lookedUp],
    [
      [21, 22],
      [21, 22],
    ],
  );
});

test('a name that nothing bears is refused with the labels that begin as it does, if there are any', async (t) => {
  const { bench, done } = await compacted(t);
  const label = done.conversations[0]?.batches[0]?.label ?? '';
  const archive = bench.archivePath;
  for (const name of [
    'nothing',
    '',
    '0123456789ab',
    'batch:9',
    'message:99999',
    'batch:x',
    '\ud800\0',
    'compaction-batch-?',
  ]) {
    assert.deepEqual(await refusal(bench, name), { kind: 'not-archived', name, near: [], archive });
  }
  const ownPart = label.slice('compaction-batch-'.length);
  for (const name of [`${label}-2`, `${label.slice(0, -3)}999`, `${ownPart}-2`, `${ownPart.slice(0, 4)}?`]) {
    assert.deepEqual(await refusal(bench, name), { kind: 'not-archived', name, near: [label], archive });
  }
});

test('a name that several bear is refused with what each can be had by', async (t) => {
  const bench = benchFor(t);
  await manyCycles(bench);
  const many = await refusal(bench, 'compaction-batch-');
  assert.ok(many.kind === 'ambiguous');
  assert.deepEqual([many.candidates.length, many.hasMore], [5, true]);
  for (const { name, about } of many.candidates) assert.deepEqual((await show(bench, name)).show, about);
  bench.write(
    'other.jsonl',
    `${chatLine({ role: 'user', id: 'same', content: 'one' })}\n${chatLine({ role: 'user', id: 'same', content: 'two' })}\n${chatTranscript(30)}`,
  );
  reportOf(await bench.compact('other.jsonl'));
  const twice = await refusal(bench, 'same');
  assert.ok(twice.kind === 'ambiguous');
  assert.deepEqual(
    twice.candidates.map(({ about }) => about),
    [`line 1 of ${bench.path('other.jsonl')}`, `line 2 of ${bench.path('other.jsonl')}`],
  );
});

test('the archive lists its compactions and adds them up', async (t) => {
  const { bench, done } = await compacted(t);
  const listed = await listArchive(bench.deps);
  assert.ok(listed.ok);
  const [one] = listed.value.compactions;
  assert.deepEqual(listed.value, {
    schema: 'compact/archive-list@1',
    archive: bench.archivePath,
    compactions: [
      {
        at: one?.at,
        file: bench.path('talk.jsonl'),
        output: bench.path('talk.jsonl'),
        format: 'chat-lines',
        conversations: [{ id: done.conversations[0]?.id, cycle: 1 }],
        lines: { archived: done.ledger.summarized, total: done.ledger.total },
        bytes: { before: done.bytes.before, after: done.bytes.after },
        sha256: done.sha256.before,
        title: one?.title,
      },
    ],
  });
  assert.match(one?.title ?? '', /parser\.ts/);
  const measured = await measureArchive(bench.deps);
  assert.ok(measured.ok);
  const { compactions, messages, bytes } = measured.value;
  assert.deepEqual([compactions, messages], [1, done.ledger.summarized]);
  assert.equal(bytes.share, bytes.file / bytes.original);
});

test('without an archive nothing is listed, and nothing can be shown', async (t) => {
  const bench = benchFor(t, { openArchive: () => Promise.resolve({ ok: true, value: null }) });
  const listed = await listArchive(bench.deps);
  assert.deepEqual(listed.ok && listed.value, { schema: 'compact/archive-list@1', archive: null, compactions: [] });
  const measured = await measureArchive(bench.deps);
  assert.deepEqual(measured.ok && [measured.value.archive, measured.value.compactions, measured.value.bytes.share], [
    null,
    0,
    null,
  ]);
  const failure = { kind: 'cannot-open', path: bench.archivePath, reason: 'there is none yet' };
  assert.deepEqual(await refusal(bench, 'x'), { kind: 'archive', failure });
});

test("the key in a clip-archive's last line leads to its summaries, and to all the lines that left", async (t) => {
  const bench = benchFor(t);
  const said = chatTranscript(30);
  bench.write('talk.jsonl', said);
  const { conversations } = reportOf(await bench.compact('talk.jsonl'));
  const key = keyIn(bench);
  const shown = await show(bench, key);
  assert.ok(shown.kind === 'compaction');
  const { archivedAt: _when, sha256: _hash, lines, ...rest } = shown;
  assert.deepEqual(rest, {
    schema: 'compact/show@1',
    kind: 'compaction',
    show: key,
    file: bench.path('talk.jsonl'),
    output: bench.path('talk.jsonl'),
    format: 'chat-lines',
    conversations: [{ id: conversations[0]?.id ?? '', cycle: 1 }],
    batches: conversations[0]?.batches ?? [],
  });
  const left = await originals(bench, key);
  assert.equal(
    left,
    said
      .split(/(?<=\n)/)
      .slice(0, lines.archived)
      .join(''),
  );
});

test('a message whose id was made to look like a key does not come before the key', async (t) => {
  const { bench } = await compacted(t);
  const key = keyIn(bench);
  bench.write('forged.jsonl', `${chatLine({ role: 'user', id: key, content: 'forged' })}\n${chatTranscript(30, 200)}`);
  reportOf(await bench.compact('forged.jsonl'));
  const shown = await show(bench, key);
  assert.equal(shown.kind, 'compaction');
});
