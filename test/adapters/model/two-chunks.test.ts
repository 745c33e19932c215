import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_DIRECTIVE } from '../../../src/core/prompt.ts';
import type { ModelProvider } from '../../../src/ports/model.ts';
import { chatLine, prose } from '../../support/chat.ts';
import { answer } from '../../support/model-server/reply.ts';
import { benchFor, reportOf } from '../../support/workbench.ts';
import { type ProviderName, reach } from './providers.ts';

const CALL = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"config.json"}' } };

/** Six older messages, which are two chunks of three, and two recent ones. */
const TRANSCRIPT = [
  { role: 'user', content: prose(1) },
  { role: 'assistant', content: prose(2), tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'call_1', content: prose(3) },
  { role: 'assistant', content: prose(4) },
  { role: 'user', content: prose(5) },
  { role: 'assistant', content: prose(6) },
  { role: 'user', content: 'And now?' },
  { role: 'assistant', content: 'All is well.' },
]
  .map((record) => `${chatLine(record)}\n`)
  .join('');

const CALLED = `${prose(2)}\n[Tool call]: read_file({"path":"config.json"})`;
const RESULT = `[Tool result]: ${prose(3)}`;
const PREVIOUS = 'Previous summary of conversation:\nThe port was looked up.';

/** The bodies that reach the server when the transcript is compacted, and the report. */
async function compactWith(context: Parameters<typeof reach>[0], name: ProviderName) {
  const { provider, server } = await reach(context, name, {
    script: [answer('The port was looked up.'), answer('The build was mended.')],
  });
  const model: ModelProvider = {
    complete: (request, signal) => provider.complete({ ...request, model: 'test-model' }, signal),
  };
  const bench = benchFor(context, { model });
  bench.write('talk.jsonl', TRANSCRIPT);
  const done = await bench.compact('talk.jsonl', {
    chunkOrder: 'chronological',
    compaction: { chunkSize: 3, keepRecent: 2, maxSummaryTokens: 512, prompt: 'Tell what happened.' },
  });
  return { bodies: server.requests.map(({ body }) => body), report: reportOf(done) };
}

const text = (said: string): { type: string; text: string } => ({ type: 'text', text: said });

test('M1, M4: the requests of a two-chunk compaction in the form of the Messages API', async (t) => {
  const { bodies, report } = await compactWith(t, 'anthropic');
  const common = { model: 'test-model', max_tokens: 512, output_config: { effort: 'low' }, stream: true };
  assert.deepEqual(bodies, [
    {
      ...common,
      system: 'Tell what happened.',
      messages: [
        { role: 'user', content: [text(prose(1))] },
        { role: 'assistant', content: [text(CALLED)] },
        { role: 'user', content: [text(RESULT), text(DEFAULT_DIRECTIVE)] },
      ],
    },
    {
      ...common,
      system: `Tell what happened.\n\n${PREVIOUS}`,
      messages: [
        { role: 'user', content: [text('[The excerpt begins with an answer; what it answers is not shown.]')] },
        { role: 'assistant', content: [text(prose(4))] },
        { role: 'user', content: [text(prose(5))] },
        { role: 'assistant', content: [text(prose(6))] },
        { role: 'user', content: [text(DEFAULT_DIRECTIVE)] },
      ],
    },
  ]);
  assert.equal(report.result, 'compacted');
});

test('M2, M4: the requests of a two-chunk compaction in the form of chat completions', async (t) => {
  const { bodies, report } = await compactWith(t, 'openai-compatible');
  const common = {
    model: 'test-model',
    max_tokens: 512,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  };
  assert.deepEqual(bodies, [
    {
      ...common,
      messages: [
        { role: 'system', content: 'Tell what happened.' },
        { role: 'user', content: prose(1) },
        { role: 'assistant', content: CALLED },
        { role: 'user', content: RESULT },
        { role: 'user', content: DEFAULT_DIRECTIVE },
      ],
    },
    {
      ...common,
      messages: [
        { role: 'system', content: 'Tell what happened.' },
        { role: 'system', content: PREVIOUS },
        { role: 'assistant', content: prose(4) },
        { role: 'user', content: prose(5) },
        { role: 'assistant', content: prose(6) },
        { role: 'user', content: DEFAULT_DIRECTIVE },
      ],
    },
  ]);
  assert.equal(report.result, 'compacted');
});
