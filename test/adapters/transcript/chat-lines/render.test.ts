import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { chatLines } from '../../../../src/adapters/transcript/chat-lines/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { CLIP, fixtureRecords, mustDecode, readRecords, rendered } from './sessions.ts';

const UUID = 'uuid of summary';
const PLAIN = { role: 'system', content: CLIP };

/** Messages that have more than role and content. */
function rows(...records: readonly { readonly [key: string]: Json }[]): readonly Json[] {
  return records.map((record, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: 'x', ...record }));
}

suite('the line of a summary', () => {
  test("is a system's message in files of OpenAI and of Kimi", () => {
    assert.deepEqual(rendered(fixtureRecords('conversation.jsonl')), PLAIN);
    assert.deepEqual(rendered(fixtureRecords('kimi-context.jsonl')), PLAIN);
  });

  test("is a user's message in files of Anthropic's blocks", () => {
    assert.deepEqual(rendered(fixtureRecords('anthropic-blocks.jsonl')), { role: 'user', content: CLIP });
  });

  test('follows what most lines of the file are, not its first or its last', () => {
    const block = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] };
    const answer = { role: 'tool', tool_call_id: 'a', content: 'x' };
    assert.deepEqual(rendered([block, answer, answer, block, answer]), PLAIN);
    assert.deepEqual(rendered([answer, block, block]), { role: 'user', content: CLIP });
  });

  test('is read back as the summary, in every dialect', () => {
    const names = [
      'conversation',
      'kimi-context',
      'anthropic-blocks',
      'two-conversations',
      'ids-and-epoch-seconds',
      'crlf',
    ];
    for (const name of names) {
      const line = rendered(fixtureRecords(`${name}.jsonl`));
      const { kind, message } = mustDecode(chatLines.open(), line, 1);
      assert.deepEqual([kind, message?.role, message?.content], ['summary', 'system', CLIP], name);
    }
  });

  test('has line separators of Unicode as escapes, for readers that split at them', () => {
    const { session } = readRecords({ role: 'user', content: 'x' });
    const [line = ''] = session.renderSummary({
      text: 'a\u2028b\u2029c\u0085d\ud83d',
      conversationId: '',
      firstKept: null,
      lastDropped: null,
      lastKeptId: null,
      tokensBefore: 0,
      quotesTools: false,
      uuid: () => UUID,
    });
    assert.equal(line, '{"role":"system","content":"a\\u2028b\\u2029c\\u0085d\\ud83d"}');
  });

  test('has an id and a time only where every message has them', () => {
    const all = rows({ id: 'a-1', timestamp: 1 }, { id: 'a-2', timestamp: 2 });
    assert.deepEqual(Object.keys(Object(rendered(all))), ['role', 'content', 'id', 'timestamp']);
    const some = rows({ id: 'a-1', timestamp: 1 }, { id: 'a-2' });
    assert.deepEqual(Object.keys(Object(rendered(some))), ['role', 'content', 'id']);
  });

  test('does without what an instruction at the head lacks: only messages count', () => {
    const file = [{ role: 'system', content: 'Be brief.' }, ...rows({ timestamp: 1 }, { timestamp: 2 })];
    assert.deepEqual(rendered(file), { ...PLAIN, timestamp: 1 });
  });

  test('has its content right after its role where the first kept record has none', () => {
    const file = [
      { id: 'a', role: 'user', content: 'x', created_at: 1 },
      { id: 'b', role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '' } }], created_at: 2 },
    ];
    assert.deepEqual(Object.keys(Object(rendered(file))), ['id', 'role', 'content', 'created_at']);
  });
});

suite('the row of a summary', () => {
  test('has a fresh uuid, its conversation, the time of the last row that left, and no other columns', () => {
    const file = fixtureRecords('two-conversations.jsonl');
    const own = file.filter((record) => Object(record).conversation_id === Object(file[0]).conversation_id);
    const [dropped, kept] = [own.at(-3), own.at(-2)].map(Object);
    const row = rendered(file, { firstKept: kept, lastDropped: dropped });
    assert.deepEqual(row, {
      id: UUID,
      conversation_id: kept.conversation_id,
      role: 'system',
      content: CLIP,
      created_at: dropped.created_at,
    });
    assert.deepEqual(Object.keys(row), ['id', 'conversation_id', 'role', 'content', 'created_at']);
  });

  test("is a system's even where calls are blocks", () => {
    const block = [{ type: 'tool_use', id: 'a', name: 'f', input: {} }];
    const file = rows({ conversation_id: 'c' }, { conversation_id: 'c', content: block });
    assert.equal(Object(rendered(file)).role, 'system');
  });

  const at = (...times: readonly Json[]): readonly Json[] =>
    rows(...times.map((time) => ({ conversation_id: 1, created_at: time })));
  const timeOf = (file: readonly Json[], kept = 1): unknown => Object(rendered(file, {}, kept)).created_at;

  test('is never later than the first row that stays', () => {
    assert.equal(timeOf(at('2031-01-01T10:00:09Z', '2031-01-01T10:00:05Z')), '2031-01-01T10:00:05Z');
    assert.equal(timeOf(at('2031-01-01T12:00:00+02:00', '2031-01-01T10:30:00Z')), '2031-01-01T12:00:00+02:00');
  });

  test('is never later than an instruction that stays between the rows', () => {
    const late = { role: 'system', content: 'UTC!', conversation_id: 1, created_at: 2000000005 };
    const [first = null, ...rest] = at(2000000000, 2000000010, 2000000020);
    assert.equal(timeOf([first, late, ...rest]), 2000000005);
  });

  test('has its time as the rows have theirs', () => {
    assert.equal(timeOf(at(1930000000.25, 1930000001)), 1930000000.25);
    assert.equal(timeOf(at('2031-01-01 10:00:00+00', '2031-01-01 10:00:01+00')), '2031-01-01 10:00:00+00');
    assert.equal(timeOf(at(1930000000, '2031-01-01T10:00:01Z')), '2031-01-01T10:00:01Z');
  });

  test('has the time of the first row that stays where nobody can read them', () => {
    assert.equal(timeOf(at('Monday', 'Tuesday')), 'Tuesday');
  });

  test('has the time of the last row that left where none stays', () => {
    const file = at(1, 2);
    assert.equal(Object(rendered(file, { firstKept: null, lastDropped: file[1] ?? null })).created_at, 2);
  });

  const idOf = (...ids: readonly Json[]): unknown => Object(rendered(rows(...ids.map((id) => ({ id }))))).id;

  test('has an id of the kind that the rows have', () => {
    assert.equal(idOf('msg_001', 'msg_002'), `msg_${UUID}`);
    assert.equal(idOf('Zk3', 'Zk4'), UUID);
    assert.equal(idOf('0B8C1F52-6A7E-4D7E-9A51-2F1F0C6F7A01', '0B8C1F52-6A7E-4D7E-9A51-2F1F0C6F7A02'), UUID);
  });

  test('has the number of the last row that left where rows are numbered: it is free', () => {
    assert.equal(idOf(16, 17, 18), 17);
  });

  test('keeps the kind of a conversation id', () => {
    assert.equal(Object(rendered(at(1, 2))).conversation_id, 1);
  });
});
