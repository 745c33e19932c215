import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesIn } from '../../../src/core/retention/facts.ts';

for (const [line, expected] of [
  ['see src/app/run.ts, then ./build/out.log.', ['path src/app/run.ts', 'path ./build/out.log']],
  [
    'in /etc/hosts and ~/notes/todo or C:\\Users\\me\\a.txt',
    ['path /etc/hosts', 'path ~/notes/todo', 'path C:\\Users\\me\\a.txt'],
  ],
  ['edit `package.json` and .env.local', ['path package.json']],
  ['and/or, 1/2, client/server, he/she/they', []],
  ['go to https://example.org/a?b=1.', ['url https://example.org/a?b=1']],
  ['id 123e4567-e89b-42d3-a456-426614174000', ['id 123e4567-e89b-42d3-a456-426614174000']],
  ['commit 9fceb02 and ticket ABC-123, PR #45', ['id ABC-123', 'id #45', 'id 9fceb02']],
  ['in UTF-8, not SHA-256, deadbeef or 1234567', []],
  ['call req_01HAbcDef29x to 10.0.0.1:8080', ['id 10.0.0.1:8080', 'id req_01HAbcDef29x']],
  ['Node v22, react@19.0.0 and 1.2.3-beta.1', ['version v22', 'version 19.0.0', 'version 1.2.3-beta.1']],
  [
    'it took 150 ms of 1,200 ms, 60 %, $12.50 and 5 Minuten',
    ['number 150 ms', 'number 1,200 ms', 'number 60 %', 'number $12.50', 'number 5 Minuten'],
  ],
  ['用时 5 分钟', ['number 5 分钟']],
  ['on page 5, 7 people', []],
] as const) {
  test(`the names in: ${line}`, () => {
    assert.deepEqual(
      namesIn(line).map(({ kind, text }) => `${kind} ${text}`),
      expected,
    );
  });
}

test('forms of one thing have one key', () => {
  const keysOf = (line: string): readonly string[] => namesIn(line).map(({ key }) => key);
  for (const [one, other] of [
    ['1,200 ms', '1200ms'],
    ['5 minutes', '5 min'],
    ['60%', '60 percent'],
    ['v1.2.3', '1.2.3'],
    ['http://a.org/x/', 'https://a.org/x'],
    ['/home/me/repo/src/run.ts', 'src/run.ts'],
    ['9fceb02d0ae598e95dc970b74767f19372d61af8', '9fceb02'],
  ] as const) {
    assert.deepEqual(keysOf(one), keysOf(other), `${one} and ${other}`);
    assert.equal(keysOf(one).length, 1, one);
  }
});
