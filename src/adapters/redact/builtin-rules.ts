import { ASSIGNMENT_RULE } from './assignment-rule.ts';
import places from './forms.json' with { type: 'json' };
import { isPlaceholder, isReal, looksChosen, looksGenerated, looksRandom, looksSpoken } from './judge.ts';
import { LABEL_RULE } from './label-rule.ts';
import { PRINTED_RULE } from './printed-rule.ts';
import { formRule, type SecretRule } from './rule.ts';
import { COOKIE_RULE, KUBERNETES_RULE, PAIR_RULE, PRIVATE_KEY_RULE, TABLE_RULE } from './structure-rules.ts';
import keys from './vendor-keys.json' with { type: 'json' };

/** Parts of patterns: in `forms.json` their names stand in angle brackets. */
const Q = String.raw`\\{0,3}["'\x60]`;
const PARTS: Readonly<Record<string, string>> = {
  Q,
  // In plain text, and in quotation marks.
  VALUE: String.raw`(?<secret>[^\s"'\x60<>|;&\\]{6,512})`,
  QUOTED: String.raw`${Q}(?<secret>[^\s"'\x60\\]{4,512})${Q}`,
  // An argument of a command, and the options before it. Bounded, and within one line and one command.
  ARGUMENT: String.raw`(?:${Q})?(?<secret>[^\s"'\x60|;&<>$\\]{3,256})`,
  OPTIONS: String.raw`(?:[^\n\r|;&]{0,200}?\s)`,
  GAP: String.raw`[ \t]{1,4}`,
};

const URL_REFERENCE = /^(?:\$|\{|%\w+%$|\*+$|x+$|\.+$|\[redacted:|redacted$|pass(?:word|wd)?$|pwd$)/i;
/** `Basic authentication`, `Bearer token`: ordinary words. */
const ORDINARY_WORD = /^[A-Za-z][a-z]*[.,:]?$/;
const MIN_ISSUED_LETTERS = 8;

/** What a pattern found is a secret only if its judge says so; a row names it. */
const JUDGES: Readonly<Record<string, (text: string) => boolean>> = {
  any: () => true,
  'any-with-digit': (text) => /\d/.test(text),
  real: isReal,
  digit: (text) => isReal(text) && /\d/.test(text),
  random: looksRandom,
  chosen: looksChosen,
  spoken: looksSpoken,
  login: (text) => looksSpoken(text) && !text.includes('='),
  generated: (text) => looksGenerated(text),
  'short-key': (text) => looksGenerated(text, 12),
  long: (text) => looksGenerated(text, 20),
  // Hashes and ids have one case only.
  mixed: (text) => looksGenerated(text, 20) && /[a-z]/.test(text) && /[A-Z]/.test(text),
  issued: isIssued,
  // Both cases and digits all over it: ids rarely have that many.
  prefixed: (text) =>
    isIssued(text) &&
    /[a-z]/.test(text) &&
    /[A-Z]/.test(text) &&
    (text.match(/\d/g)?.length ?? 0) >= 3 &&
    looksGenerated(text, 32),
  password: (text) => isReal(text) && !/[()[\]{}]|^-|^\d{1,3}$/.test(text),
  'url-password': (text) => !URL_REFERENCE.test(text),
  credential: (text) => !ORDINARY_WORD.test(text) && isReal(text),
  'credential-with-digit': (text) => /\d/.test(text) && isReal(text),
  docker: (text) => isUserAndPassword(text) || looksGenerated(text, 20),
  community: (text) => isReal(text) && !/^(?:public|private)$/i.test(text),
  code: (text) => /^\d{4,12}$/.test(text) && !/^(\d)\1*$|^(?:19|20)\d\d$/.test(text),
};

/** The random part of a key whose prefix holds a word such as `sk`, `live` or `token`. */
function isIssued(key: string): boolean {
  const body = /[A-Za-z0-9]{20,}/.exec(key)?.[0] ?? '';
  const digits = body.replace(/\D/g, '').length;
  return !isPlaceholder(key) && digits >= 2 && /[A-Za-z]/.test(body) && new Set(body).size >= MIN_ISSUED_LETTERS;
}

/** Base64 of `user:password`, as registries store it. */
function isUserAndPassword(text: string): boolean {
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(decoded) && /^[^:]+:.{3,}$/.test(decoded);
}

/**
 * Rules that are one regular expression each, from two tables of rows [kind, judge, keywords, pattern, flags]: keys with a prefix of the service
 * that issues them, as it documents them, and secrets that their place in a request, command, file or sentence gives away.
 */
const FORM_RULES: readonly SecretRule[] = [...keys, ...places].map(
  ([kind = '', judge = '', keywords = '', source = '', flags = 'gim']) =>
    formRule({
      kind,
      keywords,
      pattern: new RegExp(
        source.replaceAll(/<([A-Z]+)>/g, (mark, name: string) => PARTS[name] ?? mark),
        flags,
      ),
      accepts: JUDGES[judge] ?? isReal,
    }),
);

/** Our own rules, used in addition to those of gitleaks. If two find the same text, the first decides its kind. */
export const BUILTIN_RULES: readonly SecretRule[] = [
  PRIVATE_KEY_RULE,
  ...FORM_RULES,
  COOKIE_RULE,
  KUBERNETES_RULE,
  PAIR_RULE,
  ASSIGNMENT_RULE,
  TABLE_RULE,
  LABEL_RULE,
  PRINTED_RULE,
];
