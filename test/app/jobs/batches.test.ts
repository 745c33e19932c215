import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { collectBatches } from '../../../src/app/jobs/collect.ts';
import { batchStatus, cancelBatches, submitBatches } from '../../../src/app/jobs/submit.ts';
import type { Step } from '../../../src/ports/runtime.ts';
import type { Fate } from '../../support/batch-server.ts';
import { prose } from '../../support/chat.ts';
import { KEY, summary, talkOf } from '../../support/model-scene.ts';
import { serveModels } from '../../support/model-server/server.ts';
import { benchWith } from '../../support/workbench.ts';
import {
  type batchRun,
  compactLive,
  type Dialect,
  DIALECTS,
  openScene,
  replyTo,
  stateOf,
  submitted,
  TALK,
  untilDone,
} from './scene.ts';

const SHORT = talkOf(20); // the shortest that needs a merge
const DAY_MS = 86_400_000;

class KilledError extends Error {}

/** The file as a live run with the same settings compacts it. */
async function liveBytes(t: TestContext, dialect: Dialect, talk = TALK): Promise<Buffer> {
  const server = await serveModels(({ body }) => summary(replyTo(body)));
  t.after(server.close);
  const bench = benchWith(t, 'talk.jsonl', talk);
  return compactLive(bench, 'talk.jsonl', { dialect, url: server.url });
}

for (const dialect of DIALECTS) {
  test(`${dialect}: a batch gives the bytes of a live run, and pays for each request once`, async (t) => {
    const scene = await openScene(t, dialect);
    assert.deepEqual((await scene.submit()).problems, []);
    assert.equal(scene.bench.read('talk.jsonl').toString(), TALK);
    assert.deepEqual((await scene.submit()).warnings, ["talk.jsonl: already submitted; see 'compact batch status'"]);
    await scene.collect();
    assert.equal(await stateOf(scene), 'waiting', 'nothing has ended yet');
    const { problems } = await untilDone(scene);
    assert.deepEqual(problems, []);
    assert.equal(scene.server.batches.length, 2, 'the chunks, and then their merge');
    assert.deepEqual([...new Set(scene.server.paid.values())], [1]);
    assert.deepEqual(scene.bench.read('talk.jsonl'), await liveBytes(t, dialect));
    assert.equal((await scene.bench.verify('talk.jsonl')).result, 'verified');
    await scene.collect();
    assert.equal(scene.server.batches.length, 2);
  });

  test(`${dialect}: requests that fail or expire are sent again alone, three times at most`, async (t) => {
    const scene = await openScene(t, dialect);
    await scene.submit();
    const fates: readonly Fate[] = ['errored', 'expired', 'lost', 'succeeded', 'succeeded'];
    scene.server.finish((_, at) => fates[at] ?? 'succeeded');
    await scene.collect();
    assert.equal(scene.server.batches[1]?.asked.length, 3);
    await untilDone(scene);
    assert.equal(await stateOf(scene), 'collected');
    assert.deepEqual([...new Set(scene.server.paid.values())], [1]);

    const hopeless = await openScene(t, dialect);
    await hopeless.submit();
    const { files } = await untilDone(hopeless, (_, at) => (at === 0 ? 'errored' : 'succeeded'));
    assert.equal(await stateOf(hopeless), 'failed');
    assert.match(files[0]?.note ?? '', /overloaded/);
    assert.equal(hopeless.server.batches.length, 3);
    assert.equal(hopeless.bench.read('talk.jsonl').toString(), TALK);
  });

  test(`${dialect}: a request that the service refuses fails its file, and submitting it again sends only that`, async (t) => {
    const scene = await openScene(t, dialect);
    await scene.submit();
    await untilDone(scene, (_, at) => (at === 1 ? 'invalid' : 'succeeded'));
    assert.equal(await stateOf(scene), 'failed');
    await scene.submit();
    assert.equal(scene.server.batches[1]?.asked.length, 1);
    await untilDone(scene);
    assert.equal(await stateOf(scene), 'collected');
  });

  test(`${dialect}: a batch whose answer was lost is found, and one that was refused is sent again`, async (t) => {
    const scene = await openScene(t, dialect);
    scene.server.faults.push('lose-answer');
    assert.match((await scene.submit()).problems[0] ?? '', /closed the connection/);
    const [warning = ''] = (await scene.collect()).warnings;
    // OpenAI stores our mark with a batch. Those of Anthropic can only be told apart by their results.
    if (dialect === 'openai-compat') assert.equal(warning, '');
    else assert.match(warning, /has not confirmed 7 requests \(sent at .*Run 'compact batch collect' in 2 minutes/);
    await untilDone(scene);
    assert.equal(scene.server.batches.length, 2);
    assert.deepEqual([...new Set(scene.server.paid.values())], [1]);

    const refused = await openScene(t, dialect);
    refused.server.faults.push(400);
    assert.match((await refused.submit()).problems[0] ?? '', /refused by the test/);
    await refused.collect();
    assert.equal(refused.server.batches.length, 1);
    const failing = await openScene(t, dialect);
    failing.server.faults.push(500);
    await failing.submit();
    failing.pass(200_000);
    await failing.collect();
    assert.equal(failing.server.batches.length, 1, 'it was not in the list, so it was never created');
  });

  test(`${dialect}: after a cancel, what was answered is kept, and submitting again pays for the rest`, async (t) => {
    const scene = await openScene(t, dialect);
    await scene.submit();
    const { deps } = scene.run();
    assert.equal(await cancelBatches(deps), 1);
    assert.equal((await batchStatus(scene.bench.archive(), new Date(0))).batches[0]?.state, 'canceling');
    scene.server.finish((_, at) => (at < 2 ? 'succeeded' : 'canceled'));
    await scene.collect();
    assert.equal(await stateOf(scene), 'canceled');
    assert.equal(scene.bench.read('talk.jsonl').toString(), TALK);
    await scene.submit();
    const [first, second] = scene.server.batches;
    assert.equal(second?.asked.length, (first?.asked.length ?? 0) - 2);
    await untilDone(scene);
    assert.equal(await stateOf(scene), 'collected');
    assert.deepEqual([...new Set(scene.server.paid.values())], [1]);

    const late = await openScene(t, dialect);
    await late.submit();
    await cancelBatches(late.run().deps);
    late.server.finish();
    await late.collect();
    assert.equal(await stateOf(late), 'canceled', 'all was answered, but the merge is not sent');
    assert.equal(late.server.batches.length, 1);
    await late.submit();
    assert.deepEqual(
      late.server.batches.map(({ asked }) => asked.length),
      [7, 1],
    );
  });

  test(`${dialect}: people are warned before results expire, and told when they are gone`, async (t) => {
    const scene = await openScene(t, dialect);
    await scene.submit();
    scene.server.finish();
    scene.pass(27.5 * DAY_MS);
    scene.server.deleteResults();
    assert.match((await scene.collect()).problems.join('\n'), /does not know batch batch_1\. Check the workspace/);
    assert.equal(
      await stateOf(scene),
      'waiting',
      'before its time, a batch that is not found may be in another account',
    );
    scene.pass(3 * DAY_MS);
    const { problems } = await scene.collect();
    assert.match(problems.join('\n'), /has deleted the results of batch batch_1: submitting the file again pays again/);
    assert.equal(await stateOf(scene), 'failed');
    assert.equal(scene.server.batches.length, 1, 'nothing is paid again by itself');

    const late = await openScene(t, dialect);
    await late.submit();
    late.server.finish();
    late.pass(28 * DAY_MS);
    assert.match((await late.collect()).warnings[0] ?? '', /the results of batch batch_1 are deleted at 2026-12-/);
  });
}

for (const after of ['submit', 'other provider', 'cancel'] as const) {
  test(`a transcript whose batch was refused can be taken by: ${after}`, async (t) => {
    const scene = await openScene(t, 'anthropic');
    scene.server.faults.push(401);
    assert.match((await scene.submit()).problems[0] ?? '', /answered 401/);
    const [file] = (await batchStatus(scene.bench.archive(), new Date(0))).files;
    assert.deepEqual([file?.state, file?.unsent], ['waiting', file?.requests]);
    if (after === 'cancel') {
      const { deps, said } = scene.run();
      assert.equal(await cancelBatches(deps), 0);
      assert.deepEqual([said.files[0]?.state, await stateOf(scene)], ['canceled', 'canceled']);
      await scene.collect();
      assert.equal(scene.server.batches.length, 0);
      return;
    }
    const { deps, said } = scene.run(after === 'submit' ? {} : { dialect: 'openai-compat' });
    const { files, batches, unclear } = await submitBatches(deps, [submitted(scene.bench, 'talk.jsonl')]);
    assert.deepEqual([files, batches, unclear, said.warnings], [1, 1, 0, []]);
    const [again] = (await batchStatus(scene.bench.archive(), new Date(0))).files;
    assert.deepEqual([again?.state, again?.unsent], ['waiting', 0]);
  });
}

test('another address gets nothing, and another key neither loses results nor pays again', async (t) => {
  const scene = await openScene(t, 'anthropic');
  scene.server.faults.push('lose-answer');
  await scene.submit();
  scene.pass(4_000_000);
  const elsewhere = await openScene(t, 'anthropic');
  const away = scene.run({ url: elsewhere.server.url });
  await collectBatches(away.deps);
  await cancelBatches(away.deps);
  assert.match(away.said.warnings.join('\n'), /was sent to http:\S+\. Run this with --base-url http:/);
  assert.equal(elsewhere.server.batches.length, 0);
  scene.server.hide(true);
  const other = scene.run({ key: 'another-made-up-key-0123456789' });
  await collectBatches(other.deps);
  assert.match(other.said.warnings.join('\n'), /was sent with another key/);
  assert.deepEqual([await stateOf(scene), scene.server.batches.length], ['waiting', 1]);
  scene.server.hide(false);
  scene.server.finish();
  await scene.collect();
  scene.server.hide(true);
  const lost = scene.run({ key: 'another-made-up-key-0123456789' });
  await collectBatches(lost.deps);
  assert.match(lost.said.problems.join('\n'), /does not know batch batch_2, which was sent with another key/);
  scene.server.hide(false);
  await untilDone(scene);
  assert.equal(await stateOf(scene), 'collected');
  assert.deepEqual([...new Set(scene.server.paid.values())], [1]);
});

test('a batch that is created long after its run was given up is canceled', async (t) => {
  const scene = await openScene(t, 'anthropic');
  const slow = scene.run();
  const { service } = slow.deps;
  const create: typeof service.create = async (...call) => {
    scene.pass(3_000_000);
    await scene.collect();
    assert.equal(await stateOf(scene), 'waiting', 'the call may still be under way');
    assert.deepEqual(scene.server.batches, []);
    scene.pass(3_000_000);
    await scene.collect();
    return service.create(...call);
  };
  await submitBatches({ ...slow.deps, service: { ...service, create } }, [submitted(scene.bench, 'talk.jsonl')]);
  assert.match(slow.said.problems.join('\n'), /batch batch_2 was canceled: another run gave it up/);
  assert.deepEqual(
    scene.server.batches.map(({ status }) => status),
    ['running', 'canceling'],
  );
});

test('a transcript whose answers were erased fails once, and can be submitted again', async (t) => {
  const scene = await openScene(t, 'anthropic');
  await scene.submit();
  scene.server.finish();
  const { deps } = scene.run();
  const { summaries } = deps.archive;
  const archive = { ...deps.archive, summaries: { ...summaries, find: async () => null } };
  await collectBatches({ ...deps, archive });
  assert.equal(await stateOf(scene), 'failed');
  const again = scene.run();
  await submitBatches({ ...again.deps, archive }, [submitted(scene.bench, 'talk.jsonl')]);
  assert.deepEqual(
    scene.server.batches.map(({ asked }) => asked.length),
    [7, 7],
  );
  await untilDone(scene);
  assert.equal(await stateOf(scene), 'collected');
});

for (const dialect of DIALECTS) {
  test(`${dialect}: an answer that repeats the API key is masked`, async (t) => {
    const scene = await openScene(t, dialect, () => `They worked on ${KEY} and ${prose(3, 25)}.`);
    await scene.submit();
    await untilDone(scene);
    const text = scene.bench.read('talk.jsonl').toString();
    assert.deepEqual([text.includes(KEY), text.includes('[key]')], [false, true]);
  });
}

test('requests whose arrival is not known are not counted as sent, and cannot be taken', async (t) => {
  const scene = await openScene(t, 'anthropic');
  scene.server.faults.push(500);
  const { deps, said } = scene.run();
  const files = [submitted(scene.bench, 'talk.jsonl')];
  assert.deepEqual(await submitBatches(deps, files), { files: 1, batches: 0, requests: 0, unclear: 7 });
  const unknown = /^The provider has not confirmed 7 requests .* Run 'compact batch collect' in 2 minutes: /;
  assert.match(said.warnings[0] ?? '', unknown);
  assert.match((await scene.submit()).warnings[0] ?? '', /already submitted/);
  scene.pass(200_000);
  scene.server.faults.push(500);
  const collecting = scene.run();
  assert.equal((await collectBatches(collecting.deps)).unclear, 7);
  assert.match(collecting.said.warnings.at(-1) ?? '', unknown);
  const canceling = scene.run();
  assert.equal(await cancelBatches(canceling.deps), 0);
  assert.deepEqual([canceling.said.files, await stateOf(scene)], [[], 'waiting']);
  scene.pass(200_000);
  await scene.collect();
  assert.deepEqual([await stateOf(scene), scene.server.batches.length], ['canceled', 0]);
});

test('answers that nobody asked for are refused and named', async (t) => {
  const scene = await openScene(t, 'anthropic');
  await scene.submit();
  scene.server.addStranger('stranger');
  scene.server.finish();
  const { deps } = scene.run();
  assert.deepEqual((await collectBatches(deps)).unknown, ['stranger']);
});

test('batches are split under the limits', async (t) => {
  for (const limits of [{ requests: 2 }, { bytes: 9000 }]) {
    const scene = await openScene(t, 'openai-compat');
    const { deps } = scene.run({ limits });
    await submitBatches(deps, [submitted(scene.bench, 'talk.jsonl')]);
    const sizes = scene.server.batches.map(({ asked }) => asked.length);
    assert.ok(sizes.length > 2, String(sizes));
    assert.ok(sizes.every((size) => size <= (limits.requests ?? 5)));
    await untilDone(scene);
    assert.equal(await stateOf(scene), 'collected');
  }
});

test('a transcript that grew is compacted up to where it was planned; one that was changed is left alone', async (t) => {
  const scene = await openScene(t, 'anthropic');
  const changed = scene.bench.write('changed.jsonl', talkOf(30));
  await scene.submit('talk.jsonl', 'changed.jsonl');
  appendFileSync(scene.bench.path('talk.jsonl'), talkOf(2));
  scene.bench.write('changed.jsonl', talkOf(30).slice(1000));
  const { files } = await untilDone(scene);
  const notes = new Map(files.map(({ path, state, note }) => [path, [state, note]]));
  assert.deepEqual(notes.get(changed), ['left', 'it was compacted or changed after it was submitted']);
  assert.equal(notes.get(scene.bench.path('talk.jsonl'))?.[0], 'collected');
  assert.ok(scene.bench.read('talk.jsonl').toString().endsWith(talkOf(2)));
  assert.equal((await scene.bench.restore('talk.jsonl')).toString(), TALK + talkOf(2));
});

test('two transcripts with the same content share their requests', async (t) => {
  const scene = await openScene(t, 'anthropic');
  scene.bench.write('copy.jsonl', TALK);
  await scene.submit('talk.jsonl', 'copy.jsonl');
  assert.equal(scene.server.batches[0]?.asked.length, 7);
  await untilDone(scene);
  assert.deepEqual(scene.bench.read('copy.jsonl'), scene.bench.read('talk.jsonl'));
  assert.deepEqual([...new Set(scene.server.paid.values())], [1]);
});

test('a transcript that a killed run compacted and did not record counts as compacted, even if it has grown', async (t) => {
  const scene = await openScene(t, 'anthropic');
  scene.bench.write('talk.jsonl', SHORT);
  await scene.submit();
  scene.server.finish();
  const { deps } = scene.run();
  const reached = (step: Step): void => {
    if (step === 'renamed') throw new KilledError();
  };
  await assert.rejects(collectBatches({ ...deps, reached }), KilledError);
  assert.equal(await stateOf(scene), 'waiting');
  appendFileSync(scene.bench.path('talk.jsonl'), talkOf(2));
  const { files } = await scene.collect();
  assert.deepEqual(
    files.map(({ state, note }) => [state, note]),
    [['collected', null]],
  );
  const expected = await liveBytes(t, 'anthropic', SHORT);
  assert.deepEqual(scene.bench.read('talk.jsonl').toString(), expected.toString() + talkOf(2));
});

for (const dialect of DIALECTS) {
  test(`${dialect}: stopped at any step, it goes on, and no request is paid twice`, async (t) => {
    const expected = await liveBytes(t, dialect, SHORT);
    for (let stopAt = 1, isPast = false; !isPast; stopAt += 1) {
      const scene = await openScene(t, dialect);
      scene.bench.write('talk.jsonl', SHORT);
      const steps = { count: 0 };
      const attempt = async (work: (run: ReturnType<typeof batchRun>) => Promise<unknown>): Promise<void> => {
        const { deps, said } = scene.run();
        const onStep = (): void => {
          steps.count += 1;
          if (steps.count === stopAt) throw new KilledError();
        };
        await work({ deps: { ...deps, onStep }, said }).catch((error: unknown) => {
          if (!(error instanceof KilledError)) throw error;
        });
      };
      await attempt(({ deps }) => submitBatches(deps, [submitted(scene.bench, 'talk.jsonl')]));
      for (let round = 0; round < 8 && (await stateOf(scene)) !== 'collected'; round += 1) {
        scene.server.finish();
        scene.pass(4_000_000);
        await attempt(({ deps }) => collectBatches(deps));
      }
      assert.equal(await stateOf(scene), 'collected', `stopped at step ${stopAt}`);
      assert.deepEqual([...new Set(scene.server.paid.values())], [1], `stopped at step ${stopAt}`);
      assert.deepEqual(scene.bench.read('talk.jsonl'), expected);
      isPast = steps.count < stopAt;
    }
  });
}
