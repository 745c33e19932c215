import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createOpenAiEmbedder } from '../../../src/adapters/model/openai-embedder.ts';
import { ModelError } from '../../../src/core/model-request.ts';
import type { Embedding } from '../../../src/ports/model.ts';
import {
  embeddingsBody,
  type EmbeddingServer,
  type EmbeddingsReply,
  startEmbeddingServer,
  toyVector,
} from '../../support/embedding-server.ts';
import { unusedPort } from './providers.ts';

const KEY = 'made-up-key-0123456789abcdefghij';
const TEXTS = ['the wooden boat', 'a rope'];

const sent = (...vectors: Parameters<typeof embeddingsBody>[0]): EmbeddingsReply => ({ body: embeddingsBody(vectors) });

type Scene = { readonly server: EmbeddingServer; readonly embed: () => Promise<Embedding> };

async function scene(
  t: TestContext,
  replies: readonly EmbeddingsReply[],
  { dimensions = null, timeoutMs = 600_000 }: { readonly dimensions?: number | null; readonly timeoutMs?: number } = {},
): Promise<Scene> {
  const server = await startEmbeddingServer(t, (_, index) => replies[index] ?? 'answer');
  const flavor = 'openai';
  const embedder = createOpenAiEmbedder({ apiKey: KEY, baseUrl: server.url, flavor, model: 'toy', dimensions });
  return { server, embed: () => embedder.embed({ texts: TEXTS, timeoutMs }) };
}

async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ModelError, String(error));
  return error;
}

test('texts are sent together, with the model and the key and nothing else, and each gets its vector', async (t) => {
  const { server, embed } = await scene(t, []);
  const { vectors, inputTokens } = await embed();
  assert.deepEqual(
    vectors,
    TEXTS.map((text) => Float32Array.from(toyVector(text))),
  );
  assert.equal(inputTokens, 7);
  const [first] = server.asked;
  assert.ok(first !== undefined);
  const { headers, ...asked } = first;
  assert.deepEqual(asked, { path: '/v1/embeddings', model: 'toy', input: TEXTS });
  assert.equal(headers['authorization'], `Bearer ${KEY}`);
});

test('vectors stand for the texts that their index names, in whatever order they come, and may come as base64', async (t) => {
  const base64 = Buffer.from(Float32Array.from([0.5, -2]).buffer).toString('base64');
  const data = [
    { index: 1, embedding: base64 },
    { index: 0, embedding: [1, 0.25] },
  ];
  const { embed } = await scene(t, [{ body: { data } }]);
  assert.deepEqual(await embed(), {
    vectors: [Float32Array.from([1, 0.25]), Float32Array.from([0.5, -2])],
    inputTokens: null,
  });
});

test('the number of dimensions is asked for, and no longer where the model refuses to be asked', async (t) => {
  const refusal = { error: { message: 'This model does not support specifying dimensions.', param: 'dimensions' } };
  const { server, embed } = await scene(
    t,
    [{ status: 400, body: refusal }, sent([1, 2], [3, 4]), sent([1, 2], [3, 4])],
    { dimensions: 2 },
  );
  assert.equal((await embed()).vectors.length, 2);
  await embed();
  assert.deepEqual(
    server.asked.map(({ dimensions }) => dimensions),
    [2, undefined, undefined],
  );
});

test('vectors of other dimensions than were asked for are an error that says what to write', async (t) => {
  const { server, embed } = await scene(t, [sent([1, 2, 3], [3, 4, 5])], { dimensions: 2 });
  const { message, retryable } = await failureOf(embed());
  assert.deepEqual(
    [message, retryable],
    [`${server.host} sent vectors of 3 numbers where dimensions says 2: set dimensions = 3, or remove it`, false],
  );
});

test('vectors that are longer than can be kept are an error', async (t) => {
  const long = Array.from({ length: 8193 }, () => 1);
  const { server, embed } = await scene(t, [sent(long, long)]);
  const told = 'sent vectors of 8193 numbers, and no more than 8192 can be kept: use another model, or set dimensions';
  assert.equal((await failureOf(embed())).message, `${server.host} ${told}`);
});

const SHAPE = 'sent an answer of an unknown shape';
const FAULTS: readonly (readonly [string, EmbeddingsReply, RegExp, boolean])[] = [
  [
    '401',
    { status: 401, body: { error: { message: `no such key ${KEY}` } } },
    /answered 401 \(no such key \[key\]\)/,
    false,
  ],
  ['404', { status: 404, body: { error: { message: 'no such model' } } }, /answered 404 \(no such model\)/, false],
  ['429', { status: 429, body: '{}', headers: { 'retry-after': '3' } }, /answered 429/, true],
  ['500', { status: 500, body: 'oops' }, /answered 500/, true],
  ['a web page', { body: '<!doctype html><p>hello' }, /answered with a web page/, false],
  ['a web page as an error', { status: 502, body: '<html>' }, /answered 502 with a web page/, true],
  ['nothing', { body: '' }, /sent an empty answer/, true],
  ['broken JSON', { body: '{"data": [' }, /not JSON/, true],
  ['NaN', { body: '{"data":[{"embedding":[NaN]}]}' }, /not JSON/, true],
  ['null for a number', { body: { data: [{ embedding: [1, null] }] } }, new RegExp(SHAPE), false],
  ['NaN in base64', sent('AADAfwAAgD8=', 'AACAPwAAgD8='), /a value in it is not a number/, false],
  ['half a float', sent('AADA', 'AADA'), /its last float is incomplete/, false],
  ['all of its values are zero', sent([0, 0], [1, 2]), /data\.0\.embedding: all of its values are zero/, false],
  ['an empty vector', sent([], []), /it is empty/, false],
  ['too few', sent([1, 2]), /1 embeddings for 2 texts, none for text 2/, false],
  ['too many', sent([1, 2], [3, 4], [5, 6]), /data\.2\.index/, false],
  [
    'one twice',
    {
      body: {
        data: [
          { index: 1, embedding: [1] },
          { index: 1, embedding: [1] },
        ],
      },
    },
    /data\.1\.index/,
    false,
  ],
  ['different lengths', sent([1, 2], [3]), /embeddings of different lengths/, false],
  [
    'an error with a 200',
    { body: { error: { message: 'overloaded' } } },
    /answered with an error \(overloaded\)/,
    true,
  ],
  ['a reset', 'reset', /closed the connection/, true],
];

for (const [what, reply, told, retryable] of FAULTS) {
  test(`an answer that is none is told as such: ${what}`, async (t) => {
    const { server, embed } = await scene(t, [reply]);
    const error = await failureOf(embed());
    assert.match(error.message, told);
    assert.ok(error.message.startsWith(server.host));
    assert.equal(error.retryable, retryable);
    assert.ok(!error.message.includes(KEY));
  });
}

test('a service may say when to come again', async (t) => {
  const { embed } = await scene(t, [{ status: 429, body: '{}', headers: { 'retry-after': '3' } }]);
  assert.equal((await failureOf(embed())).retryAfterMs, 3000);
});

test('a text that is too long for the model is told apart from other errors', async (t) => {
  const body = { error: { message: "This model's maximum context length is 8192 tokens, however you requested 9000" } };
  const { embed } = await scene(t, [{ status: 400, body }]);
  assert.equal((await failureOf(embed())).code, 'context_length');
});

test('a service that is silent is given up when its time is over, and at once where the run is interrupted', async (t) => {
  const { server, embed } = await scene(t, ['hang'], { timeoutMs: 30 });
  assert.deepEqual((await failureOf(embed())).code, 'timeout');
  const interruption = new AbortController();
  const embedder = createOpenAiEmbedder({
    apiKey: null,
    baseUrl: server.url,
    flavor: 'ollama',
    model: 'toy',
    dimensions: null,
  });
  const waiting = embedder.embed({ texts: TEXTS, timeoutMs: 60_000 }, interruption.signal);
  interruption.abort();
  assert.equal((await failureOf(waiting)).retryable, false);
});

test('where nobody listens the advice is the one of the kind of server', async () => {
  const baseUrl = `http://127.0.0.1:${await unusedPort()}/v1`;
  const embedder = createOpenAiEmbedder({ apiKey: null, baseUrl, model: 'toy', dimensions: null, flavor: 'ollama' });
  const { message } = await failureOf(embedder.embed({ texts: TEXTS, timeoutMs: 600_000 }));
  assert.match(message, /cannot be reached \(ECONNREFUSED\): is Ollama running\? `ollama serve` starts it/);
});
