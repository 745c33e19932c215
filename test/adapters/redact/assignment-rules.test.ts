import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, escaped, redacted } from './secrets.ts';

for (const [text, expected] of [
  ['PASSWORD=hunter2', 'PASSWORD=[redacted:password:1]'],
  ['export DB_PASS=correcthorse', 'export DB_PASS=[redacted:password:1]'],
  ['"api_key": "abc123def456"', '"api_key": "[redacted:api-key:1]"'],
  ["password: 'tr0ub4dor&3'", "password: '[redacted:password:1]'"],
  ['secret: hunter2hunter2', 'secret: [redacted:secret:1]'],
  ['clientSecret := `abc123def456`', 'clientSecret := `[redacted:secret:1]`'],
  ['mysql(password=b"hunter2")', 'mysql(password=b"[redacted:password:1]")'],
  ['os.environ["API_KEY"] = "abc123def456"', 'os.environ["API_KEY"] = "[redacted:api-key:1]"'],
  ['login --password hunter2x --force', 'login --password [redacted:password:1] --force'],
  ['https://x.y/?token=abcdef12345&page=1', 'https://x.y/?token=[redacted:token:1]&page=1'],
  ['Server=x;Password=hunter;Timeout=5', 'Server=x;Password=[redacted:password:1];Timeout=5'],
  ['<password>hunter2</password>', '<password>[redacted:password:1]</password>'],
  ['(password: hunter2)', '(password: [redacted:password:1])'],
  ['passphrase = "correct horse battery"', 'passphrase = "[redacted:password:1]"'],
  ['"password": "say \\"hi2\\" to"', '"password": "say \\"hi2\\" to"'],
  ['"password": "a\\"b2c"', '"password": "[redacted:password:1]"'],
  ['//registry.npmjs.org/:_authToken=abc123def456', '//registry.npmjs.org/:_authToken=[redacted:token:1]'],
] as const) {
  test(`what is assigned is masked where it is a secret: ${text}`, () => {
    assert.equal(redacted(text), expected);
  });
}

for (const text of [
  'password: null',
  'password = None',
  'token_count: 5',
  'max_tokens=1024',
  'tokenizer: "cl100k_base"',
  'token: string',
  'secret?: string',
  'token: 12345',
  'PASSWORD=$PASSWORD',
  'PASSWORD="${PASSWORD}"',
  'TOKEN=$(cat token.txt)',
  'token: ${{ secrets.DEPLOY_TOKEN }}',
  'os.environ["API_KEY"]',
  'password: process.env.DB_PASSWORD2',
  'const token = request.headers.token;',
  'const token = getToken();',
  'connect(password=password, token=self.token)',
  'password: z.string().min(8)',
  "fetch(url, { credentials: 'include' })",
  '"password": "Enter your password"',
  '"token": "hello"',
  'api_key=<your key>',
  'API_KEY=xxxxxxxxxxxx',
  'api_key: your_api_key_here',
  'password=***',
  'password: ...',
  'PWD=/home/me/project',
  'secret: ./secrets/key.pem',
  'if (secret > threshold1) return',
  'the password is wrong, the token expired',
]) {
  test(`what is assigned stays where it is none: ${text}`, () => {
    assert.equal(redacted(text), text);
  });
}

test('an assignment is found within a JSON string, and within one within another', () => {
  const env = 'A=1\nDB_PASSWORD=hunter2\nB=2';
  const json = '{"api_key": "abc123def456"}';
  const maskedEnv = 'A=1\nDB_PASSWORD=[redacted:password:1]\nB=2';
  const maskedJson = '{"api_key": "[redacted:api-key:1]"}';
  assert.deepEqual([escaped(env), escaped(json), escaped(escaped(json))].map(redacted), [
    escaped(maskedEnv),
    escaped(maskedJson),
    escaped(escaped(maskedJson)),
  ]);
});

test('a secret is masked to its end, however long it is', () => {
  const long = drawn(10_000);
  assert.deepEqual(
    [redacted(`SECRET=${long}&`), redacted(`"secret": "${long.slice(0, 6_000)}"`)],
    ['SECRET=[redacted:secret:1]&', '"secret": "[redacted:secret:1]"'],
  );
});
