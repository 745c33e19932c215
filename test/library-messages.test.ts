import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { compactMessages, restoreMessages, searchArchive } from '../src/index.ts';
import { folderWith } from './support/folders.ts';

type Any = { readonly [key: string]: unknown };

const words = (at: number): string => `Hall ${at}: the pump delivers ${at * 7} liters per hour. `.repeat(20);

/** Turns of a user, a call, its result and an answer, as each API has them. */
const KINDS: { readonly [kind: string]: (at: number) => readonly Any[] } = {
  openai: (at) => [
    { role: 'user', content: `Question ${at}. ${words(at)}` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'look', arguments: `{"hall":${at}}` } }],
    },
    { role: 'tool', tool_call_id: `c${at}`, content: words(at) },
    { role: 'assistant', content: `Answer ${at}. ${words(at)}` },
  ],
  anthropic: (at) => [
    { role: 'user', content: `Question ${at}. ${words(at)}` },
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${at}`, name: 'look', input: { hall: at } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${at}`, content: words(at) }] },
    { role: 'assistant', content: [{ type: 'text', text: `Answer ${at}. ${words(at)}` }] },
  ],
  'ai-sdk': (at) => [
    { role: 'user', content: [{ type: 'text', text: `Question ${at}. ${words(at)}` }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `c${at}`, toolName: 'look', input: { hall: at } }],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: `c${at}`, toolName: 'look', output: { type: 'text', value: words(at) } },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: `Answer ${at}. ${words(at)}` }] },
  ],
  agents: (at) => [
    { type: 'message', role: 'user', content: `Question ${at}. ${words(at)}` },
    { type: 'function_call', callId: `c${at}`, name: 'look', arguments: `{"hall":${at}}`, status: 'completed' },
    {
      type: 'function_call_result',
      callId: `c${at}`,
      name: 'look',
      status: 'completed',
      output: { type: 'text', text: words(at) },
    },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: `Answer ${at}. ${words(at)}` }],
    },
  ],
  responses: (at) => [
    { role: 'user', content: [{ type: 'input_text', text: `Question ${at}. ${words(at)}` }], type: 'message' },
    { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: `{"hall":${at}}` },
    { type: 'function_call_output', call_id: `c${at}`, output: words(at) },
    { role: 'assistant', content: [{ type: 'output_text', text: `Answer ${at}. ${words(at)}` }], type: 'message' },
  ],
};

const turns = (make: (at: number) => readonly Any[], from: number, to: number): Any[] =>
  Array.from({ length: to - from }, (_, at) => make(from + at)).flat();

function archiveOf(t: TestContext): string {
  return join(folderWith(t, {}), 'archive.db');
}

/** The ids of calls and of results, wherever the API has them. */
function idsIn(messages: readonly Any[]): { readonly calls: readonly string[]; readonly results: readonly string[] } {
  const all = messages.map((message) => JSON.stringify(message));
  const idsOf = (isResult: boolean) =>
    all.flatMap((text) => (/result|_output"|"tool"/.test(text) === isResult ? (/"(c\d+)"/.exec(text)?.[1] ?? []) : []));
  return { calls: idsOf(false), results: idsOf(true) };
}

for (const [kind, make] of Object.entries(KINDS)) {
  test(`${kind}: kept messages are the same objects, pairs stay together, and nothing is lost over two compactions`, async (t) => {
    const archive = archiveOf(t);
    const given = turns(make, 0, 12);
    const first = await compactMessages(given, { archive, conversation: 'pumps' });
    assert.equal(first.result, 'compacted', JSON.stringify(first.error ?? first.report?.notes));
    assert.equal(first.messages[0], first.summary);
    const kept = first.messages.slice(1);
    assert.deepEqual(kept, given.slice(given.length - kept.length));
    for (const message of kept) assert.ok(given.includes(message));
    const { calls, results } = idsIn(kept);
    assert.deepEqual(calls, results);
    assert.equal(first.summary?.['role'], 'user');

    const more = [...first.messages, ...turns(make, 12, 20)];
    const second = await compactMessages(more, { archive, conversation: 'pumps' });
    assert.equal(second.result, 'compacted', JSON.stringify(second.error));
    assert.equal(second.report?.conversations[0]?.cycles, 2);
    assert.equal(second.messages.filter((message) => !more.includes(message)).length, 1);

    const found = await searchArchive('Hall 3 pump delivers 21 liters', { archive, kinds: 'messages', limit: 1 });
    assert.match((found.ok && found.value.hits[0]?.kind === 'message' && found.value.hits[0].text) || '', /Hall 3: /);
    const restored = await restoreMessages(second.messages, { archive });
    assert.equal(restored.result, 'restored', JSON.stringify(restored.error));
    assert.deepEqual(restored.messages, [...given, ...turns(make, 12, 20)]);
    assert.equal(restored.messages.at(-1), more.at(-1));
    const once = await restoreMessages(second.messages, { archive, all: false });
    assert.deepEqual(once.messages, more);
  });
}

test('a short history is left without reading or writing anything', async (t) => {
  const archive = archiveOf(t);
  const given = turns(KINDS['openai'] ?? (() => []), 0, 4);
  for (const messages of [given, []]) {
    const { result, messages: same, report } = await compactMessages(messages, { archive, ifOverTokens: 100_000 });
    assert.deepEqual([result, report], ['skipped', undefined]);
    assert.deepEqual(same, messages);
  }
  assert.equal(existsSync(archive), false);
});

test('text alone gives a summary that is a user message too, since some APIs know no system messages', async (t) => {
  const archive = archiveOf(t);
  const given = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: words(at),
  }));
  const { summary, messages } = await compactMessages(given, { archive });
  assert.equal(summary?.role, 'user');
  const again = await compactMessages([...messages, ...given], { archive });
  assert.deepEqual([again.result, again.report?.conversations[0]?.cycles], ['compacted', 2]);
});

test('binary content comes back as base64', async (t) => {
  const archive = archiveOf(t);
  const bytes = new Uint8Array([1, 2, 3]);
  const images = [bytes, bytes.buffer, new DataView(bytes.buffer)].map((image) => ({ type: 'image', image }));
  const image = { role: 'user', content: images };
  const { messages, result } = await compactMessages<Any>([image, ...turns(KINDS['ai-sdk'] ?? (() => []), 0, 12)], {
    archive,
  });
  assert.equal(result, 'compacted');
  const restored = await restoreMessages(messages, { archive });
  const text = { type: 'image', image: 'AQID' };
  assert.deepEqual(restored.messages[0], { role: 'user', content: [text, text, text] });
});

test('what JSON would lose is refused', async (t) => {
  const given = turns(KINDS['ai-sdk'] ?? (() => []), 0, 12);
  const picture = { role: 'user', content: [{ type: 'image', image: new Blob(['abc']) }] };
  const { result, messages, error } = await compactMessages<Any>([picture, ...given], { archive: archiveOf(t) });
  assert.deepEqual([result, messages.length, error?.kind], ['failed', given.length + 1, 'usage']);
  assert.match(error?.message ?? '', /^'image' in the messages is a Blob/);
});

test('a failure gives the messages back with the reason, and leaves no file behind', async (t) => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('compact-messages-'));
  const given = turns(KINDS['openai'] ?? (() => []), 0, 12);
  const archive = join(folderWith(t, { file: '' }), 'file', 'archive.db');
  const failed = await compactMessages(given, { archive });
  assert.deepEqual([failed.result, failed.messages], ['failed', given]);
  assert.ok((failed.error?.message ?? '').length > 0);
  const wrong = { keep: 3 } as object;
  assert.equal((await compactMessages(given, wrong)).error?.kind, 'usage');
  const choices = [{ kind: 'chat' }, { model: { name: 'm', provider: 'nobody' } }] as unknown as object[];
  for (const choice of choices) assert.equal((await compactMessages(given, choice)).error?.kind, 'usage');
  const none = undefined as unknown as Any[];
  for (const done of [await compactMessages(none), await restoreMessages(none)])
    assert.deepEqual([done.result, done.messages, done.error?.kind], ['failed', [], 'usage']);
  const uncompacted = await restoreMessages(given, { archive: archiveOf(t) });
  assert.deepEqual([uncompacted.result, uncompacted.messages], ['failed', given]);
  const loop: Any[] = [{ role: 'user', content: 'x' }];
  Object.assign(loop[0] ?? {}, { self: loop[0] });
  assert.equal((await compactMessages(loop, { archive })).error?.kind, 'bug');
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith('compact-messages-') && !before.includes(name)),
    [],
  );
});
