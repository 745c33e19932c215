import { looksChosen, looksGenerated, type SecretRule } from './rule.ts';

const PASSWORD =
  /\b(?:password|passphrase|passcode|passwd|pwd|pw)\s{0,2}(?:\s(?:is|was|will be|to)\s|:\s{0,2}|\s)\s{0,2}["'`“‘(]?(?<value>[^\s"'`”’()<>;]{6,128})/gi;
const KEY =
  /\b(?:api|access|license|licence|secret|auth|product|activation|encryption|one-time)?[ -]?(?:key|token|secret|code)\s{0,2}(?:\s(?:is|was|will be)\s|[:=])\s{0,2}["'`“‘(]?(?<value>[\w.~+/=-]{16,1024})/gi;
const LOGIN =
  /\b(?:login|log in|sign in|credentials?|creds)\b[^\n]{0,40}?\b[\w.@-]{2,64}(?: \/ |:)(?<value>[^\s"'`]{6,128})/gi;
const SENTENCE_END = /[.,;:!?]+$/;

/** Secrets in ordinary sentences: `the password is …`, `login with admin / …`. */
export const PROSE_RULE: SecretRule = {
  keywords: [
    'passw',
    'passphrase',
    'passcode',
    'pwd',
    'pw',
    'key',
    'token',
    'secret',
    'login',
    'log in',
    'sign in',
    'cred',
  ],
  *find(text) {
    for (const [pattern, kind, accepts] of [
      [PASSWORD, 'password', looksChosen],
      [LOGIN, 'password', looksChosen],
      [KEY, 'token', (value: string) => looksGenerated(value)],
    ] as const) {
      for (const match of text.matchAll(pattern)) {
        const spoken = match.groups?.['value'] ?? '';
        const value = spoken.replace(SENTENCE_END, '');
        if (!accepts(value) || isCode(value)) continue;
        const start = match.index + match[0].length - spoken.length;
        yield { start, end: start + value.length, kind };
      }
    }
  },
};

/** A call, a member or a comparison in place of a value. */
function isCode(value: string): boolean {
  return /[()[\]{}]|=>|===|!==|^[A-Za-z_$][\w$]*\.[A-Za-z_$]/.test(value);
}
