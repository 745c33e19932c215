import { test } from 'node:test';
import { BUILTIN_RULES } from '../../../src/adapters/redact/builtin-rules.ts';
import { createDefaultRules } from '../../../src/adapters/redact/gitleaks/rule.ts';
import { createRedactor } from '../../../src/adapters/redact/redactor.ts';
import { indexRules } from '../../../src/adapters/redact/rule.ts';
import { assertLinear } from '../../support/linear-time.ts';

const CHARS = 4_000;

const RULES = indexRules([...BUILTIN_RULES, ...createDefaultRules()]);
// So that each rule of ours runs over the whole text. Those of gitleaks look only around their keywords, so for them a unit has to hold one.
const KEYWORDS = [...new Set(BUILTIN_RULES.flatMap(({ keywords }) => keywords))].join(' ');

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
  'password for ',
  '密码',
  '$ op read x\n',
  '+ op read x\n',
  '[Tool call]: Bash({"command":"op read a"})\n[Tool result]: abcd1\n',
  'password,a\nb,c1d2e3\n',
  'connect(a, "b',
  ' -u a -p ',
  'aB3dE6gH9jK2mN5paB3d\n',
  'ｐａｓｓｗｏｒｄ＝',
]) {
  test(`the time for ${JSON.stringify(unit.slice(0, 40))} grows with the text, and not faster`, () => {
    assertLinear(unit, CHARS, (text) => createRedactor(RULES).redact(`${text} ${KEYWORDS}`));
  });
}
