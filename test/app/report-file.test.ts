import assert from 'node:assert/strict';
import { appendFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import type { FileReport } from '../../src/app/contract/file-report.ts';
import { reportFile } from '../../src/app/survey/report-file.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, policyOf, reportOf, rerun, type Workbench } from '../support/workbench.ts';

type Options = { readonly isPlan?: boolean; readonly mask?: (text: string) => string };

async function report(
  bench: Workbench,
  name: string,
  { isPlan = false, mask = (text) => text }: Options = {},
): Promise<FileReport> {
  const input = { path: bench.path(name), name, format: null };
  const result = await reportFile({ ...bench.deps, mask }, { input, policy: policyOf(), isPlan });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const SETTINGS = { compaction: { keepRecent: 4, keepRecentTokens: 0, summaryTokens: 600 } };

test('every message of the original is shown with what became of it, over two compactions', async (t) => {
  const bench = benchFor(t);
  const [first, second] = [chatTranscript(30), chatTranscript(30, 30)];
  bench.write('talk.jsonl', first);
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  appendFileSync(bench.path('talk.jsonl'), second);
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  const { messages, state, tokens, bytes } = await report(bench, 'talk.jsonl');
  const lines = `${first}${second}`.trimEnd().split('\n');
  assert.equal(messages.length, lines.length);
  assert.deepEqual([bytes.before, bytes.after], [Buffer.byteLength(first + second), bench.read('talk.jsonl').length]);
  assert.ok(state.kind === 'compacted' && state.verified.result === 'verified' && state.cycles.length === 2);
  assert.ok(tokens.before !== null && tokens.before > tokens.after);
  const cut = first.trimEnd().split('\n').length - 4;
  assert.deepEqual(
    messages.map(({ cycle }) => cycle),
    lines.map((_, at) => (at < cut ? 1 : at < lines.length - 4 ? 2 : null)),
  );
  const kept = messages.filter(({ outcome }) => outcome === 'kept').map(({ line }) => lines[line - 1]);
  assert.deepEqual(kept, bench.read('talk.jsonl').toString().trimEnd().split('\n').slice(-4));
  const labels = new Set(state.cycles.flatMap(({ made }) => made.map(({ label }) => label)));
  assert.ok(messages.every(({ batch, outcome }) => (outcome === 'summarized') === labels.has(batch ?? '')));
});

test('the lines of a summary lead to messages that contain their words', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(40));
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  const { summaries, messages } = await report(bench, 'talk.jsonl');
  const texts = summaries.flat().filter(({ kind }) => kind === 'text');
  const found = texts.filter(({ source }) => source !== null);
  assert.ok(found.length > texts.length / 2, `${found.length} of ${texts.length}`);
  for (const { text, source } of found) {
    const words = text.match(/\w{6,}/g) ?? [];
    const content = messages[(source ?? 0) - 1]?.text ?? '';
    assert.ok(words.length === 0 || words.some((word) => content.includes(word)), text);
  }
});

test('without its archive, a compacted file still shows what it contains', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  for (const value of [null, 'other'] as const) {
    const other = benchFor(t);
    const openArchive = value === null ? async () => ({ ok: true, value: null }) as const : other.deps.openArchive;
    const again = rerun(t, bench, { openArchive });
    const { state, messages, summaries, bytes, audit } = await report(again, 'talk.jsonl');
    assert.ok(state.kind === 'unproven' && state.failure.kind === 'not-in-archive');
    assert.ok((state.claims?.messages ?? 0) > 30);
    assert.deepEqual([messages.length, summaries.length, bytes.before, audit], [4, 1, null, null]);
    assert.ok(summaries.flat().every(({ source }) => source === null));
  }
});

test('a damaged archive makes a page that says so', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  const lines = bench.read('talk.jsonl').toString().trimEnd().split('\n').slice(0, -1);
  bench.write('talk.jsonl', `${[...lines, chatLine({ role: 'user', content: 'changed' })].join('\n')}\n`);
  const { state, messages } = await report(bench, 'talk.jsonl');
  assert.ok(state.kind === 'compacted' && state.verified.result === 'failed');
  assert.equal(messages.length, 4);
});

test('a plan shows what would leave, and changes nothing', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  const before = bench.read('talk.jsonl');
  const { state, messages, tokens } = await report(bench, 'talk.jsonl', { isPlan: true });
  assert.deepEqual(state, { kind: 'planned', reason: null });
  assert.ok(messages.some(({ outcome }) => outcome === 'summarized'));
  assert.ok((tokens.before ?? 0) > tokens.after);
  assert.deepEqual(bench.read('talk.jsonl'), before);
});

test('a file that is not compacted, and one that is no transcript, are refused', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(3));
  await assert.rejects(report(bench, 'talk.jsonl'), /not-compacted/);
  bench.write('junk.jsonl', Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 97) % 256)));
  await assert.rejects(report(bench, 'junk.jsonl'), /not-a-transcript/);
  rmSync(bench.path('talk.jsonl'));
  await assert.rejects(report(bench, 'talk.jsonl', { isPlan: true }), /not-found/);
});

test('every text of a transcript passes the mask', async (t) => {
  const bench = benchFor(t);
  const secret = 'hunter2secret';
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: `run_${secret}`, arguments: `{"path":"${secret}.ts"}` },
  };
  const turn = [
    chatLine({ role: 'user', content: `Never tell ${secret} to anybody. Look at src/${secret}.ts please.` }),
    chatLine({ role: 'assistant', content: null, tool_calls: [call] }),
    chatLine({ role: 'tool', tool_call_id: 'c1', content: `Error: ${secret} failed` }),
    chatLine({ role: 'assistant', content: `I looked at src/${secret}.ts and it is fine.` }),
  ];
  const original = `${turn.join('\n')}\n${chatTranscript(20)}`;
  bench.write('talk.jsonl', original);
  bench.write('plan.jsonl', original);
  reportOf(await bench.compact('talk.jsonl', SETTINGS));
  const mask = (text: string): string => text.replaceAll(secret, '***');
  for (const isPlan of [false, true]) {
    const text = JSON.stringify(await report(bench, isPlan ? 'plan.jsonl' : 'talk.jsonl', { isPlan, mask }));
    assert.ok(!text.includes(secret) && text.includes('***'));
  }
});

test('a secret that is longer than an excerpt, or lies where a long text is cut, is masked before the cut', async (t) => {
  const bench = benchFor(t);
  const secret = (chars: number): string => `BEGIN ${'k9x2 is a part. '.repeat(chars / 16)}END`;
  const asked = `Please deploy it. ${secret(1600)} Thanks.`;
  const long = `${secret(16_000)}${'It is fine. '.repeat(5_000)}${secret(16_000)}`;
  const turn = [chatLine({ role: 'user', content: asked }), chatLine({ role: 'assistant', content: long })];
  bench.write('talk.jsonl', `${turn.join('\n')}\n${chatTranscript(20)}`);
  const mask = (text: string): string => text.replaceAll(/BEGIN[^]*?END/g, '***');
  const page = JSON.stringify(await report(bench, 'talk.jsonl', { isPlan: true, mask }));
  assert.ok(page.includes('***') && !page.includes('k9x2'));
});
