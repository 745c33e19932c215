import { isPlaceholder } from './placeholder.ts';
import type { SecretRule } from './rule.ts';

/** A header of any spelling and quoting with its scheme, or a scheme that stands alone. */
const CREDENTIALS =
  /(?<header>authorization(?:\\{0,3}["'])?\s{0,4}(?::|=>?|,)\s{0,4}(?:\\{0,3}["'`])?)?\b(?<scheme>bearer|basic|token|apikey|digest)[ \t]{1,4}(?<value>[A-Za-z0-9._~+/=:-]{6,})/gi;
const MIN_BARE_CHARS = 12;
/** `Basic authentication`, `Bearer token`: words about it. */
const WORD = /^[A-Za-z][a-z]*[.,:]?$/;

/** What stands behind `Authorization: Bearer` or `Basic`, and behind `Bearer` alone where it looks like a token. */
export const AUTHORIZATION_RULE: SecretRule = {
  keywords: ['authorization', 'bearer'],
  *find(text) {
    for (const match of text.matchAll(CREDENTIALS)) {
      const { header, scheme = '', value = '' } = match.groups ?? {};
      const isBare = header === undefined;
      if (isBare && (scheme.toLowerCase() !== 'bearer' || value.length < MIN_BARE_CHARS || !/\d/.test(value))) continue;
      if (WORD.test(value) || isPlaceholder(value)) continue;
      const end = match.index + match[0].length;
      yield { start: end - value.length, end, kind: 'authorization' };
    }
  },
};
