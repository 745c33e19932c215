/** Languages that share a script are told apart by their words. */
export type Script =
  | 'latin'
  | 'cyrillic'
  | 'greek'
  | 'arabic'
  | 'hebrew'
  | 'devanagari'
  | 'bengali'
  | 'han'
  | 'kana'
  | 'hangul'
  | 'thai';

/**
 * What the program knows of a language, in lower case as `foldLetters` leaves it. Lists are separated by blanks, patterns are alternatives for
 * whole words (in scripts without spaces for any characters). An empty text: nothing is known.
 */
export type Language = {
  readonly code: string;
  readonly script: Script;
  /** Function words. They tell the language, and say nothing of a subject. */
  readonly words: string;
  /** "From now on": makes any sentence a standing rule. */
  readonly standing: string;
  /** What makes a sentence a standing rule, unless a veto says otherwise. */
  readonly cues: string;
  /** "Not yet", "I always forget", "it always fails": reports, doubts, and wishes for this once. */
  readonly vetoes: string;
  /** "You may … again": takes a rule back. */
  readonly permits: string;
  /** Names of languages, which a later rule may exchange. A pattern. */
  readonly names: string;
  /** Words that state a cause or a decision. */
  readonly causes: string;
  /** How a short answer to a question or an offer begins. */
  readonly consents: string;
  /** How a message begins that only says what comes next. */
  readonly announces: string;
  /** Abbreviations of more than four letters, or with a dot inside; a shorter word before a full stop ends no rule anyway. */
  readonly abbreviations?: string;
  /** Endings of words that a search ignores, and what may stand before a word without a space. */
  readonly endings?: string;
  readonly prefixes?: string;
  /** The shortest rest that an ending may leave; 1 if there is none. */
  readonly minStem?: number;
};
