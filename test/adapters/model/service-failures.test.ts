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

/** `message` without the host that it begins with. */
type Expected = PlainError | ((provider: ProviderName) => PlainError);
type Fault = readonly [
  what: string,
  reply: Reply | Readonly<Record<ProviderName, Reply>>,
  error: Expected,
  timeoutMs?: number,
];

const again = (message: string): PlainError => ({ code: 'api_error', message, retryable: true });
const never = (message: string): PlainError => ({ code: 'api_error', message, retryable: false });
const tooLong = (message: string): PlainError => ({ code: 'context_length', message, retryable: false });
const late = (message: string): PlainError => ({ code: 'timeout', message, retryable: true });
const keyless = (message: string) => (provider: ProviderName) => ({
  code: 'auth',
  message: `${message}, ${KEYS[provider]} or what api_key_env names`,
  retryable: false,
});
const raw = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  kind: 'raw',
  status,
  body,
  headers,
});
const LIMITED = { code: 'rate_limit', message: 'answered 429 (Slow down)', retryable: true };
const limited = (what: string, headers: Readonly<Record<string, string>>, retryAfterMs?: number): Fault => [
  `429 ${what}`,
  failing(429, 'Slow down', { headers }),
  { ...LIMITED, ...(retryAfterMs !== undefined && { retryAfterMs }) },
];
const NO_TIME = late('did not complete its answer within 123.456 s: compaction_timeout allows more');
const half = (bytes: string): Reply => answer(SUMMARY, { half: { bytes } });
const SPENT = { headers: { 'retry-after': '7' } };
const OVERLOADED = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';

const FAULTS: readonly Fault[] = [
  ['400', failing(400, 'model: field required'), never('answered 400 (model: field required)')],
  ['401', failing(401, 'invalid key'), keyless('answered 401 (invalid key): check the key')],
  ['403', failing(403, 'not yours'), keyless('answered 403 (not yours): check the permissions of the key')],
  [
    '404',
    failing(404, 'no such model'),
    (provider) => never(`answered 404 (no such model): check the name of the model, and base_url, ${PATHS[provider]}`),
  ],
  ['402', failing(402, 'pay first'), never(`answered 402 (pay first): ${NO_CREDIT}`)],
  ['408', failing(408, 'too slow'), late('answered 408 (too slow)')],
  ['409', failing(409, 'busy'), again('answered 409 (busy)')],
  ['413', failing(413, 'body too large'), tooLong('answered 413 (body too large)')],
  ['422', failing(422, 'what is this'), never('answered 422 (what is this)')],
  limited('with retry-after in seconds', { 'retry-after': '7' }, 7000),
  limited('with retry-after as a date', { 'retry-after': 'Sat, 21 Nov 2026 12:01:30 GMT' }, 90_000),
  limited('with retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1500),
  limited('that asks for hours', { 'retry-after': '86400' }, 86_400_000),
  limited('without retry-after', {}),
  limited('with a retry-after that nobody can read', { 'retry-after': 'soon' }),
  [
    '429 because the quota is used up',
    {
      anthropic: failing(429, 'spend limit', { type: 'billing_error', ...SPENT }),
      'openai-compatible': failing(429, 'spend limit', { code: 'insufficient_quota', ...SPENT }),
    },
    (provider) => ({
      ...never(`answered 429 (spend limit): ${NO_CREDIT}`),
      code: provider === 'anthropic' ? 'api_error' : 'rate_limit',
    }),
  ],
  ['500', failing(500, 'oops'), again('answered 500 (oops)')],
  ['503 with a page of a proxy', raw(503, '<html>no</html>'), again('answered 503 with a web page')],
  [
    '503 with retry-after',
    failing(503, 'restarting', { headers: { 'retry-after': '3' } }),
    { ...again('answered 503 (restarting)'), retryAfterMs: 3000 },
  ],
  ['504', failing(504, 'gateway'), late('answered 504 (gateway)')],
  ['529', failing(529, 'Overloaded'), again('answered 529 (Overloaded)')],
  ['an error without a body', raw(500, ''), again('answered 500')],
  ['an error without an end', { kind: 'endless', status: 500 }, again(`answered 500 (${'x'.repeat(300)}…)`)],
  [
    'a context that is too short',
    {
      anthropic: failing(400, 'prompt is too long: 9 tokens > 8 maximum'),
      'openai-compatible': failing(400, 'no room', { code: 'context_length_exceeded' }),
    },
    (provider) =>
      tooLong(`answered 400 (${provider === 'anthropic' ? 'prompt is too long: 9 tokens > 8 maximum' : 'no room'})`),
  ],
  [
    'a redirect',
    raw(307, '', { location: 'http://127.0.0.1:9/v1' }),
    never('answered 307: it redirects, and redirects are not followed: check base_url'),
  ],
  [
    'a web page in a 200',
    raw(200, '<!doctype html><p>Log in', { 'content-type': 'text/html' }),
    never(`answered with a web page: ${CHECK_URL}`),
  ],
  ['a web page called JSON', raw(200, '<html>Log in</html>'), never(`answered with a web page: ${CHECK_URL}`)],
  ['broken JSON in a 200', raw(200, '{"content": ['), again('sent something that is not JSON')],
  [
    'JSON of another API in a 200',
    raw(200, '{"result": 1}'),
    (provider) => shapeless(provider === 'anthropic' ? 'message.content' : 'completion.choices'),
  ],
  [
    'an error in a 200',
    raw(200, '{"error":{"message":"upstream is down","code":502}}'),
    again('answered with an error (upstream is down)'),
  ],
  [
    'an error in a 200 that no second try mends',
    raw(200, '{"error":{"message":"who are you","code":401}}'),
    keyless('answered with an error (who are you): check the key'),
  ],
  ['an empty body', raw(200, ''), again('sent an empty answer')],
  ['an empty stream', raw(200, '', { 'content-type': 'text/event-stream' }), again('sent an empty answer')],
  ['204', raw(204, ''), again('sent an empty answer')],
  ['an answer without an end', { kind: 'endless', status: 200 }, never('sent an answer that is too large')],
  ['a stream that stops half-way', answer(SUMMARY, { half: 'end' }), again('ended its answer before it was complete')],
  ['a stream that is reset half-way', answer(SUMMARY, { half: 'reset' }), again('closed the connection (ECONNRESET)')],
  [
    'a stream with garbage in it',
    half('event: content_block_delta\ndata: {"delta": \n\n'),
    again('sent something that is not JSON'),
  ],
  [
    'a stream with an event of another shape',
    half('event: content_block_delta\ndata: {"type":7,"choices":7}\n\n'),
    (provider) => shapeless(provider === 'anthropic' ? 'event.type' : 'chunk.choices'),
  ],
  [
    'a stream that an error interrupts',
    half(`event: error\ndata: ${OVERLOADED}\n\n`),
    again('answered with an error (Overloaded)'),
  ],
  ['a reset before any answer', { kind: 'reset' }, again('closed the connection (ECONNRESET)')],
  ['silence', { kind: 'hang' }, NO_TIME, HELD_MS],
  ['silence in the middle of a stream', answer(SUMMARY, { half: 'hang' }), NO_TIME, HELD_MS],
  ['a stream that drips for too long', answer(SUMMARY.repeat(20), { pauseMs: 20 }), NO_TIME, HELD_MS],
];

function shapeless(what: string): PlainError {
  return never(`sent an answer of an unknown shape (${what}): ${CHECK_URL}`);
}

for (const provider of PROVIDERS) {
  for (const [what, reply, error, timeoutMs = 600_000] of FAULTS) {
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
