import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { collect } from '../../support/collect.ts';
import { findLeftovers } from '../../support/leftovers.ts';
import { listHolds } from '../../support/retention.ts';
import { killWhereItStops } from '../../support/stopping.ts';
import { benchFor, reportOf, rerun } from '../../support/workbench.ts';

const SECRET = 'zanzibarquux';

const STEPS = [
  { step: 'when compactions are marked', isDone: false },
  { step: 'when lines are gone', isDone: false },
  { step: 'when erased', isDone: true },
  { step: 'when purged', isDone: true },
] as const;

for (const { step, isDone } of STEPS) {
  test(`an erasure killed ${step} is ${isDone ? 'finished by the next command' : 'as if it had never begun'}`, async (t) => {
    const bench = benchFor(t);
    bench.write('talk.jsonl', `${chatLine({ role: 'user', content: `It is ${SECRET}.` })}\n${chatTranscript(20)}`);
    const original = bench.read('talk.jsonl');
    reportOf(await bench.compact('talk.jsonl'));
    await bench.archive().close();
    await killWhereItStops(t, { work: 'erase', folder: bench.folder, named: SECRET, stopsAt: step });
    const next = rerun(t, bench);
    await listHolds(next);
    assert.deepEqual(
      (await collect(next.archive().check())).filter(({ kind }) => kind === 'damage'),
      [],
    );
    const verified = await next.verify('talk.jsonl');
    if (isDone) {
      assert.deepEqual(findLeftovers(bench.archivePath, SECRET), []);
      assert.equal(verified.result, 'reduced');
    } else {
      assert.equal(verified.result, 'verified');
      assert.deepEqual(await next.restore('talk.jsonl'), original);
      assert.notDeepEqual(findLeftovers(bench.archivePath, SECRET), []);
      assert.deepEqual(await next.archive().retention.listErasures(), []);
    }
  });
}
