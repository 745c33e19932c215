import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf } from '../support/workbench.ts';

const SESSION = new URL('../../fixtures/transcripts/claude-code/session.jsonl', import.meta.url);

test('a summary in lines that were appended belongs to them: the way back ends at the original of the first file', async (t) => {
  const bench = benchFor(t);
  const original = readFileSync(SESSION);
  bench.write('one.jsonl', original);
  reportOf(await bench.compact('one.jsonl'));
  const once = bench.read('one.jsonl');
  bench.write('joined.jsonl', Buffer.concat([once, once]));
  assert.deepEqual((await bench.verify('joined.jsonl')).problems, []);
  assert.ok((await bench.restore('joined.jsonl')).equals(Buffer.concat([original, once])));
});

test('a byte order mark within a joined file never comes to stand first: the output could not be read back', async (t) => {
  const bench = benchFor(t);
  const rows = (id: string, turns: number, from: number): string =>
    chatTranscript(turns, from).replaceAll('{"role"', `{"conversation_id":"${id}","role"`);
  // Conversation b is too short to be compacted, and what is kept of a stands behind the mark too.
  const original = `${rows('a', 20, 0)}\ufeff${rows('a', 6, 100)}${rows('b', 1, 200)}`;
  bench.write('rows.jsonl', original);
  const report = reportOf(await bench.compact('rows.jsonl', { keepInvalid: true }));
  assert.equal(report.result, 'compacted');
  assert.notEqual(bench.read('rows.jsonl')[0], 0xef);
  assert.deepEqual((await bench.verify('rows.jsonl')).problems, []);
  assert.equal((await bench.restore('rows.jsonl')).toString(), original);
});
