import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { answerSummary, FIRST } from '../../../src/cli/mcp/memory-expand.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, callTools, textOf, type ToolResult } from '../../support/mcp.ts';
import { runHere } from '../../support/program.ts';
import { shownBatch, shownCompaction } from '../archive-reports.ts';

const BOAT = chatLine({ role: 'user', id: 'boat', content: 'the wooden boat\n\tlies at \u001b[1mpier nine' });

type Scene = { readonly args: readonly string[]; readonly file: string; readonly text: string };

/** A conversation that was compacted in place, with its archive. */
async function scene(t: TestContext, text = `${BOAT}\n${chatTranscript(30)}`): Promise<Scene> {
  const folder = folderWith(t, { 'talk.jsonl': text });
  const file = join(folder, 'talk.jsonl');
  const args = ['--archive', join(folder, 'archive.db')];
  const { code, stderr } = await runHere(['-i', ...args, '--conversation', 'harbor', file]);
  assert.equal(code, 0, stderr);
  return { args, file, text };
}

function dataOf({ structuredContent, content }: ToolResult) {
  assert.ok(structuredContent, JSON.stringify(content));
  return Object(structuredContent);
}

/** All messages behind a name, page after page. */
async function expandAll(
  args: readonly string[],
  given: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const result = await callTool(args, 'memory_expand', { ...given, ...(cursor === undefined ? {} : { cursor }) });
    const { messages, next_cursor: next } = dataOf(result);
    for (const { text, piece } of messages) {
      if (piece === undefined || piece.from === 0) texts.push(text);
      else texts.push(`${texts.pop()}${text}`);
    }
    cursor = next;
  }
  return texts;
}

/** What the messages of a chat transcript say, as search and memory have it. */
function contentsOf(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ content, tool_calls: calls }) => content ?? `${calls[0].function.name} ${calls[0].function.arguments}`);
}

test('a message is given word for word, and as text that no terminal obeys', async (t) => {
  const { args, file } = await scene(t);
  const [byId, byNumber] = await callTools(
    args,
    ['memory_expand', { id: 'boat' }],
    ['memory_expand', { id: 'message:1' }],
  );
  assert.ok(byId);
  assert.deepEqual(byNumber, byId);
  assert.deepEqual(byId.structuredContent, {
    kind: 'message',
    show: 'message:1',
    file,
    messages: [
      {
        show: 'message:1',
        id: 'boat',
        role: 'user',
        name: null,
        at: null,
        index: 1,
        line: 1,
        text: 'the wooden boat\n\tlies at \u001b[1mpier nine',
      },
    ],
    next_cursor: null,
    hint: 'That is the end.',
  });
  assert.equal(
    textOf(byId),
    `message:1, from ${file}

[message:1: user, message 1, id boat]
the wooden boat
    lies at \\x1b[1mpier nine

That is the end.`,
  );
});

test('behind the label of a summary are all its messages, in pages', async (t) => {
  const { args, text } = await scene(t);
  const { label, messages, next_cursor: next } = dataOf(await callTool(args, 'memory_expand', { id: 'batch:1' }));
  assert.notEqual(next, null);
  assert.ok(messages.length > 5);
  const all = await expandAll(args, { label });
  assert.deepEqual(all, contentsOf(text).slice(0, all.length));
  assert.equal(all.length, 73);
});

test('the key of a clip-archive leads to all that left the transcript', async (t) => {
  const { args, file, text } = await scene(t);
  const [, key = ''] = /\[Archive: ([0-9a-f]+) /.exec(readFileSync(file, 'utf8')) ?? [];
  const all = await expandAll(args, { label: key });
  assert.deepEqual(all, contentsOf(text).slice(0, all.length));
  const summaries = dataOf(await callTool(args, 'memory_expand', { label: key, what: 'summary' })).summaries;
  assert.deepEqual(
    summaries.map(({ messages, depth }: Readonly<Record<string, unknown>>) => [messages, depth]),
    [[73, 0]],
  );
});

test('a message of any length comes in pieces', async (t) => {
  const long = `begin ${'wooden 😀 '.repeat(6000)}end`;
  const { args } = await scene(t, `${chatLine({ role: 'user', id: 'long', content: long })}\n${chatTranscript(40)}`);
  const first = await callTool(args, 'memory_expand', { id: 'long' });
  assert.ok(textOf(first).length < 21_000);
  assert.match(textOf(first), /characters 1 to 19800 of 60009\]\nbegin wooden/);
  assert.match(textOf(first), /There is more: repeat the call with cursor "0:19800"\.$/);
  assert.deepEqual(await expandAll(args, { id: 'long' }), [long]);
});

test('the text of a summary itself is given in pages too', () => {
  const text = `begin ${'wooden 😀 '.repeat(3000)}end`;
  const first = answerSummary(shownBatch({ text }), FIRST);
  const { text: begun, next_cursor: next, kind } = Object(first.data);
  assert.deepEqual([kind, next], ['summary', '0:20000']);
  const rest = answerSummary(shownBatch({ text }), { line: 0, char: 20_000 });
  assert.equal(begun + Object(rest.data).text, text);
  assert.equal(rest.data['next_cursor'], null);
  assert.match(
    rest.text,
    /^batch:2, a summary of 57 messages; conversation c1, from \/logs\/talk\.jsonl\nlabel .*end\n\nThat is the end\.$/s,
  );
});

test('of very many summaries behind a key the first are named', () => {
  const batches = Array.from({ length: 60 }, (_, at) => ({
    label: `b${at}`,
    depth: 0,
    start: null,
    end: null,
    count: 3,
  }));
  const { data, text } = answerSummary(shownCompaction({ batches }), FIRST);
  assert.equal(Object(data).summaries.length, 50);
  assert.ok(text.endsWith('gives its messages. 10 more: memory_read finds them by their words.'));
});

test('a name that cannot be expanded is reported, with what to try', async (t) => {
  const { args } = await scene(t);
  const cases = [
    [{ label: 'zeppelin' }, /^zeppelin: not in the archive/],
    [{ label: 'compaction-batch-harb' }, null],
    [{ id: 'message:999' }, /^message:999: not in the archive/],
    [{}, /^Give either a label or an id/],
    [{ label: 'a', id: 'b' }, /^Give either a label or an id/],
    [{ label: '' }, /label: /],
    [{ id: 'boat', cursor: 'page 2' }, /^'page 2' is not a cursor/],
    [{ id: 'boat', what: 'summary' }, /^That is a message, not a summary/],
    [{ id: '\0' }, /not in the archive/],
    [{ id: '\ud800' }, /not in the archive/],
  ] as const;
  const results = await callTools(args, ...cases.map(([given]) => ['memory_expand', given] as const));
  for (const [at, [given, expected]] of cases.entries()) {
    const result = results[at];
    assert.ok(result);
    if (expected === null) assert.equal(result.isError, undefined);
    else {
      assert.equal(result.isError, true, JSON.stringify(given));
      assert.match(textOf(result), expected);
    }
  }
});

test('a missing archive is reported', async () => {
  const result = await callTool(['--archive', '/nowhere/archive.db'], 'memory_expand', { id: 'boat' });
  assert.equal(result.isError, true);
  assert.match(textOf(result), /there is none yet/);
});
