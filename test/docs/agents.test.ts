import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { searchArchive } from '../../src/index.ts';
import { folderWith } from '../support/folders.ts';

const EXAMPLES = join(import.meta.dirname, '../../fixtures/agents');
const HALLS = 30;

type Message = { readonly role: string; readonly content?: unknown; readonly [key: string]: unknown };
type Asked = { readonly messages: readonly Message[] };

/** What a model answers: it looks into the next hall until it has seen all of them, or after each question into the one that was asked about. */
type Answer = { readonly call: number } | { readonly text: string };

/** A model on loopback that speaks one of the APIs. `asked` has all requests. */
async function startModel(t: TestContext, answer: (body: Asked) => object) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Asked;
    asked.push(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { asked, url: `http://127.0.0.1:${port}` };
}

async function runExample(t: TestContext, name: string, baseUrl: string) {
  const archive = join(folderWith(t, {}), 'archive.db');
  const environment = { ...process.env, AI_SDK_LOG_WARNINGS: 'false' };
  const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, name), baseUrl, archive], {
    env: environment,
    timeout: 120_000,
  });
  return { stdout, archive };
}

/** The hall of the last result, or of the last question. */
function hallIn(message: Message | undefined): number {
  return Number(/[Hh]all (\d+)/.exec(JSON.stringify(message?.content))?.[1] ?? 0);
}

/** As OpenAI's chat completions. */
const completion =
  (next: (body: Asked) => Answer) =>
  (body: Asked): object => {
    const answered = next(body);
    const call = (hall: number) => ({
      id: `call-${hall}`,
      type: 'function',
      function: { name: 'look', arguments: JSON.stringify({ hall }) },
    });
    const message =
      'call' in answered
        ? { role: 'assistant', content: null, tool_calls: [call(answered.call)] }
        : { role: 'assistant', content: answered.text };
    const finish_reason = 'call' in answered ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason, logprobs: null }];
    return { id: 'x', object: 'chat.completion', created: 1, model: 'some-model', choices, usage };
  };

const nextHall = ({ messages }: Asked): Answer => {
  const seen = hallIn(messages.at(-1)?.role === 'user' && messages.length === 1 ? undefined : messages.at(-1));
  return seen < HALLS ? { call: seen + 1 } : { text: 'All halls are seen.' };
};

/** What the API of chat completions demands: each result follows the message that has its call. */
function checkChat({ messages }: Asked): void {
  let open: readonly string[] = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === 'tool') assert.ok(open.includes(String(tool_call_id)), JSON.stringify(messages).slice(0, 500));
    else open = ((tool_calls ?? []) as readonly { readonly id: string }[]).map(({ id }) => id);
  }
}

/** The requests became smaller at least twice, and what left them is found. */
async function checkSmall(asked: readonly Asked[], archive: string): Promise<void> {
  const sizes = asked.map((body) => JSON.stringify(body.messages).length);
  const shrunk = sizes.filter((size, at) => at > 0 && size < (sizes[at - 1] ?? 0));
  assert.ok(shrunk.length >= 2, sizes.join(' '));
  assert.ok(Math.max(...sizes) < 40_000, sizes.join(' '));
  const found = await searchArchive('hall 2 pump delivers 14 liters', {
    archive,
    kinds: 'messages',
    role: 'tool',
    limit: 1,
  });
  assert.match((found.ok && found.value.hits[0]?.kind === 'message' && found.value.hits[0].text) || '', /Hall 2: /);
}

test('each example has at most 40 lines', () => {
  for (const name of ['ai-sdk.js', 'anthropic.js', 'openai-agents.js'])
    assert.ok(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length <= 41, name);
});

test('an agent of the AI SDK goes on with compacted messages', async (t) => {
  const { asked, url } = await startModel(t, completion(nextHall));
  const { stdout, archive } = await runExample(t, 'ai-sdk.js', url);
  assert.equal(stdout, 'All halls are seen.\n');
  for (const body of asked) checkChat(body);
  await checkSmall(asked, archive);
});

test('a session of the OpenAI Agents SDK stays small over many turns', async (t) => {
  const next = ({ messages }: Asked): Answer => {
    const last = messages.at(-1);
    return last?.role === 'tool' ? { text: `Hall ${hallIn(last)} is seen.` } : { call: hallIn(last) };
  };
  const { asked, url } = await startModel(t, completion(next));
  const { stdout, archive } = await runExample(t, 'openai-agents.js', url);
  assert.equal(stdout, `Hall ${HALLS} is seen.\n`);
  for (const body of asked) checkChat(body);
  await checkSmall(asked, archive);
});

test("the tool runner of Anthropic's SDK goes on with compacted messages", async (t) => {
  const { asked, url } = await startModel(t, (body) => {
    const answered = nextHall(body);
    const content =
      'call' in answered
        ? [{ type: 'tool_use', id: `toolu_${answered.call}`, name: 'look', input: { hall: answered.call } }]
        : [{ type: 'text', text: answered.text }];
    const stop_reason = 'call' in answered ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    return { id: 'msg_1', type: 'message', role: 'assistant', model: 'some-model', content, stop_reason, usage };
  });
  const { stdout, archive } = await runExample(t, 'anthropic.js', url);
  assert.equal(stdout, 'All halls are seen.\n');
  for (const { messages } of asked) {
    assert.equal(messages[0]?.role, 'user');
    assert.ok(messages.every(({ role }) => role === 'user' || role === 'assistant'));
    for (const [at, message] of messages.entries()) {
      const used = /"tool_use_id":"(\w+)"/.exec(JSON.stringify(message))?.[1];
      if (used !== undefined) assert.match(JSON.stringify(messages[at - 1] ?? ''), new RegExp(`"id":"${used}"`));
    }
  }
  await checkSmall(asked, archive);
});
