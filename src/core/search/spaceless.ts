/** Scripts that put no spaces between words, or join particles to them. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const ANY = new RegExp(RUN.source, 'u');

export function isSpaceless(text: string): boolean {
  return ANY.test(text);
}

/** What the index is given of a text: stretches without spaces become their pairs of characters, and the last one alone. */
export function spaceOut(text: string): string {
  return replaceRuns(text, (characters) => [...pairsOf(characters), characters.at(-1) ?? '']);
}

/** The same of what is looked for: pairs, and one character only where it stands alone. */
export function spaceOutSought(text: string): string {
  return replaceRuns(text, (characters) => (characters.length === 1 ? characters : pairsOf(characters)));
}

function replaceRuns(text: string, toWords: (characters: readonly string[]) => readonly string[]): string {
  if (!isSpaceless(text)) return text;
  return text.replace(RUN, (run) => ` ${toWords(Array.from(foldRun(run))).join(' ')} `);
}

/** Marks that stand on letters part words for the index. */
function foldRun(run: string): string {
  return run.normalize('NFKC').replace(/\p{M}/gu, '');
}

function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}
