import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatLine, chatTranscript, prose } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, callTools, converse, requestLine, textOf, type ToolResult } from '../../support/mcp.ts';
import { runHere } from '../../support/program.ts';

const BOAT = chatLine({
  role: 'user',
  id: 'boat',
  content: 'the wooden boat\nlies at pier nine',
  created_at: '2026-03-02T09:00:00Z',
});

type Hit = { readonly [field: string]: unknown };

function hitsOf({ structuredContent }: ToolResult): readonly Hit[] {
  return Object(structuredContent).hits;
}

/** An archive of a conversation that begins with these lines. */
async function archiveOf(
  t: TestContext,
  ...lines: readonly string[]
): Promise<{ readonly args: readonly string[]; readonly file: string }> {
  const folder = folderWith(t, { 'talk.jsonl': `${lines.join('\n')}\n${chatTranscript(40)}` });
  const file = join(folder, 'talk.jsonl');
  const args = ['--archive', join(folder, 'archive.db')];
  const { code, stderr } = await runHere(['-i', ...args, '--conversation', 'harbor', file]);
  assert.equal(code, 0, stderr);
  return { args, file };
}

test('an answer says what was said, by whom, when and where, as data and as text', async (t) => {
  const { args, file } = await archiveOf(t, BOAT);
  const result = await callTool(args, 'memory_read', { query: 'wooden', kind: 'messages', limit: 1 });
  const [{ label, ...hit } = {}] = hitsOf(result);
  assert.deepEqual(hit, {
    kind: 'message',
    show: 'message:1',
    id: 'boat',
    conversation: 'harbor',
    role: 'user',
    name: null,
    at: '2026-03-02T09:00:00.000Z',
    index: 1,
    file,
    text: 'the wooden boat lies at pier nine',
  });
  assert.equal(
    textOf(result),
    `message:1: user, 2026-03-02T09:00:00.000Z, message 1, conversation harbor, id boat
  label ${String(label)}
  from ${file}
  > the wooden boat lies at pier nine

memory_expand gives the exact words behind a label or an id.`,
  );
});

test('summaries are found too, with what they tell of', async (t) => {
  const { args } = await archiveOf(t, BOAT);
  const result = await callTool(args, 'memory_read', { query: 'parser', kind: 'summaries' });
  const { kind, show, conversation, messages, depth, text } = hitsOf(result)[0] ?? {};
  assert.deepEqual([kind, show, conversation, messages, depth], ['summary', 'batch:1', 'harbor', 85, 0]);
  assert.match(String(text), /parser/);
  assert.match(textOf(result), /^batch:1: summary of 85 messages, .*conversation harbor\n {2}label compaction-batch-/);
});

test('where nothing was archived yet that is an answer, and no archive is made', async (t) => {
  const archive = join(folderWith(t, {}), 'archive.db');
  const result = await callTool(['--archive', archive], 'memory_read', { query: 'boat' });
  const hint = `Nothing is archived yet: no transcript was compacted into ${archive}. Go on without the memory.`;
  assert.deepEqual(result, {
    content: [{ type: 'text', text: hint }],
    structuredContent: { hits: [], next_offset: null, hint },
  });
  assert.throws(() => readFileSync(archive), { code: 'ENOENT' });
});

test('that nothing was found is an answer with what to try', async (t) => {
  const { args } = await archiveOf(t, BOAT);
  const results = await callTools(
    args,
    ...['zeppelin', '', '"\'-*()', 'a NEAR b', '😀', '\0', 'x '.repeat(5000)].map(
      (query) => ['memory_read', { query, role: 'system' }] as const,
    ),
  );
  for (const result of results) assert.match(textOf(result), /^Nothing found\. Try other or fewer words/);
});

test('filters narrow it down', async (t) => {
  const { args, file } = await archiveOf(
    t,
    BOAT,
    chatLine({ role: 'assistant', id: 'answer', content: 'a wooden one, I see', created_at: '2026-03-05T12:00:00Z' }),
  );
  const idsFor = async (filter: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
    const result = await callTool(args, 'memory_read', { query: 'wooden', kind: 'messages', ...filter });
    // What stands beside a hit is found too, by its neighbor's words.
    return hitsOf(result).flatMap(({ id }) => (id === 'boat' || id === 'answer' ? [id] : []));
  };
  assert.deepEqual((await idsFor({})).toSorted(), ['answer', 'boat']);
  assert.deepEqual(await idsFor({ role: 'assistant' }), ['answer']);
  assert.deepEqual(await idsFor({ since: '2026-03-05' }), ['answer']);
  assert.deepEqual(await idsFor({ until: '2026-03-04' }), ['boat']);
  assert.deepEqual(await idsFor({ conversation: 'other' }), []);
  assert.equal((await idsFor({ source: file })).length, 2);
  assert.deepEqual(await idsFor({ source: 'other.jsonl' }), []);
});

test('a time that is none, and a role of summaries, are told', async () => {
  const args = ['--archive', '/nowhere/archive.db'];
  const [time, role] = await callTools(
    args,
    ['memory_read', { query: 'boat', since: 'tomorrow' }],
    ['memory_read', { query: 'boat', kind: 'summaries', role: 'user' }],
  );
  assert.deepEqual(time, {
    content: [
      {
        type: 'text',
        text: "since 'tomorrow': It must be a day (2026-03-02, yesterday), a time (2026-03-02T09:30Z) or an age (12h, 7d, 2w, 6mo, 1y).",
      },
    ],
    isError: true,
  });
  assert.deepEqual(role, {
    content: [{ type: 'text', text: 'Only messages have a role: leave out role, or search for messages.' }],
    isError: true,
  });
});

test('further answers come with the offset that the one before names, each once', async (t) => {
  const lines = Array.from({ length: 7 }, (_, at) =>
    chatLine({ role: 'user', id: `b${at}`, content: `a wooden boat, number ${at}` }),
  );
  const { args } = await archiveOf(t, ...lines);
  const seen: string[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const result: ToolResult = await callTool(args, 'memory_read', {
      query: 'wooden',
      kind: 'messages',
      limit: 3,
      offset,
    });
    seen.push(...hitsOf(result).map(({ id }) => String(id)));
    const { next_offset: next, hint } = Object(result.structuredContent);
    assert.equal(/with offset (\d+)\./.exec(hint)?.[1] ?? null, next === null ? null : String(next));
    offset = next;
  }
  assert.deepEqual(seen.toSorted(), ['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6']);
});

test('an answer that is too large is cut, and says how to get the rest', async (t) => {
  const lines = Array.from({ length: 60 }, (_, at) =>
    chatLine({ role: 'user', id: `b${at}`, content: `wooden ${prose(at, 100)}` }),
  );
  const { args } = await archiveOf(t, ...lines);
  const result = await callTool(args, 'memory_read', { query: 'wooden', kind: 'messages', limit: 50 });
  const { hits, next_offset: next } = Object(result.structuredContent);
  assert.ok(hits.length > 10 && hits.length < 50, String(hits.length));
  assert.equal(next, hits.length);
  assert.ok(textOf(result).length < 21_000);
  assert.ok(textOf(result).endsWith(`There are more: repeat the call with offset ${next}.`));
});

test('what a transcript calls its messages cannot make an answer large, nor reach a terminal', async (t) => {
  const id = `\u001b[2J${'i'.repeat(10_000)}`;
  const { args } = await archiveOf(t, chatLine({ role: 'user', id, content: 'the wooden boat \u202e\u2028 here' }));
  const result = await callTool(args, 'memory_read', { query: 'wooden', kind: 'messages', limit: 1 });
  assert.ok(JSON.stringify(result).length < 2500);
  assert.match(textOf(result), /id \\x1b\[2Ji{296}…\n/);
  for (const odd of ['\u001b', '\u202e', '\u2028']) assert.ok(!textOf(result).includes(odd));
});

test('a line of the output has no character that a terminal obeys, and none that ends it for some readers', async (t) => {
  const content = 'the wooden boat \u202e\u2028\u0085 here';
  const { args } = await archiveOf(t, chatLine({ role: 'user', id: 'odd', content }));
  const call = { name: 'memory_expand', arguments: { id: 'odd' } };
  const { stdout, answers } = await converse(args, requestLine(1, 'tools/call', call));
  assert.equal(Object(answers.get(1)?.result).structuredContent.messages[0].text, content);
  assert.doesNotMatch(stdout, /[\u202e\u2028\u0085]/);
});

test('an archive that cannot be read is told', async (t) => {
  const folder = folderWith(t, { 'archive.db': 'no database at all, but long enough to look at' });
  const result = await callTool(['--archive', join(folder, 'archive.db')], 'memory_read', { query: 'boat' });
  assert.equal(result.isError, true);
  assert.match(textOf(result), /archive\.db: not an archive of compact/);
});
