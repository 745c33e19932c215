import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test, type TestContext } from 'node:test';
import {
  KEY,
  type ModelScene,
  openModelScene,
  paidTexts,
  type Provider,
  type Settings,
  summary,
  talkOf,
} from '../support/model-scene.ts';
import { failing, type Reply } from '../support/model-server/reply.ts';
import type { ModelServer } from '../support/model-server/server.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { type Ended, endOf, startProcess } from '../support/program.ts';

type Stage = {
  readonly scene: ModelScene;
  readonly server: ModelServer;
  /** Settles when the server got the last request that it has a reply for. */
  readonly asked: Promise<void>;
  readonly start: () => ReturnType<typeof startProcess>;
};

/** The program as a process of its own, with the key from its environment, telling all that it can tell. */
async function openStage(
  context: TestContext,
  {
    provider,
    replies,
    settings,
  }: { readonly provider: Provider; readonly replies: readonly Reply[]; readonly settings?: Settings },
): Promise<Stage> {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const server = await startModelServer(context, (_, index) => {
    if (index === replies.length - 1) resolve();
    return replies[index] ?? NO_MORE;
  });
  const own = { api_key: null, api_key_env: 'KEY_OF_THE_TEST', compaction_max_retries: 0, ...settings };
  const scene = openModelScene(context, { provider, url: server.url, transcript: talkOf(4), settings: own });
  const environment = { KEY_OF_THE_TEST: KEY };
  return {
    scene,
    server,
    asked,
    start: () => startProcess(['-i', '-v', ...scene.args], { environment }),
  };
}

const NO_MORE = failing(418, 'nothing more was expected');

function assertSilentAboutKey({ stdout, stderr }: Ended): void {
  assert.ok(!`${stdout}${stderr}`.includes(KEY), stderr);
}

suite('a model that is asked by a process of its own', () => {
  const provider = 'openai-compat';

  test('summarizes', async (t) => {
    const { scene, server, start } = await openStage(t, { provider, replies: [summary('They told it.')] });
    const ended = await endOf(start());
    assert.deepEqual(
      [ended.code, server.requests.length, paidTexts(scene.archive)],
      [0, 1, ['They told it.']],
      ended.stderr,
    );
    assert.match(scene.text(), /They told it\./);
    assert.deepEqual(scene.strangers(), []);
    assertSilentAboutKey(ended);
  });

  test('is not waited for once somebody interrupts, and what was paid until then is remembered', async (t) => {
    const { scene, asked, start } = await openStage(t, {
      provider,
      replies: [summary('They told it.'), { kind: 'hang' }],
      settings: { chunk_size: 2 },
    });
    const before = scene.sha256();
    const child = start();
    const ended = endOf(child);
    await asked;
    child.kill('SIGINT');
    const { code, signal, stderr } = await ended;
    assert.deepEqual(
      [code, signal, scene.sha256() === before, paidTexts(scene.archive), scene.strangers()],
      [130, null, true, ['They told it.'], []],
      stderr,
    );
  });
});

test('a wait for a service ends at once when somebody interrupts', async (t) => {
  const busy = failing(529, 'Overloaded', { headers: { 'retry-after': '50' } });
  const { scene, server, start } = await openStage(t, {
    provider: 'anthropic',
    replies: [busy],
    settings: { compaction_max_retries: 2 },
  });
  const child = start();
  const ended = endOf(child);
  const { stderr } = child;
  assert.ok(stderr);
  await once(stderr, 'data');
  child.kill('SIGINT');
  const { code, stderr: told } = await ended;
  assert.deepEqual([code, server.requests.length, paidTexts(scene.archive)], [130, 1, []]);
  assert.match(told, /answered 529 \(Overloaded\); trying again in 50 s \(1 of 2\)/);
});
