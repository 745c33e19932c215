import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OWN_RULES } from '../../../src/adapters/redact/own-rules.ts';
import { createRedactor } from '../../../src/adapters/redact/redactor.ts';

const CHARS = 1_000_000;
// Each takes a tenth of a second or two; what costs its square takes minutes.
const MAX_MS = 6_000;

// The keywords of all rules, so that all of them look.
const KEYWORDS = OWN_RULES.flatMap(({ keywords }) => keywords).join(' ');

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
]) {
  test(`a megabyte of ${JSON.stringify(unit.slice(0, 40))} takes no longer than others`, () => {
    const text = `${unit.repeat(CHARS / unit.length)} ${KEYWORDS}`;
    const started = performance.now();
    createRedactor(OWN_RULES).redact(text);
    const ms = performance.now() - started;
    assert.ok(ms < MAX_MS, `${Math.round(ms)} ms`);
  });
}
