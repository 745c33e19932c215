import * as fc from 'fast-check';
import { codePoint } from './code-points.ts';

/** A chat line as OpenAI writes it. */
export function chatLine(record: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(record);
}

const WORDS =
  'the build of parser.ts fails at line 42 because config.json names port 8080 and we agreed on retry with backoff'.split(
    ' ',
  );

/** Prose of about `count` words that differs with `seed`. */
export function prose(seed: number, count = 60): string {
  return Array.from(
    { length: count },
    (_, at) => `${WORDS[(seed * 7 + at * 3) % WORDS.length]}${at % 11 === 0 ? seed * 13 + at : ''}`,
  ).join(' ');
}

/** A conversation of `turns` prompts, each with an answer, every third with a tool call and its result. */
export function chatTranscript(turns: number, from = 0): string {
  const lines = Array.from({ length: turns }, (_, at) => {
    const n = from + at;
    const call = {
      id: `call_${n}`,
      type: 'function',
      function: { name: 'read_file', arguments: `{"path":"src/part-${n}.ts"}` },
    };
    const tools =
      n % 3 === 0
        ? [
            chatLine({ role: 'assistant', content: null, tool_calls: [call] }),
            chatLine({ role: 'tool', tool_call_id: `call_${n}`, content: prose(n + 1000, 120) }),
          ]
        : [];
    return [
      chatLine({ role: 'user', content: prose(n) }),
      ...tools,
      chatLine({ role: 'assistant', content: prose(n + 500) }),
    ];
  });
  return `${lines.flat().join('\n')}\n`;
}

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: codePoint, maxLength: 20 }),
  fc.nat({ max: 300 }).map((seed) => prose(seed, 40)),
  fc.constantFrom(
    '',
    'why?',
    '\u2028\u2029',
    '\ud83d',
    '[Context Summary — 3 messages compressed across 1 compaction cycle]',
    '# Heading\n- list\n```js\nlet a = 1\n```',
  ),
);
const callIds = fc.constantFrom('a', 'b', 'c', 'd');
const line = fc.oneof(
  { weight: 4, arbitrary: text.map((content) => chatLine({ role: 'user', content })) },
  { weight: 4, arbitrary: text.map((content) => chatLine({ role: 'assistant', content })) },
  { weight: 1, arbitrary: text.map((content) => chatLine({ role: 'system', content })) },
  {
    weight: 2,
    arbitrary: fc.array(callIds, { minLength: 1, maxLength: 3 }).map((ids) =>
      chatLine({
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(callIds, text).map(([id, content]) => chatLine({ role: 'tool', tool_call_id: id, content })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '  ',
      '{"note": 1.0}',
      '{"role":"user","content":"twice","content":"1e400"}',
      '{"role": "user", "content": "spaced\\u00e9"}',
    ),
  },
);

/** Chat transcripts of every odd kind: calls that are answered late, twice or never, reused ids, blank lines, CRLF, no final newline, a BOM. */
export const chatTranscripts: fc.Arbitrary<Buffer> = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 40 }),
    eol: fc.constantFrom('\n', '\r\n'),
    hasFinalEol: fc.boolean(),
    hasBom: fc.boolean(),
  })
  .map(({ lines, eol, hasFinalEol, hasBom }) =>
    Buffer.from(`${hasBom ? '\ufeff' : ''}${lines.join(eol)}${hasFinalEol ? eol : ''}`),
  );
