import type { ScoreTerm } from '../../app/contract/reports.ts';

/** The kinds of terms that a score is made of. A keyword's term is named `keyword:WORD`. */
export const FACTORS = ['role', 'question', 'tool call', 'keywords', 'length'] as const;
export type Factor = (typeof FACTORS)[number];

export const FACTOR_INITIALS: { readonly [factor in Factor]: string } = {
  role: 'R',
  question: 'Q',
  'tool call': 'T',
  keywords: 'K',
  length: 'L',
};

const KEYWORD = 'keyword:';

/** Share of each factor in a score, in percent, 0 to 100; all 0 for a score of 0. */
export function factorShares(terms: readonly ScoreTerm[]): { readonly [factor in Factor]: number } {
  const total = terms.reduce((sum, { value }) => sum + value, 0);
  const share = (isMeant: (name: string) => boolean): number => {
    const own = terms.reduce((sum, { name, value }) => (isMeant(name) ? sum + value : sum), 0);
    return total === 0 ? 0 : (100 * own) / total;
  };
  return {
    role: share((name) => name === 'role'),
    question: share((name) => name === 'question'),
    'tool call': share((name) => name === 'tool call'),
    keywords: share((name) => name.startsWith(KEYWORD)),
    length: share((name) => name === 'length'),
  };
}

export function matchedKeywords(terms: readonly ScoreTerm[]): readonly string[] {
  return terms.flatMap(({ name }) => (name.startsWith(KEYWORD) ? [name.slice(KEYWORD.length)] : []));
}
