import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/ports/codec.ts';
import { benchFor, benchWith } from '../support/workbench.ts';

const picture: Json = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };

const SAMPLES: readonly (readonly [string, (role: string) => Json])[] = [
  ['pictures', (role) => ({ role, content: [picture] })],
  ['thoughts', (role) => ({ role, content: [{ type: 'thinking', thinking: 'the jib' }] })],
  ['nothing', (role) => ({ role, content: '' })],
  ['empty blocks', (role) => ({ role, content: [{ type: 'text', text: '' }] })],
];

for (const [what, write] of SAMPLES) {
  const messages = Array.from({ length: 20 }, (_, at) => write(at % 2 === 0 ? 'user' : 'assistant'));
  for (const [kind, text] of [
    ['lines', messages.map((one) => `${JSON.stringify(one)}\n`).join('')],
    ['a document', JSON.stringify({ messages })],
  ] as const) {
    test(`${kind} with messages of ${what} alone are an error that says so, and stay as they are`, async (t) => {
      const bench = benchWith(t, 'x.json', text);
      const done = await bench.compact('x.json');
      assert.deepEqual(done, { ok: false, error: { kind: 'no-text', file: 'x.json', messages: 20 } });
      assert.equal(bench.read('x.json').toString(), text);
    });
  }
}

test('one message with text is enough', async (t) => {
  const bench = benchFor(t);
  bench.write('x.jsonl', '{"role":"user","content":""}\n{"role":"assistant","content":"Trim the jib."}\n');
  const done = await bench.compact('x.jsonl');
  assert.equal(done.ok && done.value.result, 'skipped');
});
