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
  if (english.has(said)) return false;
  const languages = likelyLanguages(said);
  if (languages.length === 0) {
    if (english.size >= MAX_REMEMBERED) english.clear();
    english.add(said);
  }
  return languages.some((language) => patternsOf.get(language)?.[cue].test(said) === true);
}

/** Texts in no other language. The same sentences are asked about for one section of a summary after the other. */
const english = new Set<string>();
const MAX_REMEMBERED = 100_000;
