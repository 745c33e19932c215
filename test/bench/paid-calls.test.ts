import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Call, classifyRepeats, servePaidModel } from './paid-calls.ts';

const FIRST: Call = { worker: 1, request: 'a', text: 'first', askedMs: 100, answeredMs: 300 };
const SECOND: Call = { worker: 2, request: 'a', text: 'second', askedMs: 900, answeredMs: 1100 };

for (const { name, calls, endMs = 340, stored = [], expected } of [
  { name: 'asked once', calls: [FIRST, { ...SECOND, request: 'b' }], expected: [] },
  { name: 'cut off by a kill', calls: [{ ...FIRST, answeredMs: null }, SECOND], expected: [] },
  { name: 'not stored in time', calls: [FIRST, SECOND], expected: [{ kind: 'lost', afterMs: 40 }] },
  { name: 'killed while it waited', calls: [FIRST, SECOND], endMs: 290, expected: [{ kind: 'unheard' }] },
  { name: 'stored', calls: [FIRST, SECOND], stored: ['first'], expected: [{ kind: 'not-found' }] },
  {
    name: 'asked while the first worker lives',
    calls: [FIRST, SECOND],
    endMs: 901,
    expected: [{ kind: 'two-workers' }],
  },
]) {
  test(`a repeated request is told apart: ${name}`, () => {
    assert.deepEqual(classifyRepeats(calls, { endOf: new Map([[1, endMs]]), stored: new Set(stored) }), expected);
  });
}

test('each answer has a text of its own, and calls are known by their worker and their bytes', async (t) => {
  const model = await servePaidModel({ summary: 'They talked.', answerMs: 0 });
  t.after(model.close);
  for (const worker of [7, 8])
    await (await fetch(`${model.urlFor(worker)}/chat/completions`, { method: 'POST', body: 'same' })).text();
  const [one, two] = model.calls;
  assert.deepEqual([one?.worker, two?.worker], [7, 8]);
  assert.equal(one?.request, two?.request);
  assert.deepEqual([one?.text, two?.text], ['They talked. This is answer 1.', 'They talked. This is answer 2.']);
});
