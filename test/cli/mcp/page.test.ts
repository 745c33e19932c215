import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { MessageShown } from '../../../src/app/contract/archive-reports.ts';
import {
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
import { shownMessage } from '../archive-reports.ts';

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
    { numRuns: 50 },
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
