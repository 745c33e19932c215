import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { converse, requestLine } from '../../support/mcp.ts';
import { jsonLines } from '../../support/program.ts';

const MIB = 1024 * 1024;

type Said = { readonly answers: readonly unknown[]; readonly stderr: string; readonly code: unknown };

/** What a server says to these lines, and nothing of its opening. */
async function say(lines: string): Promise<Said> {
  const { stdout, stderr, code } = await converse(['--archive', '/nowhere/archive.db'], lines);
  const answers: readonly unknown[] = jsonLines(stdout);
  return { answers: answers.filter((answer) => Object(answer).id !== 'init'), stderr, code };
}

const refusal = (id: unknown, code: number, message: string): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
const INVALID = refusal(null, -32_600, 'Not a JSON-RPC 2.0 message');
const pong = (id: unknown): unknown => ({ jsonrpc: '2.0', id, result: {} });
const ping = (id: unknown): unknown => ({ jsonrpc: '2.0', id, method: 'ping' });

suite('a client that says something wrong', () => {
  test('gets an error for a line that is not valid JSON, and no more than its beginning is logged', async () => {
    const secret = `no json \u001b[1m ${'x'.repeat(60)}PASSWORD${'y'.repeat(500)}`;
    const { answers, stderr, code } = await say(`${secret}\n${requestLine(8, 'ping')}`);
    assert.equal(code, 0);
    assert.deepEqual(answers, [refusal(null, -32_700, 'Not valid JSON'), pong(8)]);
    assert.match(stderr, /^compact mcp: a line of standard input is not valid JSON: no json \\x1b\[1m x+[A-Z]*…\n$/);
    assert.doesNotMatch(stderr, /PASSWORD/);
  });

  test('gets an error for a request over 1 MiB, and none for one of exactly 1 MiB', async () => {
    const frame = requestLine(1, 'ping', { padding: '' }).length - 1;
    const largest = requestLine(1, 'ping', { padding: 'x'.repeat(MIB - frame) });
    assert.equal(largest.length, MIB + 1);
    const tooLarge = requestLine(2, 'ping', { padding: 'x'.repeat(MIB - frame + 1) });
    const huge = requestLine(3, 'ping', { padding: 'SECRET'.repeat(1_000_000) });
    const { answers, stderr } = await say(largest + tooLarge + huge + requestLine(4, 'ping'));
    const refused = refusal(null, -32_600, 'The request is larger than 1 MiB. Ask for less at a time.');
    assert.deepEqual(
      answers.toSorted((a, b) => Number(Object(a).id) - Number(Object(b).id)),
      [refused, refused, pong(1), pong(4)],
    );
    assert.doesNotMatch(stderr, /SECRET/);
    assert.ok(stderr.length < 200, stderr);
  });

  test('gets an error for what is no message, and none for an answer that nobody asked for', async () => {
    const lines = '{"jsonrpc":"2.0","method":5}\n7\n\n{"id":7,"method":"ping"}\n{"id":9,"result":{}}\n';
    const { answers } = await say(lines + requestLine(8, 'ping'));
    assert.deepEqual(answers, [INVALID, INVALID, refusal(7, -32_600, 'Not a JSON-RPC 2.0 message'), pong(8)]);
  });

  test('never has more than 80 characters of what it says logged', async () => {
    const long = 'z'.repeat(5000);
    const lines = [
      requestLine(1, long),
      requestLine(2, 'tools/call', { name: long, arguments: {} }),
      requestLine(3, 'tools/call', { name: 'memory_read', arguments: { [long]: long } }),
      requestLine(4, 'tools/call', { name: 'memory_expand', arguments: { id: long } }),
      requestLine(5, 'tools/call', { name: 'compact_context', arguments: { path: long } }),
      `${JSON.stringify({ jsonrpc: '2.0', method: long })}\n`,
      `${JSON.stringify({ jsonrpc: '2.0', id: long, result: { [long]: 1 } })}\n`,
      `{"jsonrpc":"2.0",${long}\n`,
      `[${long}]\n`,
    ];
    const { stderr } = await say(lines.join(''));
    assert.doesNotMatch(stderr, /z{81}/);
  });
});

suite('a batch', () => {
  const params = { name: 'memory_read', arguments: { query: 'boat' } };
  const call = (id: unknown): unknown => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const batch = (...values: readonly unknown[]): string => `${JSON.stringify(values)}\n`;

  test('is answered by one array, with an answer to each request and none to a notification', async () => {
    const { answers } = await say(
      batch(call('c'), ping(1), { jsonrpc: '2.0', method: 'notifications/progress' }, 5, ping('p')),
    );
    const [all, ...others] = answers;
    assert.deepEqual(others, []);
    assert.ok(Array.isArray(all));
    const byId = new Map(all.map((one) => [Object(one).id, one]));
    assert.deepEqual([...byId.keys()].map(String).sort(), ['1', 'c', 'null', 'p']);
    assert.deepEqual([byId.get(1), byId.get('p'), byId.get(null)], [pong(1), pong('p'), INVALID]);
    assert.match(JSON.stringify(byId.get('c')), /Nothing is archived yet/);
  });

  test('of notifications alone is not answered, and an empty or an endless one is refused', async () => {
    const refused = refusal(null, -32_600, 'A batch has 1 to 100 requests');
    const many = Array.from({ length: 101 }, (_, id) => ping(id));
    const { answers } = await say(
      batch({ jsonrpc: '2.0', method: 'notifications/progress' }) + batch() + batch(...many) + requestLine(8, 'ping'),
    );
    assert.deepEqual(answers, [refused, refused, pong(8)]);
  });

  test('with an id that stands twice answers both', async () => {
    const { answers } = await say(batch(ping(1), ping(1)));
    assert.deepEqual(answers, [[refusal(1, -32_600, 'Another request has this id'), pong(1)]]);
  });

  test('does not wait for a request that was withdrawn', async () => {
    const withdrawal = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const { answers, code } = await say(batch(call(1), ping(2), withdrawal));
    assert.deepEqual([code, answers], [0, [[pong(2)]]]);
  });
});
