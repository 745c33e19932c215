import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../../src/adapters/transcript/gemini/log.ts';

test('a rewind and a checkpoint take very many messages back at once', () => {
  const count = 200_000;
  const log = createLog();
  const addAll = (from: number): void => {
    for (let at = 0; at < count; at += 1)
      log.add({ kind: 'message', id: `${from + at}`, key: '', isSaid: true }, from + at);
  };
  addAll(1);
  log.add({ kind: 'rewind', id: '1' }, count + 1);
  addAll(count + 2);
  log.add({ kind: 'checkpoint', messages: [] }, 2 * count + 2);
  const { live, takenBack, lastLineOf } = log.read();
  assert.deepEqual([live.length, takenBack.size, lastLineOf.size], [0, count, 2 * count]);
});
