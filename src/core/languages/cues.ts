import { likelyLanguages } from './detect.ts';
import { foldLetters } from './fold.ts';
import { opensLike, patternsOf } from './pattern.ts';

/** Only the beginning of a text is read. */
const READ_CHARS = 600;

/** Whether a text in another language than English states a cause or a decision, or announces what comes next. */
export function hasCue(text: string, cue: 'causes' | 'announces'): boolean {
  const said = fold(text);
  if (cue === 'announces' && !opensLike('announces', said)) return false;
  return likelyLanguages(said).some((language) => patternsOf(language)[cue].test(said));
}

/** Whether a text begins like a consent, or a refusal, in another language than English: a single word does not tell which. */
export function opensWithConsent(text: string): boolean {
  return opensLike('consents', fold(text));
}

function fold(text: string): string {
  return foldLetters(text.slice(0, READ_CHARS).toLowerCase());
}
