import { likelyLanguages } from './detect.ts';
import { foldLetters } from './fold.ts';
import { mayAnnounce, patternsOf } from './pattern.ts';

/** Only the beginning of a text is read. */
const READ_CHARS = 600;

/** Whether a text in another language than English states a cause or a decision, or announces what comes next. */
export function hasCue(text: string, cue: 'causes' | 'announces'): boolean {
  const said = foldLetters(text.slice(0, READ_CHARS).toLowerCase());
  if (cue === 'announces' && !mayAnnounce(said)) return false;
  return likelyLanguages(said).some((language) => patternsOf(language)[cue].test(said));
}
