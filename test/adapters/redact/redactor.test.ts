import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BUILTIN_RULES } from '../../../src/adapters/redact/builtin-rules.ts';
import { createRedactor } from '../../../src/adapters/redact/redactor.ts';
import { indexRules } from '../../../src/adapters/redact/rule.ts';
import { DEFAULT_DIRECTIVE, DEFAULT_SYSTEM_PROMPT } from '../../../src/core/prompt.ts';
import { oddTexts } from '../../support/messages.ts';
import { drawn, escaped, PRIVATE_KEY, redacted } from './secrets.ts';

const GITHUB = `ghp_${drawn(36)}`;
const OTHER_GITHUB = `ghp_${drawn(37)}`;

test('the same secret gets the same mask in every text of a run, another one another number', () => {
  const { redact } = createRedactor(indexRules(BUILTIN_RULES));
  assert.deepEqual(
    [`a ${GITHUB}`, `b ${OTHER_GITHUB} ${GITHUB}`, 'PASSWORD=hunter2'].map((text) => redact(text)),
    [
      'a [redacted:github-token:1]',
      'b [redacted:github-token:2] [redacted:github-token:1]',
      'PASSWORD=[redacted:password:1]',
    ],
  );
});

test('it counts different secrets by kind, however often they stand there', () => {
  const { redact, masked } = createRedactor(indexRules(BUILTIN_RULES));
  redact(`${OTHER_GITHUB} ${GITHUB} ${GITHUB} PASSWORD=hunter2`);
  redact(GITHUB);
  assert.deepEqual(masked(), [
    { kind: 'github-token', count: 2 },
    { kind: 'password', count: 1 },
  ]);
});

test('a secret is masked where nothing but an earlier text tells that it is one', () => {
  const { redact } = createRedactor(indexRules(BUILTIN_RULES));
  redact('DB_PASSWORD=tr0ub4dor3');
  assert.equal(redact('then type tr0ub4dor3, not tr0ub4dor33'), 'then type [redacted:password:1], not tr0ub4dor33');
});

test('a password that is a common word is masked where it is assigned only', () => {
  const { redact } = createRedactor(indexRules(BUILTIN_RULES));
  redact('PASSWORD=horse');
  assert.equal(redact('a horse'), 'a horse');
});

test('what two rules find is one secret, of the kind of the more exact rule', () => {
  assert.deepEqual([`GITHUB_TOKEN=${GITHUB}`, `https://me:${GITHUB}@github.com`, `TOKEN=v1-${GITHUB}`].map(redacted), [
    'GITHUB_TOKEN=[redacted:github-token:1]',
    'https://me:[redacted:github-token:1]@github.com',
    'TOKEN=[redacted:github-token:1]',
  ]);
});

test('a number that a mask of an earlier run has is not given to another secret', () => {
  assert.equal(
    redacted(`summary: [redacted:github-token:3]; now ${GITHUB}`),
    'summary: [redacted:github-token:3]; now [redacted:github-token:4]',
  );
});

test('what this program itself writes into a request has nothing to mask', () => {
  const own = `${DEFAULT_SYSTEM_PROMPT}\n${DEFAULT_DIRECTIVE}`;
  assert.equal(redacted(own), own);
});

const secrets = fc.constantFrom(
  GITHUB,
  OTHER_GITHUB,
  PRIVATE_KEY,
  'PASSWORD=hunter22',
  'https://a:s3cr3tpw@b/',
  drawn(30),
);
const texts = fc.array(fc.oneof(secrets, oddTexts, fc.constantFrom(' ', '\n', '\\n', '"', '=')), { maxLength: 12 });

test('what was redacted has no secret left: to redact it again changes nothing', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const { redact } = createRedactor(indexRules(BUILTIN_RULES));
      const once = redact(parts.join(' '));
      assert.equal(redact(once), once);
    }),
  );
});

test('text around secrets stays as it is', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('ab', 'c d', '\n', '😀', '\ud83d', 'x=1'), { maxLength: 8 }), (parts) => {
      const text = parts.join(' ');
      assert.equal(redacted(`${text} ${GITHUB} ${text}`), `${text} [redacted:github-token:1] ${text}`);
    }),
  );
});

test('a secret within a JSON string leaves JSON', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join(' ');
      const value: unknown = JSON.parse(redacted(JSON.stringify({ text })));
      assert.ok(typeof value === 'object' && value !== null && 'text' in value);
    }),
  );
});

test('a JSON string is redacted as its text is', () => {
  const text = `first\n${GITHUB}\n\tDB_PASSWORD=hunter2\r\n${PRIVATE_KEY}\nlast`;
  assert.equal(redacted(escaped(text)), escaped(redacted(text)));
});

const SMALL_WINDOWS = { windowChars: 4096, marginChars: 1024 };
const index = indexRules(BUILTIN_RULES);
const planted = fc.constantFrom(
  GITHUB,
  `sk-ant-api03-${drawn(93)}`,
  PRIVATE_KEY,
  'DB_PASSWORD=hunter22',
  'https://app:s3cr3tpw@db.example/',
  'das Passwort lautet kq7Rz2vLx9!',
  'ｐａｓｓｗｏｒｄ＝kq7Rz2vLx9',
  'password%3Dkq7Rz2vLx9',
  Buffer.from(`{"password":"${drawn(18)}"}`).toString('base64'),
);
const filler = fc.string({ unit: fc.constantFrom('a', 'b c', ' ', '\n', '。', 'x1 '), minLength: 0, maxLength: 900 });

test('a long text is masked in windows as it is as a whole, also where a secret stands on the border of two', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(filler, planted), { minLength: 6, maxLength: 24 }), (parts) => {
      const text = parts.map(([before, secret]) => `${before} ${secret}\n`).join('');
      assert.equal(createRedactor(index, SMALL_WINDOWS).redact(text), createRedactor(index).redact(text));
    }),
  );
});

test('a token of two million characters is masked to its end, and one that is no secret stays', () => {
  const run = 'aB3dE6gH9j'.repeat(200_000);
  assert.deepEqual(
    [`key sk-ant-${run} end`, `PASSWORD=${run}`, run].map((text) => {
      const left = redacted(text);
      return left.length > 100 ? left.length : left;
    }),
    ['key [redacted:anthropic-key:1] end', 'PASSWORD=[redacted:password:1]', run.length],
  );
});

test('a key that a terminal wrapped or that code puts together is masked to its end', () => {
  const key = `sk-ant-api03-${drawn(60)}`;
  const mask = '[redacted:anthropic-key:1]';
  assert.deepEqual(
    [`${key.slice(0, 40)}\n${key.slice(40)}\nnext`, `a = "${key.slice(0, 40)}" +\n  "${key.slice(40)}";`].map(redacted),
    [`${mask}\nnext`, `a = "${mask}";`],
  );
});

/** A call of a shell tool, and its result, as they stand in a request to a model. */
const callOf = (command: string): string => `[Tool call]: Bash(${JSON.stringify({ command })})`;

for (const [command, output, expected] of [
  ['op read op://a/b/c', 'sunflower', '[redacted:command-output:1]'],
  ['pass show db', 'sunflower\nuser: jo', '[redacted:command-output:1]\nuser: jo'],
  ['terraform output -raw pw', 'Error: no outputs found', 'Error: no outputs found'],
  ['ls src', 'sunflower', 'sunflower'],
  ['PGPASSWORD=$(op read op://a/b) psql -tc "select name"', 'sunflower', 'sunflower'],
  ['echo $(op read op://a/b)', 'sunflower', '[redacted:command-output:1]'],
  ['grep -rn "get secret" src', 'src/vault.ts', 'src/vault.ts'],
] as const) {
  test(`what ${command} prints is masked by the command: ${output.split('\n')[0]}`, () => {
    const { redact } = createRedactor(index);
    assert.deepEqual(
      [
        redact(`[Tool result]: ${output}`, callOf(command)),
        redact(`${callOf(command)}\n[Tool result]: ${output}`),
        redact(`jo@box:~$ ${command}\n${output}\njo@box:~$ ls`),
      ],
      [
        `[Tool result]: ${expected}`,
        `${callOf(command)}\n[Tool result]: ${expected}`,
        `jo@box:~$ ${command}\n${expected}\njo@box:~$ ls`,
      ],
    );
  });
}

test('results belong to calls in their order', () => {
  const { redact } = createRedactor(index);
  const calls = `${callOf('ls')}\n${callOf('op read op://a/b')}\n[Tool result]: `;
  assert.equal(redact('[Tool result]: sunflower', calls), '[Tool result]: [redacted:command-output:1]');
});
