import { createRequire } from 'node:module';
import type * as levenshtein from 'fastest-levenshtein';

/** The known name closest to `name`, however different; '' if there is none. */
export function nearestName(name: string, known: readonly string[]): string {
  return rank(name, known)[0]?.candidate ?? '';
}

/** The known name that `name` was probably meant to be; null if none is similar enough. */
export function likelyName(name: string, known: readonly string[]): string | null {
  const best = rank(name, known)[0];
  if (best === undefined) return null;
  const longest = Math.max(name.length, best.candidate.length);
  // Two edits in a word of five letters are a typo, but in a word of three they make another word.
  const slips = Math.min(3, Math.max(1, Math.floor(longest / 2.5)));
  return best.isPart || best.edits <= slips ? best.candidate : null;
}

type Ranked = { readonly candidate: string; readonly edits: number; readonly isPart: boolean };

function rank(name: string, known: readonly string[]): readonly Ranked[] {
  // Loaded here, because only a mistake needs it.
  const { distance }: typeof levenshtein = createRequire(import.meta.url)('fastest-levenshtein');
  const wanted = normalize(name);
  return known
    .map((candidate): Ranked => {
      const other = normalize(candidate);
      // At least three letters, because almost every name contains any single letter.
      const isPart =
        wanted.length >= 3 && (other.startsWith(wanted) || (other.length >= 3 && wanted.startsWith(other)));
      return { candidate, edits: distance(wanted, other), isPart };
    })
    .sort((a, b) => weigh(a) - weigh(b));
}

/** The start of a known name counts as one edit: 'claude' means 'claude-code', not 'clone'. */
function weigh(ranked: Ranked): number {
  return ranked.isPart ? Math.min(ranked.edits, 1.5) : ranked.edits;
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll('_', '-').replace(/^-+/, '');
}
