import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer } from '../../support/model-server/reply.ts';
import { PROVIDERS, reach, request } from './providers.ts';

/** Everything that the SDKs look for, pointing at the wrong place; ports below 10 are open nowhere. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: 'from-the-environment',
  ANTHROPIC_AUTH_TOKEN: 'from-the-environment',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
  ANTHROPIC_CUSTOM_HEADERS: 'authorization: from-the-environment\nx-extra: from-the-environment\nanthropic-version: 1',
  ANTHROPIC_LOG: 'debug',
  ANTHROPIC_PROFILE: 'from-the-environment',
  OPENAI_API_KEY: 'from-the-environment',
  OPENAI_ADMIN_KEY: 'from-the-environment',
  OPENAI_BASE_URL: 'http://127.0.0.1:1',
  OPENAI_ORG_ID: 'from-the-environment',
  OPENAI_PROJECT_ID: 'from-the-environment',
  OPENAI_CUSTOM_HEADERS: 'authorization: from-the-environment\nx-extra: from-the-environment',
  OPENAI_LOG: 'debug',
  HTTP_PROXY: 'http://127.0.0.1:1',
  http_proxy: 'http://127.0.0.1:1',
  ALL_PROXY: 'http://127.0.0.1:1',
};

/** Headers that fetch itself adds. */
const OF_FETCH = ['host', 'connection', 'accept-language', 'sec-fetch-mode', 'accept-encoding', 'content-length'];

for (const name of PROVIDERS) {
  for (const apiKey of ['given-key', null]) {
    test(`${name}: ${apiKey === null ? 'no key' : 'a key'} is given, and nothing comes from the environment`, async (t) => {
      const before = { ...process.env };
      t.after(() => {
        for (const key of Object.keys(ENVIRONMENT)) delete process.env[key];
        Object.assign(process.env, before);
      });
      Object.assign(process.env, ENVIRONMENT);
      const print = t.mock.method(console, 'debug', () => undefined);
      const { provider, server } = await reach(t, name, { script: [answer('ok')], options: { apiKey } });
      await provider.complete(request());
      const sent = Object.entries(server.requests[0]?.headers ?? {}).filter(([header]) => !OF_FETCH.includes(header));
      assert.deepEqual(Object.fromEntries(sent), {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'compact-transcript',
        ...(apiKey === null ? {} : { authorization: 'Bearer given-key' }),
        ...(name === 'anthropic' ? { 'anthropic-version': '2026-10-21' } : {}),
      });
      assert.equal(print.mock.callCount(), 0);
    });
  }
}

test("of the environment the SDKs read nothing but headers of the user's own, which are not sent", async (t) => {
  const environment = process.env;
  t.after(() => {
    process.env = environment;
  });
  const read = new Set<string>();
  process.env = new Proxy(environment, {
    get: (target, name) => {
      if (typeof name === 'string' && /^(?:ANTHROPIC|OPENAI)_/.test(name)) read.add(name);
      return Reflect.get(target, name);
    },
  });
  for (const name of PROVIDERS) {
    const { provider } = await reach(t, name, { script: [answer('ok')], options: { apiKey: null } });
    await provider.complete(request());
  }
  assert.deepEqual([...read], ['ANTHROPIC_CUSTOM_HEADERS', 'OPENAI_CUSTOM_HEADERS']);
});
