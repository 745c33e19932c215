import { lazily, lazilyFor } from '../lazy.ts';
import { hasSpaces, isJoined, LANGUAGES, likelyLanguages } from './detect.ts';
import { foldLetters } from './fold.ts';
import type { Language } from './language.ts';

/**
 * All letters and marks that occur in tables and what stands between them in Unicode, without punctuation. V8 takes a millisecond to compile each
 * `\p{L}`, which would slow down the start of the program.
 */
const LETTER =
  '[a-zµ\\u00df-\\u00f6\\u00f8-\\u024f\\u0300-\\u0373\\u0376-\\u037d\\u0386\\u0388-\\u0481\\u0483-\\u0559\\u0561-\\u0587\\u0591-\\u05bd\\u05d0-\\u05f2\\u0610-\\u061a\\u0620-\\u0669\\u066e-\\u06d3\\u06d5-\\u06ff\\u0900-\\u0963\\u0971-\\u09e3\\u0a01-\\u0df3\\u1100-\\u11ff\\u1e00-\\u1fff\\uac00-\\ud7af]';

type Pattern = {
  readonly test: (sentence: string) => boolean;
  readonly findAll: (sentence: string) => readonly string[];
  readonly remove: (sentence: string) => string;
};

const NOTHING: Pattern = { test: () => false, findAll: () => [], remove: (sentence) => sentence };

/** What the sentences of a language are searched for. */
export const patternsOf = lazilyFor((language: Language) => {
  const create = (alternatives: string): Pattern => createPattern(alternatives, hasSpaces(language));
  return {
    standing: create(language.standing),
    cues: create(language.cues),
    vetoes: create(language.vetoes),
    permits: create(language.permits),
    names: create(language.names),
    causes: create(language.causes),
    announces: create(beginning([language], 'announces')),
    // Korean is written with spaces, but its endings are parts of words.
    functionWords: createPattern(language.words.replaceAll(' ', '|'), !isJoined(language)),
  };
});

type Opening = 'announces' | 'consents';

const openingsOf = lazilyFor((kind: Opening) =>
  [true, false].map((areWords) =>
    createPattern(
      beginning(
        LANGUAGES.filter((one) => hasSpaces(one) === areWords),
        kind,
      ),
      areWords,
    ),
  ),
);

/** Whether a sentence begins like this in any language. It takes less time to rule this out than to tell the language. */
function opensLike(kind: Opening, sentence: string): boolean {
  return openingsOf(kind).some(({ test }) => test(sentence));
}

function beginning(languages: readonly Language[], kind: Opening): string {
  return `^(?:${languages.map((language) => language[kind]).join('|')})`;
}

/**
 * A pattern for alternatives, compiled when it is first tried: whole words, which `\b` only knows of English, or any characters. Empty
 * alternatives match nothing.
 */
function createPattern(alternatives: string, areWords: boolean): Pattern {
  if (alternatives === '') return NOTHING;
  const read = lazily(() => {
    const folded = foldLetters(alternatives).replaceAll('\\p{L}', LETTER);
    return areWords ? `(?<!${LETTER})(?:${folded})(?!${LETTER})` : folded;
  });
  const first = lazily(() => new RegExp(read(), 'u'));
  const all = lazily(() => new RegExp(read(), 'gu'));
  return {
    test: (sentence) => first().test(sentence),
    findAll: (sentence) => sentence.match(all()) ?? [],
    remove: (sentence) => sentence.replace(all(), ' '),
  };
}

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
