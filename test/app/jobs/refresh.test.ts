import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchStep } from '../../../src/app/jobs/records.ts';
import { submitBatches } from '../../../src/app/jobs/submit.ts';
import { DIALECTS, openScene, stateOf, submitted } from './scene.ts';

class KilledError extends Error {}

for (const dialect of DIALECTS) {
  test(`${dialect}: a batch of a run that was killed is found at once, or sent again five minutes later`, async (t) => {
    for (const step of ['sent', 'claimed'] as const) {
      const scene = await openScene(t, dialect);
      const { deps } = scene.run();
      const onStep = (one: BatchStep): void => {
        if (one === step) throw new KilledError();
      };
      await assert.rejects(submitBatches({ ...deps, onStep }, [submitted(scene.bench, 'talk.jsonl')]), KilledError);
      if (step === 'sent') {
        scene.server.finish();
        await scene.collect();
        assert.equal(scene.server.batches.length, 2, 'it was found and collected, and the merge was sent');
        continue;
      }
      assert.match((await scene.collect()).warnings[0] ?? '', /Run 'compact batch collect' in 5 minutes: /);
      scene.pass(310_000);
      assert.deepEqual((await scene.collect()).warnings, []);
      assert.equal(scene.server.batches.length, 1);
    }
  });

  test(`${dialect}: a batch on a later page of the list is found, and a page that fails decides nothing`, async (t) => {
    const scene = await openScene(t, dialect);
    scene.server.faults.push('lose-answer');
    await scene.submit();
    scene.server.addForeign(4, 7);
    scene.server.finish();
    Object.assign(scene.server.pages, { size: 2, failing: 1 });
    scene.pass(200_000);
    assert.match((await scene.collect()).problems[0] ?? '', /answered 500 \(the page failed\)/);
    assert.deepEqual([await stateOf(scene), scene.server.batches.length], ['waiting', 5]);
    scene.server.pages.asked = 0;
    await scene.collect();
    assert.equal(scene.server.pages.asked, 3);
    assert.equal(scene.server.batches.length, 6, 'it was found, and the merge was sent');
    assert.deepEqual([...new Set(scene.server.paid.values())], [1]);
  });
}
