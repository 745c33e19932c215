import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, escaped, PRIVATE_KEY, redacted } from './secrets.ts';

/** Each with what is left of it; the parts are put together here, so that no scanner takes them for keys. */
const SECRETS: readonly (readonly [string, string])[] = [
  [`sk-ant-api03-${drawn(93)}`, '[redacted:anthropic-key:1]'],
  [`sk-proj-${drawn(80)}`, '[redacted:openai-key:1]'],
  [`sk-${drawn(48)}`, '[redacted:openai-key:1]'],
  [`AIza${drawn(35)}`, '[redacted:google-api-key:1]'],
  [`ya29.${drawn(60)}`, '[redacted:google-oauth:1]'],
  [`GOCSPX-${drawn(28)}`, '[redacted:google-oauth:1]'],
  [`AKIA${drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`, '[redacted:aws-access-key-id:1]'],
  [`aws_secret_access_key = ${drawn(40)}`, 'aws_secret_access_key = [redacted:aws-secret-key:1]'],
  [`"SecretAccessKey": "${drawn(40)}"`, '"SecretAccessKey": "[redacted:aws-secret-key:1]"'],
  [`ghp_${drawn(36)}`, '[redacted:github-token:1]'],
  [`ghs_${drawn(36)}`, '[redacted:github-token:1]'],
  [`github_pat_${drawn(22)}_${drawn(59)}`, '[redacted:github-token:1]'],
  [`glpat-${drawn(20)}`, '[redacted:gitlab-token:1]'],
  [`xoxb-123456789012-${drawn(24)}`, '[redacted:slack-token:1]'],
  [
    `https://hooks.slack.com/services/T0001/B0002/${drawn(24)}`,
    'https://hooks.slack.com/services/[redacted:slack-webhook:1]',
  ],
  [
    `https:\\/\\/hooks.slack.com\\/services\\/T0001\\/B0002\\/${drawn(24)}`,
    'https:\\/\\/hooks.slack.com\\/services\\/[redacted:slack-webhook:1]',
  ],
  [`sk_live_${drawn(24)}`, '[redacted:stripe-key:1]'],
  [`npm_${drawn(36)}`, '[redacted:npm-token:1]'],
  [`hf_${drawn(34)}`, '[redacted:hugging-face-token:1]'],
  [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.${drawn(43)}`, '[redacted:jwt:1]'],
  [`Authorization: Bearer ${drawn(30)}`, 'Authorization: Bearer [redacted:authorization:1]'],
  ['-H "authorization: Basic dXNlcjpwYXNz"', '-H "authorization: Basic [redacted:authorization:1]"'],
  [`{"Authorization":"Bearer ${drawn(30)}"}`, '{"Authorization":"Bearer [redacted:authorization:1]"}'],
  [`sent Bearer ${drawn(30)} along`, 'sent Bearer [redacted:authorization:1] along'],
  [PRIVATE_KEY, '[redacted:private-key:1]'],
  ['postgres://app:s3cr3t@db:5432/x', 'postgres://app:[redacted:url-password:1]@db:5432/x'],
  ['redis:\\/\\/:hunter2@cache\\/0', 'redis:\\/\\/:[redacted:url-password:1]@cache\\/0'],
];

for (const [text, expected] of SECRETS) {
  const kind = /redacted:[\w-]+/.exec(expected)?.[0];
  test(`${kind}: what begins ${text.slice(0, 12)} is masked, in plain text and in a JSON string`, () => {
    assert.deepEqual(
      [redacted(`first ${text} last`), redacted(escaped(`first\n${text}\nlast`))],
      [`first ${expected} last`, escaped(`first\n${expected}\nlast`)],
    );
  });
}

for (const text of [
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  '123e4567-e89b-42d3-a456-426614174000',
  `data:image/png;base64,${drawn(4_000, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')}`,
  'sha512-3pYCPYqH6RiOrOYtPLbT9kP2x3bLcXHNUqpJvYGu4g1Wd0qHjbmKQ1PYwUqDrVZkxOEzFmXH==',
  'class="sk-circle-fade-dot-animation-1"',
  'disk-encryption-of-the-second-volume-2',
  'AKIAIOSFODNN7EXAMPLE',
  'sk-your-api-key-goes-here-1',
  `sk-ant-api03-${'x'.repeat(93)}`,
  'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'Authorization: Bearer <token>',
  'Authorization: Bearer ${TOKEN}',
  'Authorization: Bearer YOUR_TOKEN',
  'Basic authentication is used, the bearer token comes later',
  'http://localhost:8080/a@b',
  'git@github.com:owner/name.git',
  'postgres://app:${PASSWORD}@db/x',
  'postgres://app:***@db/x',
  '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOC\n-----END PUBLIC KEY-----',
  'the private key is missing',
]) {
  test(`what is no secret stays: ${JSON.stringify(text.slice(0, 50))}`, () => {
    assert.equal(redacted(text), text);
  });
}

test('what stands behind an escaped line end, a color code or an encoded sign is seen to begin there', () => {
  const key = `ghp_${drawn(36)}`;
  const mask = '[redacted:github-token:1]';
  assert.deepEqual(
    ['\\n', '\\u000a', '\u001b[32m', '%3D', '='].map((before) => redacted(`a${before}${key}`)),
    ['\\n', '\\u000a', '\u001b[32m', '%3D', '='].map((before) => `a${before}${mask}`),
  );
});

test('what stands in the middle of a longer word is none', () => {
  const text = `LONGghp_${drawn(36)}`;
  assert.equal(redacted(text), text);
});
