import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createSdkLogger } from '../../../src/adapters/model/answer.ts';
import { createMask } from '../../../src/adapters/model/service.ts';
import { answer, failing, type Reply } from '../../support/model-server/reply.ts';
import { errorOf, KEY, providerAt, PROVIDERS, reach, request } from './providers.ts';

/** Everything that a server can do with a key that it was sent. */
const ECHOES: readonly (readonly [string, Reply])[] = [
  ['in an error', failing(401, `invalid x-api-key: ${KEY}`)],
  ['in an error, as part of a URL', failing(404, `no route /v1?key=${encodeURIComponent(KEY)}`)],
  ['at the place where long errors are cut', failing(400, `${'x'.repeat(295)}${KEY}`)],
  ['in a page', { kind: 'raw', status: 500, body: `<html>${KEY}</html>` }],
  ['in an error in a 200', { kind: 'raw', status: 200, body: JSON.stringify({ error: { message: KEY } }) }],
  ['in garbage', answer('abc def ghi', { half: { bytes: `event: x\ndata: {"${KEY}"\n\n` } })],
  ['in an unknown shape', { kind: 'raw', status: 200, body: JSON.stringify({ [KEY]: KEY }) }],
];

for (const name of PROVIDERS) {
  for (const [where, reply] of ECHOES) {
    test(`${name}: a key that the server echoes ${where} is in no error, no log line and on no console`, async (t) => {
      const shown: unknown[] = [];
      for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
        t.mock.method(console, method, (...args: unknown[]) => shown.push(args));
      }
      const reached = await reach(t, name, {
        script: [reply],
        options: { log: (line) => shown.push(line) },
      });
      const rejected: unknown = await reached.provider.complete(request()).catch((error: unknown) => error);
      assert.equal(rejected instanceof Error, true);
      const everything = inspect([rejected, shown], { depth: 20, showHidden: true });
      assert.equal(everything.includes(KEY), false, everything);
    });
  }

  test(`${name}: a key that the server echoes in a summary is masked`, async (t) => {
    const { provider } = await reach(t, name, { script: [answer(`The key ${KEY} was used.`)] });
    const { content } = await provider.complete(request());
    assert.deepEqual(content, [{ type: 'text', text: 'The key [key] was used.' }]);
  });

  test(`${name}: the SDK's log goes to the logger, and without one nowhere`, async (t) => {
    const lines: string[] = [];
    const options = { log: (line: string) => lines.push(line) };
    const { server, provider } = await reach(t, name, { script: [answer('ok'), answer('ok')], options });
    await provider.complete(request());
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /POST http:\/\/127\.0\.0\.1:\d+\/v1\/\S+ succeeded with status 200 in \d+ms$/i);
    await providerAt(name, server.url).complete(request());
    assert.equal(lines.length, 1);
  });

  for (const [what, apiKey] of [
    ['a line end', `${KEY}\n${KEY}`],
    ['a letter that no header takes', `${KEY}é`],
  ] as const) {
    test(`${name}: a key with ${what} in it is refused without being shown or sent`, async (t) => {
      const { provider, server } = await reach(t, name, { script: [], options: { apiKey } });
      const { code, message } = await errorOf(provider.complete(request()));
      assert.deepEqual([code, server.requests.length, message.includes(KEY)], ['auth', 0, false]);
      assert.match(
        message,
        /^the key for 127\.0\.0\.1:\d+ has spaces, line ends or letters in it that no key has: look at/,
      );
    });
  }

  test(`${name}: space around a key is no part of it`, async (t) => {
    const { provider, server } = await reach(t, name, { script: [answer('ok')], options: { apiKey: ` ${KEY}\n` } });
    await provider.complete(request());
    assert.equal(server.requests[0]?.headers['authorization'], `Bearer ${KEY}`);
  });

  for (const [what, url] of [
    ['a password', 'http://user:secret-word@127.0.0.1:1'],
    ['a query', 'http://127.0.0.1:1/?key=secret-word'],
    ['no protocol', 'secret-word:1'],
  ] as const) {
    test(`${name}: a base URL with ${what} is refused without being shown`, async () => {
      const { code, message, retryable } = await errorOf(providerAt(name, url).complete(request()));
      assert.deepEqual([code, retryable, message.includes('secret-word')], ['api_error', false, false]);
      assert.match(message, /^base_url /);
    });
  }
}

test('a placeholder for a key is masked only where it stands as a word, and never in an answer', () => {
  const { maskShown, maskAnswer } = createMask('none');
  assert.deepEqual(
    [maskShown('key none: nonesuch'), maskAnswer('There were none.')],
    ['key [key]: nonesuch', 'There were none.'],
  );
});

test('a key with the characters of patterns is masked as it is, in JSON and in a URL', () => {
  const key = 'a+b(c)*"\\d$';
  const { maskShown } = createMask(key);
  assert.equal(
    maskShown(`x ${key} y ${JSON.stringify(key)} z ?key=${encodeURIComponent(key)}`),
    'x [key] y "[key]" z ?key=[key]',
  );
});

test('a log line of an SDK shows no key, as where it is part of the base URL, and no values', () => {
  const lines: string[] = [];
  const service = {
    host: 'h',
    mask: createMask(KEY),
    now: () => new Date(0),
    advice: { key: '', notFound: '', refused: '' },
  };
  createSdkLogger(service, (line) => lines.push(line)).error(`POST http://h/${KEY}/v1 failed`, { body: KEY });
  assert.deepEqual(lines, ['POST http://h/[key]/v1 failed']);
});
