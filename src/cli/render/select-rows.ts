import type { ScoreRow } from '../../app/contract/reports.ts';

export const SCORE_ORDERS = ['score', 'position'] as const;
export type ScoreOrder = (typeof SCORE_ORDERS)[number];

/** The rows in the order asked for, and no more of them than that. Equal scores keep their order. */
export function selectRows(
  rows: readonly ScoreRow[],
  choice: { readonly sort: ScoreOrder; readonly limit: number | null },
): readonly ScoreRow[] {
  const sorted = choice.sort === 'score' ? rows.toSorted((a, b) => b.score - a.score) : rows;
  return choice.limit === null ? sorted : sorted.slice(0, choice.limit);
}
