import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import { chatLine, prose } from '../support/chat.ts';
import { answer, scriptedModel } from '../support/models.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';

const REQUESTS = [
  'Rename the parser to reader.',
  'Never touch the lock file; fix the port instead.',
  'Now write the notes.',
];

/** A coding session of three requests, each with calls, results and an ending. */
function session(from = 0): string {
  return REQUESTS.flatMap((request, at) => {
    const n = from + at;
    const call = { id: `c${n}`, type: 'function', function: { name: 'edit', arguments: `{"path":"src/${n}.ts"}` } };
    return [
      chatLine({ role: 'user', content: from === 0 ? request : `${request} (again ${n})` }),
      chatLine({ role: 'assistant', content: null, tool_calls: [call] }),
      chatLine({ role: 'tool', tool_call_id: `c${n}`, content: prose(n, 300) }),
      chatLine({ role: 'assistant', content: `Request ${n} is done: ${prose(n + 40, 60)}` }),
    ];
  })
    .map((line) => `${line}\n`)
    .join('');
}

/** The text that stands at the head of the compacted file. */
function clipOf(bench: Workbench): string {
  const first: { readonly content: string } = JSON.parse(bench.read('talk.jsonl').toString().split('\n')[0] ?? '');
  return first.content;
}

const settings = { compaction: { chunkSize: 5, keepRecent: 2, clipFirst: 2, clipLast: 1, requestTokens: 2048 } };

test("requests of all cycles stand word for word before a model's summaries, whatever the window hides", async (t) => {
  const model = scriptedModel(() => answer('Something was done.'));
  const bench = benchWith(t, 'talk.jsonl', session(), { model });
  reportOf(await bench.compact('talk.jsonl', settings));
  appendFileSync(bench.path('talk.jsonl'), session(10));
  reportOf(await bench.compact('talk.jsonl', settings));
  const clip = clipOf(bench);
  const section = clip.slice(clip.indexOf('## Requests and how they ended'), clip.indexOf('## Earliest context'));
  for (const request of [...REQUESTS, `${REQUESTS[0]} (again 10)`]) assert.ok(section.includes(request), section);
  assert.match(section, /Request 0 is done/);
  assert.match(clip, /earlier summaries omitted/);
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
});

test('a quoting summarizer, which has them itself, gets no such section', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', session() + session(10));
  reportOf(await bench.compact('talk.jsonl', settings));
  const [before = ''] = clipOf(bench).split('[Batch 1');
  assert.doesNotMatch(before, /## Requests/);
});

test('many requests are bounded: they never take more than their share', async (t) => {
  const model = scriptedModel(() => answer('Something was done.'));
  const bench = benchFor(t, { model });
  const many = Array.from({ length: 60 }, (_, at) => session(at * 10)).join('');
  bench.write('talk.jsonl', many);
  reportOf(
    await bench.compact('talk.jsonl', { compaction: { ...settings.compaction, chunkSize: 200, requestTokens: 300 } }),
  );
  const clip = clipOf(bench);
  const section = clip.slice(clip.indexOf('## Requests'), clip.indexOf('[Batch 1'));
  assert.ok(section.length > 400 && section.length < 1300, String(section.length));
});
