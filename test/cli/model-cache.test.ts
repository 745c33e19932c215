import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import {
  type ModelScene,
  openModelScene,
  paidTexts,
  type Provider,
  type Settings,
  summary,
  talkOf,
} from '../support/model-scene.ts';
import { failing } from '../support/model-server/reply.ts';
import type { Script } from '../support/model-server/server.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { type Ended, runHere, runProcess } from '../support/program.ts';
import { waitsMs } from '../support/quick-waits.ts';

type Stage = {
  readonly scene: ModelScene;
  readonly calls: () => number;
  /** A run that must end well. */
  readonly run: (...flags: readonly string[]) => Promise<Ended>;
};

const numbered: Script = (_, index) => summary(`Part ${index + 1} was told.`);

async function openStage(
  context: TestContext,
  {
    script = numbered,
    messages = 8,
    settings = {},
    provider = 'openai-compat',
  }: {
    readonly script?: Script;
    readonly messages?: number;
    readonly settings?: Settings;
    readonly provider?: Provider;
  } = {},
): Promise<Stage> {
  const server = await startModelServer(context, script);
  const scene = openModelScene(context, { provider, url: server.url, transcript: talkOf(messages), settings });
  const run = async (...flags: readonly string[]): Promise<Ended> => {
    const ended = await runHere([...flags, ...scene.args]);
    assert.equal(ended.code, 0, ended.stderr);
    return ended;
  };
  return { scene, calls: () => server.requests.length, run };
}

const partsOf = (text: string): readonly string[] => text.match(/Part \d+ was told\./g) ?? [];

suite('what was paid is not paid again', () => {
  test('a run that was killed after seven of ten summaries is finished with three calls', async (t) => {
    const { scene, calls, run } = await openStage(t, { messages: 40, settings: { clip_first: 10, clip_last: 10 } });
    const before = scene.sha256();
    const killed = { step: 'summarized', nth: 7, what: { kind: 'signals', names: ['SIGKILL'] } } as const;
    const { signal } = await runProcess(['-i', ...scene.args], { script: { happening: killed } });
    assert.deepEqual(
      [signal, calls(), scene.sha256() === before, paidTexts(scene.archive).length],
      ['SIGKILL', 7, true, 7],
    );
    await run('-i');
    assert.equal(calls(), 10);
    assert.deepEqual(
      partsOf(scene.text()),
      Array.from({ length: 10 }, (_, at) => `Part ${at + 1} was told.`),
    );
    assert.deepEqual(scene.strangers(), []);
  });

  test('the same file again, and a copy of what it was, need no call', async (t) => {
    const { scene, calls, run } = await openStage(t);
    await run('-i');
    const compacted = scene.text();
    await run('-i');
    assert.deepEqual([calls(), scene.text()], [2, compacted]);
    writeFileSync(scene.file, talkOf(8));
    await run('-i');
    assert.deepEqual([calls(), scene.text()], [2, compacted]);
  });

  test('asked again, the model is paid again, once a request, and its newest summaries count', async (t) => {
    const { scene, calls, run } = await openStage(t);
    await run('-i');
    writeFileSync(scene.file, talkOf(8));
    await run('-i', '--again');
    assert.deepEqual([calls(), partsOf(scene.text())], [4, ['Part 3 was told.', 'Part 4 was told.']]);
    writeFileSync(scene.file, talkOf(8));
    await run('-i');
    assert.deepEqual([calls(), partsOf(scene.text())], [4, ['Part 3 was told.', 'Part 4 was told.']]);
  });

  test('the run after a preview makes no call and writes the very summaries that were shown', async (t) => {
    const { scene, calls, run } = await openStage(t);
    const before = scene.sha256();
    const { result, output, preview } = JSON.parse((await run('--preview', '--json')).stdout);
    const shown = preview[0].text;
    assert.deepEqual([result, output, preview.length, partsOf(shown).length], ['planned', null, 1, 2]);
    assert.deepEqual([calls(), scene.sha256() === before, paidTexts(scene.archive).length], [2, true, 2]);
    const report = JSON.parse((await run('-i', '--json')).stdout);
    assert.deepEqual([calls(), report.usage.calls, report.usage.reused], [2, 0, 2]);
    assert.equal(JSON.parse(scene.text().split('\n')[0] ?? '').content, shown);
  });

  test('the run after a preview asks for no chunk as a whole that came to nothing as a whole', async (t) => {
    const full = failing(400, 'no room', { code: 'context_length_exceeded' });
    const { scene, calls, run } = await openStage(t, {
      settings: { chunk_size: 8 },
      script: (_, index) => (index <= 1 ? full : summary(`Part ${index} was told.`)),
    });
    const shown = JSON.parse((await run('--preview', '--json')).stdout).preview[0].text;
    assert.deepEqual(partsOf(shown), ['Part 2 was told.', 'Part 3 was told.', 'Part 4 was told.']);
    assert.equal(calls(), 5);
    await run('-i');
    assert.deepEqual([calls(), JSON.parse(scene.text().split('\n')[0] ?? '').content], [5, shown]);
  });

  test('the run after a preview does not ask again for what did not get better', async (t) => {
    const { scene, calls, run } = await openStage(t, {
      messages: 4,
      // A quotation that nobody said is asked about, and what comes of that is no summary.
      script: (_, index) => summary(index === 0 ? 'The user said: "We shall never use tea again."' : ''),
    });
    const shown = JSON.parse((await run('--preview', '--json')).stdout).preview[0].text;
    assert.equal(calls(), 2);
    await run('-i');
    assert.deepEqual([calls(), JSON.parse(scene.text().split('\n')[0] ?? '').content], [2, shown]);
  });

  test('where nothing is gained, the next run makes no call to find that out', async (t) => {
    const { scene, calls, run } = await openStage(t, {
      script: () => summary('They did it again. '.repeat(80)),
      messages: 4,
    });
    const before = scene.sha256();
    const first = await run('-i', '--json');
    assert.deepEqual([JSON.parse(first.stdout).reason, JSON.parse(first.stdout).usage.calls], ['nothing-gained', 1]);
    assert.equal(calls(), 1);
    await run('-i');
    assert.deepEqual([calls(), scene.sha256()], [1, before]);
  });

  const changes: readonly { readonly what: string; readonly provider?: Provider; readonly settings: Settings }[] = [
    { what: 'another model', settings: { name: 'other-model' } },
    { what: 'another provider', provider: 'ollama', settings: {} },
    { what: 'masks where there were none', settings: { redact: true } },
    { what: 'longer summaries', settings: { max_summary_tokens: 301 } },
    { what: 'another prompt', settings: { prompt: 'Tell it to a child.' } },
  ];
  for (const { what, provider = 'openai-compat', settings } of changes) {
    test(`${what}: everything is asked for anew`, async (t) => {
      const { scene, calls, run } = await openStage(t);
      await run('--preview');
      scene.configure(provider, settings);
      await run('--preview');
      assert.equal(calls(), 4);
    });
  }

  test('another time limit or number of tries is the same request', async (t) => {
    const { scene, calls, run } = await openStage(t);
    await run('--preview');
    scene.configure('openai-compat', { compaction_timeout: 599_999, compaction_max_retries: 1 });
    await run('--preview');
    assert.equal(calls(), 2);
  });
});

suite('several transcripts', () => {
  async function runOver(
    context: TestContext,
    count: number,
    { jobs = 1, ...setup }: NonNullable<Parameters<typeof openStage>[1]> & { readonly jobs?: number },
  ): Promise<{ readonly ended: Ended; readonly calls: number }> {
    const { scene, calls } = await openStage(context, setup);
    const others = Array.from({ length: count - 1 }, (_, at) => join(scene.folder, `talk-${at}.jsonl`));
    // Texts of their own, or what was paid for one would serve for all.
    for (const [at, path] of others.entries()) writeFileSync(path, talkOf(12 + 4 * at));
    waitsMs.splice(0);
    return { ended: await runHere(['-i', '-j', `${jobs}`, ...scene.args, ...others]), calls: calls() };
  }

  test('L6: after three that failed in a row no more calls are made', async (t) => {
    const { ended, calls } = await runOver(t, 5, { script: () => failing(401, 'invalid key') });
    assert.deepEqual([ended.code, calls], [1, 3]);
    assert.equal(ended.stderr.match(/answered 401/g)?.length, 3, ended.stderr);
    assert.equal(ended.stderr.match(/too many compactions in a row have failed/g)?.length, 2, ended.stderr);
  });

  test('L6: one that succeeds between them starts the count again', async (t) => {
    const { calls } = await runOver(t, 5, {
      settings: { chunk_size: 100 },
      script: (_, index) => (index === 2 ? summary('They told it.') : failing(401, 'invalid key')),
    });
    assert.equal(calls, 5);
  });

  for (const jobs of [1, 2]) {
    test(`requests a minute are counted over all of them, ${jobs} at a time`, async (t) => {
      const settings = { chunk_size: 100, requests_per_minute: 1 };
      const { ended, calls } = await runOver(t, 2, { settings, jobs });
      assert.deepEqual([ended.code, calls], [0, 2], ended.stderr);
      assert.deepEqual(
        waitsMs.map((ms) => Math.ceil(ms / 10_000)),
        [6],
      );
    });
  }
});

suite('how a summary was had', () => {
  test('halves are recorded and shown as such', async (t) => {
    const full = failing(400, 'no room', { code: 'context_length_exceeded' });
    const { scene, run } = await openStage(t, {
      messages: 12,
      settings: { chunk_size: 6 },
      script: (_, index) => (index === 0 ? full : summary(`Part ${index} was told.`)),
    });
    const report = JSON.parse((await run('-i', '--json')).stdout);
    assert.deepEqual(levelsOf(report), ['halved', 'halved', undefined]);
    assert.deepEqual(partsOf(scene.text()), ['Part 1 was told.', 'Part 2 was told.', 'Part 3 was told.']);
    assert.deepEqual(levelsOf(JSON.parse((await again(scene, 12, run)).stdout)), ['halved', 'halved', undefined]);
  });

  test('the offline summarizer in the place of a service that fails is recorded and shown, and not remembered as paid', async (t) => {
    const { scene, calls, run } = await openStage(t, {
      settings: { fallback: 'extractive' },
      script: (_, index) => (index === 0 ? summary('Part 1 was told.') : failing(403, 'no more')),
    });
    const done = await run('-i', '--json');
    assert.deepEqual(levelsOf(JSON.parse(done.stdout)), [undefined, 'fallback']);
    assert.match(done.stderr, /talk\.jsonl: .*answered 403 \(no more\).*: summarized offline instead\n/);
    assert.deepEqual([calls(), paidTexts(scene.archive).length], [2, 1]);
  });

  test('what took a second try is recorded and shown', async (t) => {
    const { run, calls } = await openStage(t, {
      script: (_, index) => summary(index === 0 ? '' : `Part ${index} was told.`),
    });
    const report = JSON.parse((await run('-i', '--json')).stdout);
    assert.deepEqual([levelsOf(report), calls(), report.usage.retries], [['feedback', undefined], 3, 1]);
  });

  type Reported = { readonly conversations: readonly { readonly batches: readonly { readonly level?: string }[] }[] };
  const levelsOf = ({ conversations }: Reported): readonly (string | undefined)[] =>
    conversations.flatMap(({ batches }) => batches.map(({ level }) => level));
  const again = async ({ file }: ModelScene, messages: number, run: Stage['run']): Promise<Ended> => {
    writeFileSync(file, talkOf(messages));
    return run('-i', '--json');
  };
});
