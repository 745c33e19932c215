import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { HELD_MS } from '../../support/held-deadlines.ts';
import { answer, failing, type Reply } from '../../support/model-server/reply.ts';
import {
  errorOf,
  type PlainError,
  providerAt,
  type ProviderName,
  PROVIDERS,
  reach,
  request,
  unusedPort,
} from './providers.ts';

const SUMMARY = 'The port is 8080, and the build is green.';
const KEYS = { anthropic: 'ANTHROPIC_API_KEY', 'openai-compatible': 'OPENAI_API_KEY' };
const PATHS = { anthropic: 'which ends without /v1', 'openai-compatible': 'which mostly ends in /v1' };
const NO_CREDIT = 'the account is out of credit, so trying again does not help';
const CHECK_URL = 'check base_url, it must name the API itself';

type Fault = {
  readonly what: string;
  readonly reply: Reply | Readonly<Record<ProviderName, Reply>>;
  /** `message` without the host that it begins with. */
  readonly error: PlainError | ((provider: ProviderName) => PlainError);
  readonly timeoutMs?: number;
};

const again = (message: string): PlainError => ({ code: 'api_error', message, retryable: true });
const never = (message: string): PlainError => ({ code: 'api_error', message, retryable: false });
const tooLong = (message: string): PlainError => ({ code: 'context_length', message, retryable: false });
const raw = (status: number, body: string, headers?: Readonly<Record<string, string>>): Reply => ({
  kind: 'raw',
  status,
  body,
  ...(headers === undefined ? {} : { headers }),
});
const limited = (headers: Readonly<Record<string, string>>, retryAfterMs?: number): Omit<Fault, 'what'> => ({
  reply: failing(429, 'Slow down', { headers }),
  error: {
    code: 'rate_limit',
    message: 'answered 429 (Slow down)',
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
});

const FAULTS: readonly Fault[] = [
  { what: '400', reply: failing(400, 'model: field required'), error: never('answered 400 (model: field required)') },
  {
    what: '401',
    reply: failing(401, 'invalid key'),
    error: (provider) => ({
      code: 'auth',
      message: `answered 401 (invalid key): check the key, ${KEYS[provider]} or what api_key_env names`,
      retryable: false,
    }),
  },
  {
    what: '403',
    reply: failing(403, 'no access to this model'),
    error: (provider) => ({
      code: 'auth',
      message: `answered 403 (no access to this model): check the permissions of the key, ${KEYS[provider]} or what api_key_env names`,
      retryable: false,
    }),
  },
  {
    what: '404',
    reply: failing(404, 'no such model'),
    error: (provider) =>
      never(`answered 404 (no such model): check the name of the model, and base_url, ${PATHS[provider]}`),
  },
  {
    what: '402',
    reply: failing(402, 'pay first'),
    error: never(`answered 402 (pay first): ${NO_CREDIT}`),
  },
  {
    what: '408',
    reply: failing(408, 'too slow'),
    error: { code: 'timeout', message: 'answered 408 (too slow)', retryable: true },
  },
  { what: '409', reply: failing(409, 'busy'), error: again('answered 409 (busy)') },
  { what: '413', reply: failing(413, 'body too large'), error: tooLong('answered 413 (body too large)') },
  { what: '422', reply: failing(422, 'what is this'), error: never('answered 422 (what is this)') },
  { what: '429 with retry-after in seconds', ...limited({ 'retry-after': '7' }, 7000) },
  { what: '429 with retry-after as a date', ...limited({ 'retry-after': 'Sat, 21 Nov 2026 12:01:30 GMT' }, 90_000) },
  { what: '429 with retry-after-ms', ...limited({ 'retry-after-ms': '1500', 'retry-after': '2' }, 1500) },
  { what: '429 that asks for hours', ...limited({ 'retry-after': '86400' }, 86_400_000) },
  { what: '429 without retry-after', ...limited({}) },
  { what: '429 with a retry-after that nobody can read', ...limited({ 'retry-after': 'soon' }) },
  {
    what: '429 because the quota is used up',
    reply: {
      anthropic: failing(429, 'spend limit', { type: 'billing_error', headers: { 'retry-after': '7' } }),
      'openai-compatible': failing(429, 'spend limit', { code: 'insufficient_quota', headers: { 'retry-after': '7' } }),
    },
    error: (provider) => ({
      code: provider === 'anthropic' ? 'api_error' : 'rate_limit',
      message: `answered 429 (spend limit): ${NO_CREDIT}`,
      retryable: false,
    }),
  },
  { what: '500', reply: failing(500, 'oops'), error: again('answered 500 (oops)') },
  {
    what: '503 with a page of a proxy',
    reply: raw(503, '<html>no</html>'),
    error: again('answered 503 with a web page'),
  },
  {
    what: '503 with retry-after',
    reply: failing(503, 'restarting', { headers: { 'retry-after': '3' } }),
    error: { ...again('answered 503 (restarting)'), retryAfterMs: 3000 },
  },
  {
    what: '504',
    reply: failing(504, 'gateway'),
    error: { code: 'timeout', message: 'answered 504 (gateway)', retryable: true },
  },
  { what: '529', reply: failing(529, 'Overloaded'), error: again('answered 529 (Overloaded)') },
  { what: 'an error without a body', reply: raw(500, ''), error: again('answered 500') },
  {
    what: 'an error that goes on without an end',
    reply: { kind: 'endless', status: 500 },
    error: again(`answered 500 (${'x'.repeat(300)}…)`),
  },
  {
    what: 'a context that is too short',
    reply: {
      anthropic: failing(400, 'prompt is too long: 9 tokens > 8 maximum'),
      'openai-compatible': failing(400, 'no room', { code: 'context_length_exceeded' }),
    },
    error: (provider) =>
      tooLong(`answered 400 (${provider === 'anthropic' ? 'prompt is too long: 9 tokens > 8 maximum' : 'no room'})`),
  },
  {
    what: 'a redirect',
    reply: raw(307, '', { location: 'http://127.0.0.1:9/v1' }),
    error: never('answered 307: it redirects, and redirects are not followed: check base_url'),
  },
  {
    what: 'a web page in a 200',
    reply: raw(200, '<!doctype html><p>Log in', { 'content-type': 'text/html' }),
    error: never(`answered with a web page: ${CHECK_URL}`),
  },
  {
    what: 'a web page that calls itself JSON',
    reply: raw(200, '<html>Log in</html>'),
    error: never(`answered with a web page: ${CHECK_URL}`),
  },
  { what: 'broken JSON in a 200', reply: raw(200, '{"content": ['), error: again('sent something that is not JSON') },
  {
    what: 'JSON of another API in a 200',
    reply: raw(200, '{"result": 1}'),
    error: (provider) =>
      never(
        `sent an answer of an unknown shape (${provider === 'anthropic' ? 'message.content' : 'completion.choices'}): ${CHECK_URL}`,
      ),
  },
  {
    what: 'an error in a 200',
    reply: raw(200, '{"error":{"message":"upstream is down","code":502}}'),
    error: again('answered with an error (upstream is down)'),
  },
  {
    what: 'an error in a 200 that no second try mends',
    reply: raw(200, '{"error":{"message":"who are you","code":401}}'),
    error: (provider) => ({
      code: 'auth',
      message: `answered with an error (who are you): check the key, ${KEYS[provider]} or what api_key_env names`,
      retryable: false,
    }),
  },
  { what: 'an empty body', reply: raw(200, ''), error: again('sent an empty answer') },
  {
    what: 'an empty stream',
    reply: raw(200, '', { 'content-type': 'text/event-stream' }),
    error: again('sent an empty answer'),
  },
  { what: '204', reply: raw(204, ''), error: again('sent an empty answer') },
  {
    what: 'an answer without an end',
    reply: { kind: 'endless', status: 200 },
    error: never('sent an answer that is too large'),
  },
  {
    what: 'a stream that stops half-way',
    reply: answer(SUMMARY, { half: 'end' }),
    error: again('ended its answer before it was complete'),
  },
  {
    what: 'a stream that is reset half-way',
    reply: answer(SUMMARY, { half: 'reset' }),
    error: again('closed the connection (ECONNRESET)'),
  },
  {
    what: 'a stream with garbage in it',
    reply: answer(SUMMARY, { half: { bytes: 'event: content_block_delta\ndata: {"delta": \n\n' } }),
    error: again('sent something that is not JSON'),
  },
  {
    what: 'a stream with an event of another shape',
    reply: answer(SUMMARY, { half: { bytes: 'event: content_block_delta\ndata: {"type":7,"choices":7}\n\n' } }),
    error: (provider) =>
      never(
        `sent an answer of an unknown shape (${provider === 'anthropic' ? 'event.type' : 'chunk.choices'}): ${CHECK_URL}`,
      ),
  },
  {
    what: 'a stream that an error interrupts',
    reply: answer(SUMMARY, {
      half: {
        bytes: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      },
    }),
    error: again('answered with an error (Overloaded)'),
  },
  {
    what: 'a reset before any answer',
    reply: { kind: 'reset' },
    error: again('closed the connection (ECONNRESET)'),
  },
  {
    what: 'silence',
    reply: { kind: 'hang' },
    timeoutMs: HELD_MS,
    error: {
      code: 'timeout',
      message: 'did not complete its answer within 123.456 s: compaction_timeout allows more',
      retryable: true,
    },
  },
  {
    what: 'silence in the middle of a stream',
    reply: answer(SUMMARY, { half: 'hang' }),
    timeoutMs: HELD_MS,
    error: {
      code: 'timeout',
      message: 'did not complete its answer within 123.456 s: compaction_timeout allows more',
      retryable: true,
    },
  },
  {
    what: 'a stream that drips for longer than the whole call may take',
    reply: answer(SUMMARY.repeat(20), { pauseMs: 20 }),
    timeoutMs: HELD_MS,
    error: {
      code: 'timeout',
      message: 'did not complete its answer within 123.456 s: compaction_timeout allows more',
      retryable: true,
    },
  },
];

for (const provider of PROVIDERS) {
  for (const { what, reply, error, timeoutMs = 600_000 } of FAULTS) {
    test(`${provider}: ${what} is one ModelError after one request`, async (t) => {
      const reached = await reach(t, provider, { script: [provider in reply ? Object(reply)[provider] : reply] });
      const expected = typeof error === 'function' ? error(provider) : error;
      const rejected = await errorOf(reached.provider.complete(request({ timeout: timeoutMs })));
      const { host, requests } = reached.server;
      assert.deepEqual([rejected, requests.length], [{ ...expected, message: `${host} ${expected.message}` }, 1]);
    });
  }

  test(`${provider}: nobody listens`, async () => {
    const port = await unusedPort();
    const rejected = await errorOf(providerAt(provider, `http://127.0.0.1:${port}`).complete(request()));
    assert.deepEqual(
      rejected,
      again(`127.0.0.1:${port} cannot be reached (ECONNREFUSED): check base_url, and whether a server runs there`),
    );
  });

  test(`${provider}: no such host`, async () => {
    const rejected = await errorOf(providerAt(provider, 'http://nowhere.invalid').complete(request()));
    assert.match(rejected.message, /^nowhere\.invalid cannot be found \((?:ENOTFOUND|EAI_AGAIN)\): check base_url and/);
    assert.deepEqual([rejected.code, rejected.retryable], ['api_error', true]);
  });

  test(`${provider}: a server that does not speak HTTP`, async (t) => {
    const server = createServer((socket) => socket.end('SSH-2.0-something\r\n')).listen(0, '127.0.0.1');
    t.after(() => server.close());
    const address = await new Promise<string>((resolve) => {
      server.once('listening', () => resolve(`127.0.0.1:${Object(server.address()).port}`));
    });
    const rejected = await errorOf(providerAt(provider, `http://${address}`).complete(request()));
    assert.match(rejected.message, new RegExp(`^${address} cannot be reached \\(.*HTTP.*\\)$`));
    assert.deepEqual([rejected.code, rejected.retryable], ['api_error', true]);
  });
}
