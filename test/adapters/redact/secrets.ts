import { BUILTIN_RULES } from '../../../src/adapters/redact/builtin-rules.ts';
import { createRedactor } from '../../../src/adapters/redact/redactor.ts';
import { indexRules } from '../../../src/adapters/redact/rule.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Text as if drawn by lot, the same each time: no key of anybody, and none that a scanner of this repository would take for one. */
export function drawn(count: number, alphabet = LETTERS): string {
  let state = count + 7;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet.charAt(state % alphabet.length);
  }).join('');
}

/** With our own rules, in a run of its own. */
export function redacted(text: string): string {
  return createRedactor(indexRules(BUILTIN_RULES)).redact(text);
}

/** Text as it stands in a JSON string. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A made-up private key. */
export const PRIVATE_KEY = [
  `-----BEGIN RSA PRIVATE KEY-----`,
  drawn(64),
  drawn(63),
  `${drawn(21)}==`,
  `-----END RSA PRIVATE KEY-----`,
].join('\n');
