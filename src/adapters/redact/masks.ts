import type { MaskedSecrets } from '../../ports/redactor.ts';
import { entropyOf } from './gitleaks/entropy.ts';

type Known = { readonly secret: string; readonly kind: string };

/** Which mask stands for which secret. A number, and nothing made of the secret: a hash would help to guess it. */
export type Masks = {
  readonly maskFor: (secret: string, kind: string) => string;
  /** Numbers of masks that stand in the text already are not given again: an earlier run may have written them. */
  readonly reserve: (text: string) => void;
  /** Secrets that cannot be a common word, so that they are to be masked wherever they stand. */
  readonly remembered: () => readonly Known[];
  readonly counts: () => readonly MaskedSecrets[];
};

const MASK = /\[redacted:([\w.-]{1,64}):(\d{1,6})\]/g;
const MIN_REMEMBERED_CHARS = 8;
// Bits a character (Shannon). Names with a digit in them, such as `level1_2`, are below.
const MIN_REMEMBERED_ENTROPY = 2.75;
// Each is looked for in every text: more than this many would be felt.
const MAX_REMEMBERED = 200;

export function createMasks(): Masks {
  const bySecret = new Map<string, string>();
  const remembered: Known[] = [];
  const lastNumber = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    maskFor: (secret, kind) => {
      const known = bySecret.get(secret);
      if (known !== undefined) return known;
      const number = (lastNumber.get(kind) ?? 0) + 1;
      lastNumber.set(kind, number);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const mask = `[redacted:${kind}:${number}]`;
      bySecret.set(secret, mask);
      if (isUncommon(secret) && remembered.length < MAX_REMEMBERED) remembered.push({ secret, kind });
      return mask;
    },
    reserve: (text) => {
      if (!text.includes('[redacted:')) return;
      for (const [, kind = '', digits = ''] of text.matchAll(MASK)) {
        lastNumber.set(kind, Math.max(lastNumber.get(kind) ?? 0, Number(digits)));
      }
    },
    remembered: () => remembered,
    counts: () => Array.from(counts, ([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1)),
  };
}

/** Long and irregular enough that the same text elsewhere is the same secret, and no word, number or name. */
function isUncommon(secret: string): boolean {
  if (secret.length < MIN_REMEMBERED_CHARS || !/\d/.test(secret) || !/[^\d]/.test(secret)) return false;
  return entropyOf(secret) >= MIN_REMEMBERED_ENTROPY;
}
