import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer } from '../../support/model-server/reply.ts';
import { bodyCheck, installedVersion, loadSchema, REQUEST_SCHEMAS } from '../../support/model-server/schemas.ts';
import { startModelServer, startModelServerProcess } from '../../support/model-server/start.ts';
import { errorOf, providerAt, request } from './providers.ts';

const BODIES = {
  anthropic: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }], stream: true },
  openai: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }], stream: true },
} as const;

for (const dialect of ['anthropic', 'openai'] as const) {
  test(`the schema of ${dialect} requests was made from the SDK that is installed`, () => {
    const { sdk } = REQUEST_SCHEMAS[dialect];
    const advice = 'run `node test/support/model-server/generate-schemas.ts`';
    assert.equal(loadSchema(dialect)['$comment'], `${sdk} ${installedVersion(sdk)}`, advice);
  });

  test(`${dialect} requests with a key that the SDK does not know are refused, those without are not`, () => {
    const check = bodyCheck(dialect);
    assert.deepEqual(check(BODIES[dialect]), []);
    assert.deepEqual(check({ ...BODIES[dialect], source: {} }), [
      '/ must NOT have additional properties {"additionalProperty":"source"}',
    ]);
    assert.notDeepEqual(check({ ...BODIES[dialect], messages: [{ role: 'user', content: 'hi', name_: 1 }] }), []);
    assert.notDeepEqual(check({ ...BODIES[dialect], max_tokens: 'many' }), []);
  });
}

test('temperature is refused where it stands in a request to Anthropic, and taken from others', () => {
  assert.deepEqual(bodyCheck('anthropic')({ ...BODIES.anthropic, temperature: 0 }), [
    '/ must NOT have additional properties {"additionalProperty":"temperature"}',
  ]);
  assert.deepEqual(bodyCheck('openai')({ ...BODIES.openai, temperature: 0 }), []);
});

test('the server answers 400 to a body that is not as the types have it, and 418 to what is not in its script', async (t) => {
  const server = await startModelServer(t, [answer('never given'), answer('given')]);
  const post = (body: object): Promise<Response> =>
    fetch(`${server.url}/v1/messages`, { method: 'POST', body: JSON.stringify(body) });
  const statuses = [
    (await post({ ...BODIES.anthropic, temperature: 0 })).status,
    (await post(BODIES.anthropic)).status,
    (await post(BODIES.anthropic)).status,
  ];
  assert.deepEqual(statuses, [400, 200, 418]);
});

test('the server runs as a process of its own, and tells what it was asked', async (t) => {
  const server = await startModelServerProcess(t, [answer('from afar')]);
  const { content } = await providerAt('anthropic', server.url).complete(request());
  assert.deepEqual(content, [{ type: 'text', text: 'from afar' }]);
  const requests = await server.loadRequests();
  assert.deepEqual(
    requests.map(({ path, body }) => [path, body['model']]),
    [['/v1/messages', 'test-model']],
  );
  const { message } = await errorOf(providerAt('anthropic', server.url).complete(request()));
  assert.equal(message, `${server.host} answered 418 (the script has no reply to request 2)`);
});
