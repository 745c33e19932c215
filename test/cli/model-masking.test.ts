import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import { drawn } from '../adapters/redact/secrets.ts';
import { chatLine, prose } from '../support/chat.ts';
import {
  type ModelScene,
  openModelScene,
  paidTexts,
  type Provider,
  PROVIDERS,
  summary,
} from '../support/model-scene.ts';
import { failing } from '../support/model-server/reply.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { runHere } from '../support/program.ts';

// Made up, each of a kind of its own.
const TOKEN = `ghp_${drawn(36)}`;
const PASSWORD = `${drawn(18)}9x`;
const BEARER = drawn(40);
const SLACK = `xoxb-${drawn(11, '0123456789')}-${drawn(12, '0123456789')}-${drawn(24)}`;
/** Only the model says it. */
const INVENTED = `ghp_${drawn(35)}Z`;
const SECRETS = [TOKEN, PASSWORD, BEARER, SLACK, INVENTED];

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'fetch', arguments: JSON.stringify({ headers: { Authorization: `Bearer ${BEARER}` } }) },
};
const OLDER = linesOf([
  { role: 'user', content: `Take the token ${TOKEN} for it. ${prose(1, 80)}` },
  { role: 'assistant', content: prose(2, 80), tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'call_1', content: `postgres://admin:${PASSWORD}@db.example.com/main ${prose(3, 80)}` },
  { role: 'assistant', content: `The token ${TOKEN} works. ${prose(4, 80)}` },
]);
const RECENT = linesOf([
  { role: 'user', content: `And now? ${prose(5, 60)}` },
  { role: 'assistant', content: `All is well. ${prose(6, 60)}` },
]);

function linesOf(records: readonly Readonly<Record<string, unknown>>[]): string {
  return records.map((record) => `${chatLine(record)}\n`).join('');
}

type Stage = { readonly scene: ModelScene; readonly sent: () => string; readonly run: () => Promise<void> };

async function openStage(
  context: TestContext,
  provider: Provider,
  settings: { readonly redact?: boolean } = {},
): Promise<Stage> {
  // The n-th answer tells secrets too: one that it was not shown, and one that an unmasked request shows it.
  const server = await startModelServer(context, (_, index) => summary(`Part ${index + 1}: ${SLACK} and ${INVENTED}.`));
  const scene = openModelScene(context, { provider, url: server.url, transcript: OLDER + RECENT, settings });
  return {
    scene,
    sent: () => JSON.stringify(server.requests.map(({ body }) => body)),
    run: async () => {
      const ended = await runHere(['-i', ...scene.args]);
      assert.equal(ended.code, 0, ended.stderr);
    },
  };
}

const tellingIn = (text: string): readonly string[] => SECRETS.filter((secret) => text.includes(secret));

for (const provider of PROVIDERS) {
  suite(`${provider}: secrets`, () => {
    test('of messages, calls and results never reach the server; the answer is masked; the way back has them all', async (t) => {
      const { scene, sent, run } = await openStage(t, provider, { redact: true });
      await run();
      assert.deepEqual(tellingIn(sent()), []);
      assert.match(sent(), /Take the token \[redacted:[\w.-]+:1\] for it\..*The token \[redacted:[\w.-]+:1\] works\./s);
      // What the user typed stands in the local file word for word, as it did before; the model's answer stands there masked.
      assert.deepEqual([tellingIn(scene.text()), tellingIn(paidTexts(scene.archive).join('\n'))], [[TOKEN], []]);
      const restored = await runHere(['restore', '--archive', scene.archive, scene.file]);
      assert.equal(restored.stdout, OLDER + RECENT);
    });

    test('of a previous summary that was made without masks never reach the server', async (t) => {
      const { scene, sent, run } = await openStage(t, provider, { redact: false });
      await run();
      assert.deepEqual(tellingIn(scene.text()), [TOKEN, SLACK, INVENTED]);
      const before = sent().length;
      appendFileSync(scene.file, OLDER + RECENT);
      scene.configure(provider, { redact: true });
      await run();
      const second = sent().slice(before);
      assert.match(second, /Previous summary of conversation:/);
      assert.deepEqual(tellingIn(second), []);
      const restored = await runHere(['restore', '--all', '--archive', scene.archive, scene.file]);
      assert.equal(restored.stdout, OLDER + RECENT + OLDER + RECENT);
    });

    test('go to a server on this machine as they are, unless the configuration says otherwise', async (t) => {
      const { sent, run } = await openStage(t, provider);
      await run();
      assert.deepEqual(tellingIn(sent()), [TOKEN, PASSWORD, BEARER]);
    });
  });
}

test('a run that continues from paid summaries gives every secret the same mask', async (t) => {
  const other = `ghp_${drawn(34)}Qq`;
  const secretTalk = linesOf(
    [TOKEN, other, other].flatMap((token, at) => [
      { role: 'user', content: `Take the token ${token} for it. ${prose(at, 80)}` },
      { role: 'assistant', content: `It works. ${prose(at + 10, 80)}` },
    ]),
  );
  const state = { isBroken: true };
  const server = await startModelServer(t, (_, index) =>
    state.isBroken && index === 2 ? failing(401, 'not now') : summary(`They used ${INVENTED}.`),
  );
  const setup = { provider: 'openai-compat', url: server.url, transcript: secretTalk + RECENT } as const;
  const scene = openModelScene(t, { ...setup, settings: { chunk_size: 2, redact: true } });
  assert.equal((await runHere(['-i', ...scene.args])).code, 1);
  state.isBroken = false;
  assert.equal((await runHere(['-i', ...scene.args])).code, 0);
  const [, , before, after, ...others] = server.requests.map(({ body }) => body);
  assert.deepEqual([after, others], [before, []]);
});

test('a preview of masked requests shows what the run after it writes, without a call', async (t) => {
  const { scene, sent, run } = await openStage(t, 'openai-compat', { redact: true });
  const preview = await runHere(['--preview', '--json', ...scene.args]);
  assert.equal(preview.code, 0, preview.stderr);
  const paid = sent();
  await run();
  assert.equal(sent(), paid);
  const { content } = JSON.parse(scene.text().split('\n')[0] ?? '');
  assert.equal(content, JSON.parse(preview.stdout).preview[0].text);
});
