import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Archive } from '../../src/ports/archive.ts';
import { benchFor, createWorkbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');

type Conversation = Readonly<Record<string, unknown>>;

function read(format: string, name: string): Buffer {
  return readFileSync(join(FIXTURES, format, name));
}

function listOf(value: Conversation): readonly unknown[] {
  const list = value['messages'] ?? value['conversations'];
  return Array.isArray(list) ? list : [];
}

/** What a compacted value is beside its list, and the messages of its list that are new. */
function compare(before: Conversation, after: Conversation): { readonly sameAround: boolean; readonly added: number } {
  const emptied = (value: Conversation): string =>
    JSON.stringify(Object.entries(value).map(([key, one]) => (one === listOf(value) ? [key, []] : [key, one])));
  const old = new Set(listOf(before).map((message) => JSON.stringify(message)));
  return {
    sameAround: emptied(before) === emptied(after),
    added: listOf(after).filter((message) => !old.has(JSON.stringify(message))).length,
  };
}

test('lines that are too short stay as they are, and each other line gets a summary of its own', async (t) => {
  const bench = benchFor(t);
  const original = read('conversation-lines', 'short-and-long.jsonl');
  bench.write('a.jsonl', original);
  const done = await bench.compact('a.jsonl', { compaction: { keepRecent: 5, maxSummaryTokens: 120 } });
  assert.ok(done.ok && done.value.result === 'compacted');
  const lines = (bytes: Buffer): readonly string[] => bytes.toString().trimEnd().split('\n');
  const [before, after] = [lines(original), lines(bench.read('a.jsonl'))];
  assert.deepEqual(
    before.map((line, at) => line === after[at]),
    [true, false, true, false],
  );
  const values = (all: readonly string[]): readonly Conversation[] => all.map((line) => JSON.parse(line));
  const compared = values(before).map((value, at) => compare(value, values(after)[at] ?? {}));
  assert.deepEqual(
    compared,
    [0, 1, 0, 1].map((added) => ({ sameAround: true, added })),
  );
});

for (const [format, name] of [
  ['conversation-list', 'indented.json'],
  ['conversation-list', 'crlf.json'],
  ['conversation-list', 'empty-and-odd-elements.json'],
  ['conversation-document', 'anthropic-request.json'],
  ['conversation-document', 'list-before-the-rest.json'],
] as const) {
  test(`${format}/${name}: even where nothing but the last message stays, the result is JSON of the same shape`, async (t) => {
    const bench = benchFor(t);
    const original = read(format, name);
    bench.write('a.json', original);
    const done = await bench.compact('a.json', { compaction: { keepRecent: 0, maxSummaryTokens: 120 } });
    assert.ok(done.ok && done.value.result === 'compacted');
    const asList = (bytes: Buffer): readonly Conversation[] => [JSON.parse(bytes.toString())].flat();
    const after = asList(bench.read('a.json'));
    const compared = asList(original).flatMap((value, at) =>
      value instanceof Object ? [compare(value, after[at] ?? {})] : [],
    );
    assert.ok(compared.every(({ sameAround, added }) => sameAround && added <= 1));
    assert.ok(compared.some(({ added }) => added === 1));
  });
}

test('copies of one conversation are two conversations, also when they are compacted again', async (t) => {
  const bench = benchFor(t);
  const original = read('conversation-lines', 'the-same-twice.jsonl');
  bench.write('a.jsonl', original);
  const settings = { compaction: { keepRecent: 8, maxSummaryTokens: 120 } };
  const first = await bench.compact('a.jsonl', settings);
  const second = await bench.compact('a.jsonl', { compaction: { ...settings.compaction, keepRecent: 2 } });
  assert.ok(first.ok && second.ok);
  const ids = [first, second].map(({ value }) => value.conversations.map(({ id }) => id));
  assert.equal(new Set(ids[0]).size, 2);
  assert.equal(ids[1]?.length, 2);
  assert.deepEqual((await bench.verify('a.jsonl')).problems, []);
});

test('a problem in a document is reported with its line and column in the file', async (t) => {
  const bench = benchFor(t);
  bench.write(
    'a.json',
    Buffer.from('[\n {"messages": [\n  {"role": "user", "content": "x"},\n  {"role": user}\n ]}\n]\n'),
  );
  const done = await bench.compact('a.json', {});
  assert.ok(!done.ok && done.error.kind === 'bad-line');
  assert.deepEqual([done.error.line, done.error.column], [4, 12]);
});

test('a list among the messages is carried along, like anything else that is not a message', async (t) => {
  const bench = benchFor(t);
  const said = Array.from({ length: 12 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `The ${at}. reading of the river gauge was ${at * 31} centimeters. `.repeat(20),
  }));
  const messages = [...said.slice(0, 11), ['by hand', 1], ...said.slice(11)];
  bench.write('a.json', Buffer.from(JSON.stringify([['no conversation'], { messages }, [[]]])));
  const done = await bench.compact('a.json', { compaction: { keepRecent: 2, maxSummaryTokens: 120 } });
  assert.ok(done.ok && done.value.result === 'compacted');
  const after: readonly unknown[] = JSON.parse(bench.read('a.json').toString());
  assert.deepEqual([after[0], after[2]], [['no conversation'], [[]]]);
  assert.deepEqual((await bench.verify('a.json')).problems, []);
});

test('if one conversation is too short and another gains nothing, the second reason is reported', async (t) => {
  const bench = benchFor(t);
  const talk = (count: number): string =>
    JSON.stringify({ messages: Array.from({ length: count }, (_, at) => ({ role: 'user', content: `no ${at}` })) });
  bench.write('a.jsonl', Buffer.from(`${talk(2)}\n${talk(8)}\n`));
  const done = await bench.compact('a.jsonl', { compaction: { keepRecent: 2 } });
  assert.ok(done.ok);
  assert.equal(done.value.reason, 'nothing-gained');
});

test('conversations of one id get ids of their own, also beside one that has such an id by itself', async (t) => {
  const bench = benchFor(t);
  const messages = Array.from({ length: 12 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Cask ${at} was rolled into the cellar and chalked with its year. `.repeat(20),
  }));
  const line = (id: string): string => `${JSON.stringify({ id, messages })}\n`;
  bench.write('a.jsonl', Buffer.from(['a', 'a', 'a#2', 'a'].map(line).join('')));
  const done = await bench.compact('a.jsonl', { compaction: { keepRecent: 2, maxSummaryTokens: 120 } });
  assert.ok(done.ok);
  assert.deepEqual(
    done.value.conversations.map(({ id }) => id),
    ['a', 'a#2', 'a#2#2', 'a#3'],
  );
});

test('a conversation that appears many times in a file is looked up in the archive once', async (t) => {
  const lookups = async (copies: number): Promise<readonly number[]> => {
    const counted: string[] = [];
    const plain = benchFor(t);
    const stored = plain.archive();
    const archive: Archive = {
      ...stored,
      findCycles: (clipSha256) => {
        counted.push(clipSha256);
        return stored.findCycles(clipSha256);
      },
    };
    const bench = createWorkbench({ openArchive: async () => ({ ok: true, value: archive }) }, plain.folder);
    const [line = ''] = read('conversation-lines', 'the-same-twice.jsonl').toString().split('\n');
    const original = `${line}\n`.repeat(copies);
    bench.write('a.jsonl', original);
    const counts: number[] = [];
    for (const keepRecent of [3, 1]) {
      const done = await bench.compact('a.jsonl', { compaction: { keepRecent, maxSummaryTokens: 120 } });
      assert.ok(done.ok && done.value.result === 'compacted');
      assert.deepEqual((await bench.verify('a.jsonl')).problems, []);
      assert.equal((await bench.restore('a.jsonl')).toString(), original);
      counts.push(counted.splice(0).length);
    }
    return counts;
  };
  assert.deepEqual(await lookups(9), await lookups(2));
});

test('what is left of lines may be one JSON value: what they were before is read as lines still', async (t) => {
  const bench = benchFor(t);
  const [, long = ''] = read('conversation-lines', 'short-and-long.jsonl').toString().split('\n');
  const original = Buffer.from(`{"id":"torn\n${long}\n`);
  bench.write('a.jsonl', original);
  const done = await bench.compact('a.jsonl', {
    keepInvalid: true,
    compaction: { keepRecent: 4, maxSummaryTokens: 120 },
  });
  assert.ok(done.ok && done.value.result === 'compacted');
  assert.equal(bench.read('a.jsonl').toString().split('\n').length, 2);
  assert.deepEqual((await bench.verify('a.jsonl')).problems, []);
  assert.deepEqual(await bench.restore('a.jsonl'), original);
});
