import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { detectDocument, detectFormat } from '../../../src/adapters/transcript/detect.ts';
import { describeBytes, nameForeign } from '../../../src/adapters/transcript/foreign.ts';
import { CODECS } from '../../support/codecs.ts';
import type { Json } from '../../../src/ports/codec.ts';
import { benchFor } from '../../support/workbench.ts';

const RECORD = '{"role":"user","content":"hello"}';

function looksLike(head: Uint8Array | string): string | null {
  return describeBytes(typeof head === 'string' ? Buffer.from(head) : head)?.looksLike ?? null;
}

suite('bytes that are no JSON Lines', () => {
  const pretty = JSON.stringify({ info: { id: 1 }, messages: [JSON.parse(RECORD)] }, null, 2);
  const cases: readonly (readonly [string, Uint8Array | string, string])[] = [
    ['nothing', '', 'an empty file'],
    ['a byte order mark only', '\ufeff', 'an empty file'],
    ['UTF-16, little end first, with a mark', Buffer.from(`\ufeff${RECORD}`, 'utf16le'), 'UTF-16 text'],
    ['UTF-16, big end first, with a mark', Buffer.from(`\ufeff${RECORD}`, 'utf16le').swap16(), 'UTF-16 text'],
    ['UTF-16, little end first, without a mark', Buffer.from(RECORD, 'utf16le'), 'UTF-16 text'],
    ['UTF-16, big end first, without a mark', Buffer.from(RECORD, 'utf16le').swap16(), 'UTF-16 text'],
    ['UTF-32', Buffer.of(0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0), 'UTF-32 text'],
    ['gzip within what was unpacked', gzipSync(RECORD), 'a file that was compressed twice'],
    ['zstd within what was unpacked', zstdCompressSync(RECORD), 'a file that was compressed twice'],
    ['xz', Buffer.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), 'a compressed file (xz)'],
    ['bzip2', 'BZh91AY', 'a compressed file (bzip2)'],
    ['SQLite', 'SQLite format 3\0\x10\0', 'a SQLite database'],
    ['zip', 'PK\x03\x04\x14\0', 'a zip archive'],
    ['Parquet', 'PAR1\x15\x04', 'a Parquet file'],
    ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', 'a pointer of Git LFS'],
    ['NULs in the first line', `\0\0${RECORD}\n${RECORD}\n`, 'binary data'],
    ['NULs after lines that are no records', `{}}\nhello\n\0\0\n${RECORD}\n`, 'binary data'],
    ['an export as CSV', 'id,traceId,"type",input\r\n1,t,SPAN,x\r\n', 'a CSV file'],
    ['a web page', '\n<!DOCTYPE html>\n<html>', 'a web page or XML'],
    ['a pretty-printed object', pretty, 'one JSON document, not JSON Lines'],
    [
      'a pretty-printed object with CRLF and a mark',
      `\ufeff${pretty.replaceAll('\n', '\r\n')}`,
      'one JSON document, not JSON Lines',
    ],
    [
      'an object whose first line holds a key',
      '{"messages": [\n{"role": "user",\n"content": "x"}]}',
      'one JSON document, not JSON Lines',
    ],
    [
      'what aider keeps of its requests',
      'TO LLM 2031-05-04T10:00:00\n-------\nUSER hello\n',
      "a log of aider's requests",
    ],
    ['a pretty-printed list', `[\n  ${RECORD}\n]`, 'one JSON document, not JSON Lines'],
    ['a list on one line', `[${RECORD},${RECORD}]\n`, 'one JSON document, not JSON Lines'],
    [
      'a list on one line that goes on beyond the head',
      `[${RECORD},${RECORD.slice(0, 20)}`,
      'one JSON document, not JSON Lines',
    ],
  ];
  for (const [what, head, name] of cases) {
    test(what, () => assert.equal(looksLike(head), name));
  }

  test('every description comes with something to try', () => {
    for (const [what, head] of cases) {
      const advice = describeBytes(typeof head === 'string' ? Buffer.from(head) : head)?.advice ?? '';
      assert.match(advice, /^[A-Z].*\.$/, what);
    }
  });
});

suite('bytes that may be JSON Lines', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['records', `${RECORD}\n${RECORD}\n`],
    ['one record without an ending', RECORD],
    ['a record that goes on beyond the head', RECORD.slice(0, 20)],
    ['a byte order mark and a record', `\ufeff${RECORD}\n`],
    ['blank lines first', `\n \r\n${RECORD}\n`],
    ['a first line that was cut off', `${RECORD.slice(0, 25)}\n${RECORD}\n`],
    ['a first line that was cut off after a comma', `${RECORD.slice(0, 15)}\n${RECORD}\n`],
    ['a list on the first of several lines', `[1,2]\n${RECORD}\n`],
    ['a last line of NULs, as a power loss leaves it', `${RECORD}\n\0\0\0\0`],
    ['a line of NULs after a record, as a compacted file may carry one along', `${RECORD}\n\0\0\n${RECORD}\n`],
    ['NULs within a line after a record', `\ufeff\n${RECORD}\r\n{"role":"\0`],
    ['text that is no JSON', 'hello\nworld\n'],
  ];
  for (const [what, head] of cases) {
    test(what, () => assert.equal(looksLike(head), null));
  }
});

suite('the filter of jq that makes lines of a document', () => {
  const message = { role: 'user', content: 'hello' };
  const cases: readonly (readonly [document: unknown, filter: string | null])[] = [
    [[message], '.[]'],
    [{ messages: [message] }, '.messages[]'],
    [{ data: { history: [{ note: 1 }, message] } }, '.data.history[]'],
    [{ 'chat log': [message] }, '.["chat log"][]'],
    [[{ id: 1, messages: [message] }], '.[]'],
    [[{ id: 1, turns: [message] }], '.[] | {messages: .turns}'],
    [[[message]], '.[] | {messages: .}'],
    [[{ message }], '.[].message'],
    [{ rows: [{ items: [{ message }] }] }, '.rows[] | {messages: [.items[].message]}'],
    // It is typed into a shell.
    [{ "'; touch x #": [message] }, null],
    [{ points: [{ x: 1 }] }, null],
  ];
  for (const [document, filter] of cases) {
    test(filter ?? `none for ${JSON.stringify(document)}`, () => {
      const advice = describeBytes(Buffer.from(JSON.stringify(document, null, 1)))?.advice;
      const expected =
        filter === null
          ? 'Make lines of it: one message a line, with its role and content.'
          : `Make lines of it: jq -c '${filter}' FILE > FILE.jsonl.`;
      assert.equal(advice, expected);
    });
  }
});

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
    test(`is refused by its name: ${name} (${sample.length})`, async () => {
      const found = await detectFormat(sample);
      assert.equal(found.kind === 'unknown' ? found.looksLike : found.codec.format.name, name);
    });
  }

  for (const [name, sample] of SAMPLES) {
    if (sample.length < 2 || /Droid|pi session|wire/.test(name)) continue;
    for (const document of [JSON.stringify(sample, null, 2), JSON.stringify({ id: 'x', messages: sample }, null, 2)]) {
      test(`is refused by its name in a JSON document: ${name} (${document.charAt(0)})`, async () => {
        const found = await detectDocument(Buffer.from(document), true);
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

  test('is not taken for another where only a few of many messages have its shape', async () => {
    const said = { role: 'user', content: 'hello' };
    const odd = { type: 'tool_result', tool_call_id: 'x', content: 'done' };
    const found = await detectFormat([said, said, odd, said]);
    assert.equal(found.kind === 'found' && found.codec.format.name, 'chat-lines');
  });

  test('is none of those that are read: no fixture of theirs is refused', () => {
    for (const { format } of CODECS.filter((codec) => codec.format.layout.kind !== 'document')) {
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
