import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thisCaller } from '../../../src/adapters/runtime/node.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { chatTranscript } from '../../support/chat.ts';
import { erase, hold, prune, release } from '../../support/retention.ts';
import { reportOf } from '../../support/workbench.ts';
import { benchOn, type Engine } from './engine.ts';

/** The actions and their details, after it is checked that each says who, and when. */
async function deedsIn(archive: Archive): Promise<readonly (readonly [string, Readonly<Record<string, unknown>>])[]> {
  const entries = await archive.log.list();
  for (const { by, doneAt } of entries) {
    assert.deepEqual(by, thisCaller());
    assert.ok(doneAt.getTime() > 0);
  }
  return entries.map(({ action, details }) => [action, Object(JSON.parse(details))]);
}

export function logContract(engine: Engine): void {
  test('holds, erasures and prunes are logged with who did it, and what is only listed is not', async (t) => {
    const bench = await benchOn(engine, t);
    for (const [at, name] of ['a.jsonl', 'b.jsonl', 'c.jsonl'].entries()) {
      bench.write(name, chatTranscript(30, 100 * at));
      reportOf(await bench.compact(name));
    }
    const scope = { kind: 'source', value: 'b.jsonl' } as const;
    await hold(bench, scope);
    await erase(bench, { kind: 'source', glob: 'b.jsonl' });
    await erase(bench, { kind: 'source', glob: 'a.jsonl' }, { isConfirmed: false });
    const first = await erase(bench, { kind: 'source', glob: 'a.jsonl' }, { reason: 'a request' });
    const second = await erase(bench, { kind: 'source', glob: 'b.jsonl' }, { reason: 'a court', despiteHold: true });
    await release(bench, scope);
    await release(bench, scope);
    const third = await prune(bench, { before: new Date('2100-01-01') });
    const deeds = await deedsIn(bench.archive());
    assert.deepEqual(
      deeds.map(([action, { source, receipt, reason, compactions, despiteHold }]) =>
        [action, source, receipt, reason, compactions, despiteHold].filter((fact) => fact !== undefined),
      ),
      [
        ['hold', 'b.jsonl', null],
        ['erase', first.receipt?.receipt, 'a request', 1],
        ['erase', second.receipt?.receipt, 'a court', 1, true],
        ['release', 'b.jsonl'],
        ['prune', third.receipt?.receipt, null, 1],
      ],
    );
  });
}
