import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_RULES } from '../../../src/adapters/redact/builtin-rules.ts';
import { createDefaultRules } from '../../../src/adapters/redact/gitleaks/default-rules.ts';
import { createRedactor } from '../../../src/adapters/redact/redactor.ts';

const CHARS = 250_000;
// Each takes a second or two on a quiet machine; what grows with the square of the text takes many minutes.
const MAX_MS = 60_000;

const RULES = [...BUILTIN_RULES, ...createDefaultRules()];
// The keywords of all rules, so that every rule runs.
const KEYWORDS = RULES.flatMap(({ keywords }) => keywords).join(' ');

for (const unit of [
  'sk-',
  `sk-ant-`,
  'AIza',
  'ya29.',
  'AKIA',
  'ghp_',
  'github_pat_',
  'glpat-',
  'xoxb-',
  'sk_live_',
  'npm_',
  'hf_',
  'hooks.slack.com/services/',
  'eyJ',
  '\\neyJ',
  'eyJaaaaaaaa.',
  'Bearer ',
  'Bearer a',
  'Authorization: Bearer ',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '-----BEGIN RSA ',
  '-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n',
  'AAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----x',
  '://a:',
  '://:',
  `://${'a'.repeat(120)}:`,
  '[redacted:',
  '[redacted:a:1]',

  'password=',
  'password=(',
  'password="',
  'password="\\"',
  'passphrase="a b ',
  'token:"',
  'token:\\"',
  'secret_key',

  '--token ',
  '_pass',
  'password    ',
  'password>',
  'password=hunter12 ',
  'api_key\\\\\\"',
  'A',
  'a ',
  '\\',
  '"',
  '=',
  'Cookie: a=',
  'curl -u a:',
  'curl ',
  'mysql -p',
  'docker login ',
  '?key=',
  '&sig=aB3dE6gH9jK2mN5p',
  'name: password\nvalue: ',
  'variable "token" {',
  '<property name="password">',
  'setPassword("',
  'machine a login b ',
  'auth: ',
  'kind: Secret\ndata:\n  a: ',
  'a:1:b:c:',
  'password is ',
  'login a:',
  'api key: ',
  'mnemonic: abc abc ',
  '%41',
  '\\u0041',
  'ＡＢ',
  'eyJwYXNzd29yZCI6',
  'linear = ',
  'adobe',
  'hvs.',
  'AKIA2345',
]) {
  test(`250,000 characters of ${JSON.stringify(unit.slice(0, 40))} takes no longer than others`, () => {
    const text = `${unit.repeat(CHARS / unit.length)} ${KEYWORDS}`;
    const started = performance.now();
    createRedactor(RULES).redact(text);
    const ms = performance.now() - started;
    assert.ok(ms < MAX_MS, `${Math.round(ms)} ms`);
  });
}
