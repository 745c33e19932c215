/** Without case, accents and the commonest endings: words that the index takes for one mostly have one root. */
export function rootOf(word: string): string {
  const folded = foldWord(word);
  if (!/^[a-z]{4,40}$/.test(folded)) return folded;
  const ending = ENDINGS.find((one) => folded.endsWith(one) && folded.length - one.length >= MIN_ROOT_CHARS) ?? '';
  const root = folded.slice(0, folded.length - ending.length);
  if (ending === 'ies' || ending === 'y') return `${root}i`;
  return root.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/y$/, 'i'); // plays as play
}

const MIN_ROOT_CHARS = 3;
/** The longest that a word has is taken off. */
const ENDINGS = ['ations', 'ation', 'edly', 'ings', 'ing', 'ies', 'ers', 'ed', 'er', 'es', 'ly', 's', 'y', 'e'];

/** Without case and accents. */
export function foldWord(word: string): string {
  return ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

const ASCII = /^[0-9A-Za-z]*$/;
