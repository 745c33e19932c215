import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { detectDocument, detectFormat } from '../../../src/adapters/transcript/detect.ts';
import { nameForeign } from '../../../src/adapters/transcript/foreign.ts';
import { FORMATS } from '../../../src/adapters/transcript/registry.ts';
import type { Json } from '../../../src/ports/codec.ts';
import { benchFor } from '../../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/transcripts');
const text = (said: string): Json => [{ type: 'text', text: said }];
const entry = (id: string, role: string, said: string): Json => ({
  type: 'message',
  id,
  parentId: null,
  timestamp: '2031-05-04T10:00:00.000Z',
  message: { role, content: text(said) },
});
const kiro = (kind: string, ...content: readonly Json[]): Json => ({
  version: 'v1',
  kind,
  data: { message_id: 'm', content },
});
const step = (index: number, source: string, type: string): Json => ({
  step_index: index,
  source,
  type,
  status: 'DONE',
  created_at: '2031-05-04T10:00:00Z',
  content: 'Trim the jib.',
});

const SAMPLES: readonly (readonly [string, readonly Json[]])[] = [
  [
    'a session of pi or Droid without its header',
    [entry('b', 'user', 'Trim the jib.'), entry('c', 'assistant', 'It is trimmed.')],
  ],
  [
    'a Grok session',
    [
      { type: 'system', content: 'You sail.' },
      { type: 'user', content: text('Trim the jib.'), prompt_index: 0 },
      { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' },
      { type: 'assistant', content: '', model_id: 'm', tool_calls: [{ id: 'x', name: 'winch', arguments: '{}' }] },
      { type: 'tool_result', tool_call_id: 'x', content: 'done' },
    ],
  ],
  [
    'a Grok session',
    [{ timestamp: 1, method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'user_message' } } }],
  ],
  [
    'a Kiro session',
    [
      kiro('Prompt', { kind: 'text', data: 'Trim the jib.' }),
      kiro('AssistantMessage', { kind: 'toolUse', data: { toolUseId: 'x', name: 'winch', input: {} } }),
      kiro('ToolResults', { kind: 'toolResult', data: { toolUseId: 'x', content: [], status: 'success' } }),
    ],
  ],
  [
    'an Antigravity transcript',
    [step(0, 'USER_EXPLICIT', 'USER_INPUT'), step(1, 'MODEL', 'PLANNER_RESPONSE'), step(2, 'MODEL', 'RUN_COMMAND')],
  ],
  [
    'a wire log of Kimi CLI (the session is context.jsonl beside it)',
    [
      { type: 'metadata', protocol_version: '1.1' },
      { timestamp: 1935655200.5, message: { type: 'TurnBegin', payload: { user_input: 'Trim the jib.' } } },
    ],
  ],
  ['metrics of OpenTelemetry', [{ resourceMetrics: [{ resource: {}, scopeMetrics: [] }] }]],
  [
    'a file of batch results',
    [{ id: 'b', custom_id: 'a', response: { status_code: 200, body: { choices: [] } }, error: null }],
  ],
  ['a log of requests', [{ request: { body: {} }, response: {} }]],
];

suite('a format that is known and not read', () => {
  for (const [name, sample] of SAMPLES) {
    test(`is refused by its name: ${name} (${sample.length})`, () => {
      const found = detectFormat(sample);
      assert.equal(found.kind === 'unknown' ? found.looksLike : found.codec.format.name, name);
    });
  }

  for (const [name, sample] of SAMPLES) {
    if (sample.length < 2 || /Droid|pi session|wire/.test(name)) continue;
    for (const document of [JSON.stringify(sample, null, 2), JSON.stringify({ id: 'x', messages: sample }, null, 2)]) {
      test(`is refused by its name in a JSON document: ${name} (${document.charAt(0)})`, () => {
        const found = detectDocument(Buffer.from(document), true);
        assert.ok(found?.kind === 'unknown');
        assert.equal(found.looksLike, name);
      });
    }
  }

  test('is told to the user with what it looks like, and nothing is written', async (t) => {
    const bench = benchFor(t);
    for (const [looksLike, sample] of SAMPLES) {
      const lines = sample.map((record) => `${JSON.stringify(record)}\n`).join('');
      bench.write('x.jsonl', lines);
      const done = await bench.compact('x.jsonl');
      assert.ok(!done.ok && done.error.kind === 'unknown-format', looksLike);
      assert.equal(done.error.looksLike, looksLike);
      assert.ok(done.error.near.length > 0);
      assert.equal(bench.read('x.jsonl').toString(), lines);
    }
  });

  test('is not taken for another where only a few of many messages have its shape', () => {
    const said = { role: 'user', content: 'hello' };
    const odd = { type: 'tool_result', tool_call_id: 'x', content: 'done' };
    const found = detectFormat([said, said, odd, said]);
    assert.equal(found.kind === 'found' && found.codec.format.name, 'chat-lines');
  });

  test('is none of those that are read: no fixture of theirs is refused', () => {
    for (const { format } of FORMATS.filter((codec) => codec.format.layout.kind !== 'document')) {
      for (const name of readdirSync(join(FIXTURES, format.name)).filter((one) => one.endsWith('.jsonl'))) {
        const lines = readFileSync(join(FIXTURES, format.name, name), 'utf8')
          .replace(/^\ufeff/, '')
          .split(/\r?\n/);
        assert.equal(nameForeign(lines.slice(0, 50).flatMap(parse)), null, `${format.name}/${name}`);
      }
    }
  });

  test('is looked for in any records without an error', () => {
    fc.assert(fc.property(fc.array(fc.jsonValue()), (sample) => void nameForeign(JSON.parse(JSON.stringify(sample)))));
  });
});

function parse(line: string): readonly Json[] {
  try {
    const value: Json = JSON.parse(line);
    return [value];
  } catch {
    return []; // a torn or blank line
  }
}
