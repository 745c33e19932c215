/** Different secrets of one kind that were masked. */
export type MaskedSecrets = { readonly kind: string; readonly count: number };

/** Hides secrets in text that is to leave the machine. */
export type Redactor = {
  /**
   * The text with a mask such as `[redacted:github-token:1]` in place of each secret. The same secret gets the same mask for as long as the
   * redactor lives, also where nothing but its earlier appearance tells that it is one.
   */
  readonly redact: (text: string) => string;
  /** What was masked so far, by kind in alphabetical order. */
  readonly masked: () => readonly MaskedSecrets[];
};

/** Why a file of rules cannot be used. `problem` completes "PLACE …"; the place is a key such as `rules[2].regex`, or a line; empty: the file itself. */
export type RuleFileProblem = { readonly path: string; readonly place: string; readonly problem: string };
