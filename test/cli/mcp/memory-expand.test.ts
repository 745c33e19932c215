import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import type { MessageShown } from '../../../src/app/contract/archive-reports.ts';
import {
  answerSummary,
  type Cursor,
  FIRST,
  formatCursor,
  type Page,
  parseCursor,
  readPage,
} from '../../../src/cli/mcp/memory-expand.ts';
import { MAX_ANSWER_CHARS, takeChars } from '../../../src/cli/mcp/tool.ts';
import type { UseCases } from '../../../src/compose/use-cases.ts';
import { ok } from '../../../src/core/result.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, callTools, textOf, type ToolResult } from '../../support/mcp.ts';
import { runHere, jsonLines } from '../../support/program.ts';
import { shownBatch, shownCompaction, shownMessage } from '../archive-reports.ts';
import { runsOf } from '../../support/runs.ts';

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
  return jsonLines(text).map(
    ({ content, tool_calls: calls }) => content ?? `${calls[0].function.name} ${calls[0].function.arguments}`,
  );
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
  assert.equal(all.length, 61);
});

test('the key of a clip-archive leads to all that left the transcript', async (t) => {
  const { args, file, text } = await scene(t);
  const [, key = ''] = /\[Archive: ([0-9a-f]+) /.exec(readFileSync(file, 'utf8')) ?? [];
  const all = await expandAll(args, { label: key });
  assert.deepEqual(all, contentsOf(text).slice(0, all.length));
  const summaries = dataOf(await callTool(args, 'memory_expand', { label: key, what: 'summary' })).summaries;
  assert.deepEqual(
    summaries.map(({ messages, depth }: Readonly<Record<string, unknown>>) => [messages, depth]),
    [[61, 0]],
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

/** An archive with these lines behind every name. */
function archiveWith(lines: readonly MessageShown[]): Pick<UseCases, 'showOriginals'> {
  return {
    showOriginals: async (_request, onLine) => {
      let told = 0;
      for (const line of lines) {
        told += 1;
        if (!(await onLine({ bytes: new Uint8Array(), report: async () => line }))) break;
      }
      return ok(told);
    },
  };
}

async function pageOf(lines: readonly MessageShown[], cursor: Cursor = FIRST): Promise<Page> {
  const page = await readPage(archiveWith(lines), 'any', { cursor });
  assert.ok(page.ok);
  return page.value;
}

async function allPages(lines: readonly MessageShown[]): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let cursor: Cursor | null = FIRST;
  while (cursor !== null) {
    const page: Page = await pageOf(lines, cursor);
    pages.push(page);
    cursor = page.next;
  }
  return pages;
}

function saying(...texts: readonly string[]): readonly MessageShown[] {
  return texts.map((text, at) => shownMessage({ show: `message:${at}`, text }));
}

const lengths = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 60_000 }));
const texts = fc.array(
  lengths.map((length) => 'a😀b'.repeat(Math.ceil(length / 4)).slice(0, length)),
  { maxLength: 40 },
);

test('the pages of any messages give all that they say, once, and none is too long', async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (said) => {
      const pages = await allPages(saying(...said));
      const read = said.map(() => '');
      for (const { message, text } of pages.flatMap(({ messages }) => messages)) {
        read[Number(message.show.slice('message:'.length))] += text;
      }
      assert.deepEqual(read, said);
      for (const { messages } of pages) {
        assert.ok(messages.reduce((sum, { text }) => sum + text.length, 0) <= MAX_ANSWER_CHARS);
        assert.ok(messages.length <= MAX_ANSWER_CHARS / 200);
      }
    }),
    { numRuns: runsOf(50) },
  );
});

test('a message that is too long for a page comes in pieces that say so', async () => {
  const [first, second] = await allPages(saying('x'.repeat(30_000)));
  assert.deepEqual(first?.messages[0]?.piece, { from: 0, to: 19_800, of: 30_000 });
  assert.deepEqual(first?.next, { line: 0, char: 19_800 });
  assert.deepEqual(second?.messages[0]?.piece, { from: 19_800, to: 30_000, of: 30_000 });
});

test('a message that is too long for what is left of a page begins the next one', async () => {
  const [first, second] = await allPages(saying('x'.repeat(19_000), 'y'.repeat(5000)));
  assert.deepEqual(first?.next, { line: 1, char: 0 });
  assert.deepEqual(
    second?.messages.map(({ text, piece }) => [text.length, piece]),
    [[5000, null]],
  );
});

test('lines in which nobody says anything are passed over and counted', async () => {
  const lines = [shownMessage({ role: null }), ...saying('hello'), shownMessage({ role: null })];
  const { messages, skippedLines, next } = await pageOf(lines);
  assert.deepEqual([messages.map(({ text }) => text), skippedLines, next], [['hello'], 2, null]);
});

test('a cursor behind the end gives an empty page', async () => {
  const { messages, next } = await pageOf(saying('hello'), { line: 5, char: 7 });
  assert.deepEqual([messages, next], [[], null]);
  assert.deepEqual((await pageOf(saying('hello'), { line: 0, char: 99 })).messages[0]?.text, '');
});

test('a cursor is read as it was written, and nothing else is one', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (line, char) => {
      assert.deepEqual(parseCursor(formatCursor({ line, char })), { line, char });
    }),
  );
  for (const text of ['', '1', '1:', ':1', '-1:0', '1:2:3', ' 1:2', `1:${'9'.repeat(20)}`]) {
    assert.equal(parseCursor(text), null, text);
  }
});

test('a pair of units is never parted', () => {
  assert.equal(takeChars('ab😀c', 3), 'ab');
  assert.equal(takeChars('ab😀c', 4), 'ab😀');
  assert.equal(takeChars('ab😀', 9), 'ab😀');
});
