import { hasSpaces, likelyLanguages } from './detect.ts';
import { foldLetters } from './fold.ts';
import type { Language } from './language.ts';
import { createPattern, type Pattern } from './pattern.ts';
import { LANGUAGES } from './tables.ts';

type Cue = 'causes' | 'announces';

const patternsOf: ReadonlyMap<Language, Readonly<Record<Cue, Pattern>>> = new Map(
  LANGUAGES.map((language) => [
    language,
    {
      causes: createPattern(language.causes, { hasSpaces: hasSpaces(language) }),
      announces: createPattern(`^(?:${language.announces})`, { hasSpaces: hasSpaces(language) }),
    },
  ]),
);

/** Only the beginning of a text is read. */
const READ_CHARS = 600;

/** Whether a text in another language than English states a cause or a decision, or announces what comes next. */
export function hasCue(text: string, cue: Cue): boolean {
  const said = foldLetters(text.slice(0, READ_CHARS).toLowerCase());
  return likelyLanguages(said).some((language) => patternsOf.get(language)?.[cue].test(said) === true);
}
