import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { BatchHit, MessageHit } from '../../src/app/contract/archive-reports.ts';
import { capture } from '../support/captures.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { oddTexts } from '../support/messages.ts';
import { search } from '../support/searching.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

/** A talk in which one early message says more than the others. */
async function compacted(
  bench: Workbench,
  said: Readonly<Record<string, unknown>>,
  name = 'talk.jsonl',
): Promise<void> {
  bench.write(name, `${chatLine(said)}\n${chatTranscript(30)}`);
  reportOf(await bench.compact(name));
}

const BOAT = {
  role: 'user',
  id: 'boat',
  name: 'ada',
  timestamp: '2026-03-02T09:00:00Z',
  content: 'Paint the  wooden\nboat green',
};

test('A5: an archived message is found by its words, with where it stood and what it said', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const { hits, ...report } = await search(bench, 'painted boats', { kinds: 'messages' });
  assert.deepEqual(report, {
    schema: 'compact/search@1',
    query: 'painted boats',
    archive: bench.archivePath,
    unindexed: null,
  });
  const [hit] = hits;
  const conversation = reportOf(await bench.compact('talk.jsonl')).conversations[0];
  assert.ok(hit !== undefined && conversation !== undefined);
  const label = conversation.batches.map((one) => one.label).find((one) => one === hit.label) ?? 'none of its batches';
  assert.deepEqual(hits, [
    {
      kind: 'message',
      show: 'message:1',
      id: 'boat',
      label,
      conversation: conversation.id,
      role: 'user',
      name: 'ada',
      at: '2026-03-02T09:00:00.000Z',
      index: 1,
      line: 1,
      file: bench.path('talk.jsonl'),
      program: 'chat-lines',
      title: null,
      score: hit.score,
      text: 'Paint the wooden boat green',
      marks: [
        { start: 0, end: 5 },
        { start: 17, end: 21 },
      ],
    },
  ] satisfies readonly MessageHit[]);
});

test('A5: a batch is found by its words', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const { hits } = await search(bench, 'wooden', { kinds: 'batches' });
  assert.equal(hits.length, 1);
  const [hit] = hits;
  assert.ok(hit?.kind === 'batch');
  assert.match(hit.text, /wooden/);
  assert.deepEqual(
    hit.marks.map(({ start, end }) => hit.text.slice(start, end)),
    ['wooden'],
  );
  const { show, id, label, depth, file } = hit;
  assert.deepEqual({ show, id, depth, file }, {
    show: 'batch:1',
    id: label,
    depth: 0,
    file: bench.path('talk.jsonl'),
  } satisfies Partial<BatchHit>);
});

test('messages come first, the best of them at the top, and summaries, which the reader may have, last', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const { hits } = await search(bench, 'wooden parser build', { limit: 40 });
  const kinds = hits.map(({ kind }) => kind);
  assert.deepEqual(kinds, kinds.toSorted().toReversed());
  assert.ok(kinds.includes('batch'));
  const scores = hits.flatMap(({ kind, score }) => (kind === 'message' ? [score ?? 0] : []));
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
  const best = hits.find(({ kind }) => kind === 'batch');
  assert.equal(hits[0]?.score, best?.score);
  assert.equal((await search(bench, 'wooden parser build', { limit: 3 })).hits.length, 3);
});

test('a quotation must stand in every result as it is', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const found = async (query: string): Promise<readonly string[]> =>
    (await search(bench, query, { kinds: 'messages' })).hits.map(({ text }) => text);
  assert.deepEqual(await found('"wooden boat"'), ['Paint the wooden boat green']);
  assert.deepEqual(await found('“Wooden  BOAT” green'), ['Paint the wooden boat green']);
  assert.deepEqual(await found('"boat wooden"'), []);
  assert.notDeepEqual(await found('Which color does the "boat wooden" have?'), []);
});

test('a result is shown below its call, an edit as a diff, and what only acknowledges a call is left out', async (t) => {
  const bench = benchFor(t);
  const call = (id: string, name: string, input: object) => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
  });
  const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
  const said = [
    call('a', 'Read', { file_path: 'src/quay.ts' }),
    result('a', 'const mooring = 1;'),
    call('b', 'Edit', { file_path: 'src/quay.ts', old_string: 'a\nmooring = 1', new_string: 'a\nmooring = 2' }),
    result('b', 'The file src/quay.ts has been updated. mooring'),
    call('c', 'Bash', { command: 'npm test -- mooring' }),
    result('c', '7 mooring tests passed'),
    call('d', 'Read', { file_path: 'src/quay.ts' }),
    result('d', 'const mooring = 2;'),
  ];
  bench.write('talk.jsonl', `${said.map(chatLine).join('\n')}\n${chatTranscript(30)}`);
  reportOf(await bench.compact('talk.jsonl'));
  const { hits } = await search(bench, 'mooring', { kinds: 'messages', limit: 20 });
  const texts = hits.map(({ text }) => text);
  assert.ok(texts.includes('$ npm test -- mooring → 7 mooring tests passed'), texts.join('\n'));
  assert.ok(texts.includes('Edit src/quay.ts - mooring = 1 + mooring = 2'), texts.join('\n'));
  assert.ok(!texts.some((text) => text.includes('has been updated')));
  const [newer, older] = ['2', '1'].map((value) =>
    texts.findIndex((text) => text.includes(`const mooring = ${value}`)),
  );
  assert.ok(newer !== undefined && older !== undefined && newer >= 0 && newer < older, texts.join('\n'));
});

test('a question that names a day finds what was said on it, in other words too, archived or captured', async (t) => {
  const [archived, captured] = [benchFor(t), benchWith(t, 'a.jsonl', `${chatLine(BOAT)}\n`)];
  await compacted(archived, BOAT);
  await capture(captured, 'a.jsonl');
  for (const bench of [archived, captured]) {
    const { hits } = await search(bench, 'What did we decide on 2 March 2026?', { kinds: 'messages', limit: 50 });
    assert.ok(hits.some(({ text }) => text === 'Paint the wooden boat green'));
    assert.deepEqual((await search(bench, 'What did we decide on 2 May 2026?', { kinds: 'messages' })).hits, []);
  }
});

test('the newest come first on demand', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  appendFileSync(
    bench.path('talk.jsonl'),
    `${chatLine({ role: 'user', content: 'a boat for the parser' })}\n${chatTranscript(30, 100)}`,
  );
  reportOf(await bench.compact('talk.jsonl'));
  const { hits } = await search(bench, 'boat', { kinds: 'messages', order: 'newest' });
  assert.deepEqual(
    hits.map(({ text, score }) => [text, score]),
    [
      ['a boat for the parser', null],
      ['Paint the wooden boat green', null],
    ],
  );
});

test('only one conversation is looked through on demand', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', `${chatLine(BOAT)}\n${chatTranscript(30)}`);
  reportOf(await bench.compact('talk.jsonl', { conversation: 'harbor' }));
  const count = async (conversation: string): Promise<number> =>
    (await search(bench, 'boat', { conversation, kinds: 'messages' })).hits.length;
  assert.deepEqual([await count('harbor'), await count('sea')], [1, 0]);
});

test('a line that its format cannot read any more is shown as it is', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const formats = { ...bench.deps.formats, find: () => null };
  const asked = { kinds: 'messages', limit: 1 } as const;
  const found = await search({ deps: { ...bench.deps, formats } }, 'wooden', asked);
  assert.equal(found.hits[0]?.text, 'Paint the wooden boat green');
  const broken = { ...formats, parseLine: () => ({ ok: false, column: 1, problem: 'cut off' }) as const };
  const raw = await search({ deps: { ...bench.deps, formats: broken } }, 'wooden', asked);
  assert.match(raw.hits[0]?.text ?? '', /^\{"role":"user","id":"boat".*wooden/);
});

test('the excerpt of a line of many megabytes is one of its beginning', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, { ...BOAT, content: `The wooden boat. ${'green '.repeat(1_000_000)}` });
  const { hits } = await search(bench, 'wooden', { kinds: 'messages' });
  assert.match(hits[0]?.text ?? '', /wooden boat\. green/);
});

test('any text is a legal query', async (t) => {
  const bench = benchFor(t);
  await compacted(bench, BOAT);
  const odd = fc.oneof(
    oddTexts,
    fc.constantFrom('NEAR(a b, 5)', '"', "can't-do", '*', 'a AND NOT', ':', '(((', '\0', '-x'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { maxLength: 6 }), async (parts) => {
      const query = parts.join(' ');
      assert.equal((await search(bench, query)).query, query);
    }),
    { numRuns: runsOf(60) },
  );
  assert.deepEqual((await search(bench, '"-:*()')).hits, []);
  assert.equal((await search(bench, 'wooden boat '.repeat(9000), { limit: 1 })).hits.length, 1);
});

test('without an archive there is an answer with nothing in it', async (t) => {
  const bench = benchFor(t, { openArchive: () => Promise.resolve({ ok: true, value: null }) });
  assert.deepEqual(await search(bench, 'boat'), {
    schema: 'compact/search@1',
    query: 'boat',
    hits: [],
    archive: null,
    unindexed: null,
  });
});
