const EXAMPLE_WORDS =
  /your|example|placeholder|replace|insert|change.?me|dummy|sample|redacted|secret.?here|goes.?here|_here$|todo|xxxx|0000000|1234567890|abcdefgh/i;
const DELIMITED_EXAMPLE_WORD =
  /(?:^|[^A-Za-z])(?:your|example|placeholder|dummy|sample|redacted|x{4,})(?:[^A-Za-z]|$)/i;
const REFERENCE = /^(?:\$|%\w+%|\{|<|\(|\[|#\{|@\{|\*|\.{2,}|…|-{2,}|_{2,})/;
const ONE_CHARACTER = /^(.)\1*$/su;
// Random text of this length has at least so many different characters.
const MIN_RANDOM_CHARS = 16;
const MIN_DIFFERENT = 6;

/** Text that stands where a secret would, and is none: `<your key>`, `${TOKEN}`, `xxxx`, `***`, a mask. */
export function isPlaceholder(text: string): boolean {
  if (REFERENCE.test(text) || ONE_CHARACTER.test(text)) return true;
  if (text.length >= MIN_RANDOM_CHARS && new Set(text).size < MIN_DIFFERENT) return true;
  // Where letters of both cases and digits are mixed, such a word may stand by chance.
  const isMixed = text.length >= MIN_RANDOM_CHARS && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return (isMixed ? DELIMITED_EXAMPLE_WORD : EXAMPLE_WORDS).test(text);
}

/** Looks drawn by lot, as keys are: letters and digits, a long stretch without a joint, and no placeholder. */
export function looksRandom(text: string): boolean {
  return !isPlaceholder(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && /[A-Za-z0-9]{12}/.test(text);
}
