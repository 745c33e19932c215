import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { claudeStream } from '../../../../src/adapters/transcript/agent-streams/claude.ts';
import { detectFormat } from '../../../../src/adapters/transcript/detect.ts';
import {
  benchWith,
  compactLog,
  decodeAll,
  type Fields,
  FIXTURES,
  fixtureNames,
  NAME,
  parseLog,
  readFixture,
  textAt,
} from './logs.ts';

const FORMAT = 'claude-stream';

async function formatOf(sample: readonly Fields[]): Promise<string | null> {
  const found = await detectFormat(sample);
  return found.kind === 'found' ? found.codec.format.name : null;
}

const said = (type: string, content: Fields[string], more: Fields = {}): Fields => ({
  type,
  message: { role: type, content },
  parent_tool_use_id: null,
  session_id: 's',
  ...more,
});

suite('a log of stream-json', () => {
  test('and a session of Claude Code are told apart, from the first record on', async () => {
    for (const format of [FORMAT, 'claude-code']) {
      for (const name of fixtureNames(format)) {
        const records = readFixture(format, name);
        assert.equal(await formatOf(records.slice(0, 50)), format, name);
        const first = records.find(({ type }) => type === 'user' || type === 'assistant');
        if (first !== undefined) assert.equal(await formatOf([first]), format, name);
      }
    }
  });

  test('is not any log whose records have a session_id', async () => {
    assert.equal(await formatOf([{ session_id: 's', level: 'info', type: 'log' }]), null);
    assert.notEqual(await formatOf([{ type: 'user', session_id: 's', role: 'user', content: 'x' }]), FORMAT);
  });

  test('keeps the first beginning, the latest beginning and the last result of each conversation', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'several-runs-and-stderr.jsonl')));
    const before = readFixture(FORMAT, 'several-runs-and-stderr.jsonl');
    const after = await compactLog(bench, 1);
    const marks = (records: readonly Fields[]): readonly string[] =>
      records.flatMap((record) =>
        record['subtype'] === 'init' || record['type'] === 'result' ? [textAt(record, 'uuid')] : [],
      );
    const [initA = '', , initB = '', resultB = '', laterA = '', resultA = ''] = marks(before);
    assert.deepEqual(marks(after), [initA, initB, resultB, laterA, resultA]);
    assert.deepEqual(after.at(-1), before.at(-1));
  });

  test('has a synthetic user message of the same session as its summary', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'run.jsonl')));
    const [init, summary, ...kept] = await compactLog(bench, 3);
    const before = readFixture(FORMAT, 'run.jsonl');
    assert.deepEqual(init, before[0]);
    assert.ok(summary !== undefined);
    const { uuid, message, timestamp, ...rest } = summary;
    assert.match(JSON.stringify(uuid), /^"[\da-f-]{36}"$/);
    assert.match(JSON.stringify(timestamp), /^"2031-/);
    assert.match(JSON.stringify(message), /^\{"role":"user","content":"\[Context Summary — 2\d messages/);
    assert.deepEqual(rest, {
      type: 'user',
      parent_tool_use_id: null,
      session_id: before[0]?.['session_id'],
      isSynthetic: true,
    });
    assert.deepEqual(kept, before.slice(-kept.length));
  });

  test('keeps the pieces of an answer that stays, and drops those of an answer that leaves', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'cut-off-with-partial-messages.jsonl')));
    const after = await compactLog(bench, 7);
    const starts = after.flatMap(({ event }) => {
      const { type, message } = Object(event);
      return type === 'message_start' ? [message.id] : [];
    });
    assert.deepEqual(starts, ['msg_s2', 'msg_s3'], 'the third answer was never finished');
    const before = readFixture(FORMAT, 'cut-off-with-partial-messages.jsonl');
    const from = before.findIndex(({ event }) => Object(event).message?.id === 'msg_s2');
    const pieces = (records: readonly Fields[]): number => records.filter(({ type }) => type === 'stream_event').length;
    assert.equal(pieces(after), pieces(before.slice(from)));
  });

  test('is compacted even if it holds the same run twice, with all its ids', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'same-run-twice.jsonl')));
    const after = await compactLog(bench, 3);
    assert.ok(after.length < 12, `${after.length} records`);
  });

  test('treats a summary in the middle as a message', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'run.jsonl')));
    await compactLog(bench, 3);
    const log = parseLog(bench.read(NAME).toString('utf8'));
    const isSummary = (record: Fields): boolean => record['isSynthetic'] === true;
    const read = decodeAll(claudeStream, [...log, ...log]).filter((_, index) =>
      isSummary(log[index % log.length] ?? {}),
    );
    assert.deepEqual(
      read.map(({ kind, message }) => [kind, message?.role, message?.isSummary]),
      [
        ['summary', 'system', undefined],
        ['message', 'user', true],
      ],
    );
  });
});

suite('what a person typed in a log of stream-json', () => {
  const typedIn = (record: Fields): string | undefined => {
    const [decoded] = decodeAll(claudeStream, [record]);
    assert.equal(decoded?.isPrompt === true, decoded?.message?.typed !== undefined);
    return decoded?.message?.typed;
  };

  test('is the text of a user record, also of one that is replayed', () => {
    assert.equal(typedIn(said('user', 'Trim the jib.', { isReplay: true })), 'Trim the jib.');
    assert.equal(typedIn(said('user', [{ type: 'text', text: 'Trim the jib.' }])), 'Trim the jib.');
  });

  test('is nothing that the program or a model wrote', () => {
    assert.equal(typedIn(said('user', 'Trim the jib.', { isSynthetic: true })), undefined);
    assert.equal(typedIn(said('user', 'Trim the jib.', { parent_tool_use_id: 'toolu_1' })), undefined);
    assert.equal(typedIn(said('user', '<local-command-stdout>Compacted</local-command-stdout>')), undefined);
    assert.equal(typedIn(said('user', [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }])), undefined);
    assert.equal(typedIn(said('assistant', [{ type: 'text', text: 'Trim the jib.' }])), undefined);
  });
});

test("a call of Cursor's agent and its result are one group, with the words of both", () => {
  const records = readFixture(FORMAT, 'cursor-tool-calls.jsonl').filter(({ call_id: id }) => id === 'call_2');
  const [call, result] = decodeAll(claudeStream, records);
  assert.deepEqual(call?.calls, ['call_2']);
  assert.deepEqual(result?.results, ['call_2']);
  assert.equal(call?.message?.content, 'readToolCall {"path":"src/part-2.ts"}');
  assert.deepEqual(result?.message?.parts, [
    { kind: 'result', callId: 'call_2', text: '{"error":{"errorMessage":"no such file"}}', isError: true },
  ]);
});

test('a user or assistant record without content is a problem with its reason', () => {
  const session = claudeStream.open();
  const records: readonly Fields[] = [
    { type: 'user', session_id: 's' },
    { type: 'assistant', session_id: 's', message: { content: 7 } },
    { type: 'tool_call', session_id: 's', call_id: 'a' },
  ];
  const problems = records.map((record) => session.observe(record, 1));
  assert.deepEqual(problems, [
    { problem: 'a user record without a message' },
    { problem: "an assistant record whose message's content is neither text nor a list" },
    { problem: 'a tool_call record without a call_id or a call' },
  ]);
});
