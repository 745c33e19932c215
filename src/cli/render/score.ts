import type { MessageOutcome, ScoreReport, ScoreRow, ScoreTerm } from '../../app/contract/reports.ts';
import { countOf, formatCount } from './quantities.ts';
import { type Column, layTable } from './table.ts';
import { safeText, wrapText } from './text.ts';
import type { Theme } from './theme.ts';

export type ScoreRendering = {
  readonly theme: Theme;
  readonly widthColumns: number;
  readonly explain: boolean;
  readonly sort: ScoreOrder;
  readonly limit: number | null;
};

/** A heading, the table, a legend, and a line with the totals of all messages, shown or not. */
export function renderScoreReport(report: ScoreReport, rendering: ScoreRendering): readonly string[] {
  const { theme, widthColumns, explain } = rendering;
  const rows = selectRows(report.messages, rendering);
  const table = layTable(buildColumns(rows, rendering), { widthColumns, paintHead: theme.faint });
  const name = theme.strong(safeText(report.file));
  const shown = rows.length === report.messages.length ? '' : `, ${formatCount(rows.length)} shown`;
  return [
    `${name}: ${countOf(report.messages.length, 'message')}${shown} (${safeText(report.format)})`,
    ...(rows.length === 0 ? [] : table),
    ...(rows.length > 0 && explain && widthColumns < NARROW_COLUMNS ? wrapText(LEGEND, widthColumns) : []),
    ...wrapText(outcomeTotals(report.messages), widthColumns),
  ];
}

/** The factors of a score. A keyword's term is named `keyword:WORD`. */
const FACTORS = ['role', 'question', 'tool call', 'keywords', 'length'] as const;
type Factor = (typeof FACTORS)[number];

const FACTOR_INITIALS: { readonly [factor in Factor]: string } = {
  role: 'R',
  question: 'Q',
  'tool call': 'T',
  keywords: 'K',
  length: 'L',
};

const NARROW_COLUMNS = 100; // below this the titles are letters and the words are short
const LEGEND = `${FACTORS.map((factor) => `${FACTOR_INITIALS[factor]} ${factor}`).join(', ')}, in %`;

function buildColumns(rows: readonly ScoreRow[], rendering: ScoreRendering): readonly Column[] {
  const { theme, explain, sort, widthColumns } = rendering;
  const isNarrow = widthColumns < NARROW_COLUMNS;
  return [
    {
      title: '#',
      align: 'right',
      cells: rows.map((row, index) => String(sort === 'score' ? index + 1 : row.index)),
      paint: theme.faint,
    },
    { title: 'score', align: 'right', cells: rows.map(({ score }) => score.toFixed(2)), paint: theme.strong },
    barColumn(rows, { theme, widthColumns, explain }),
    {
      title: 'role',
      align: 'left',
      cells: rows.map(({ role }) => (isNarrow ? (SHORT_ROLES[role] ?? safeText(role)) : safeText(role))),
      minColumns: 4,
    },
    ...(explain ? explainColumns(rows, { theme, isNarrow }) : []),
    outcomeColumn(rows, { theme, isNarrow: isNarrow && explain }),
    ...(rows.some(({ hasRule }) => hasRule) ? [ruleColumn(rows)] : []),
    placeColumn(rows, isNarrow && explain),
  ];
}

/** How to find a message: a narrow table would cut ids to the part they share, and a line number is short. */
function placeColumn(rows: readonly ScoreRow[], isShort: boolean): Column {
  if (isShort) return { title: 'line', align: 'right', cells: rows.map(({ line }) => String(line)), isOptional: true };
  return { title: 'id', align: 'left', cells: rows.map(({ id }) => safeText(id)), minColumns: 5, isOptional: true };
}

const SHORT_ROLES: { readonly [role: string]: string } = { assistant: 'asst', system: 'sys' };

function barColumn(
  rows: readonly ScoreRow[],
  look: { readonly theme: Theme; readonly widthColumns: number; readonly explain: boolean },
): Column {
  const { theme, explain } = look;
  const columns = Math.max(5, Math.min(40, Math.floor(look.widthColumns / (explain ? 10 : 5))));
  const highest = rows.reduce((most, { score }) => Math.max(most, score), 0);
  const lengthOf = (score: number): number =>
    highest <= 0 || score <= 0 ? 0 : Math.max(1, Math.round((columns * score) / highest));
  return {
    title: '',
    align: 'left',
    // At full width from the start, so that a bar's length is its score whatever the table does.
    cells: rows.map(({ score }) => '█'.repeat(lengthOf(score)).padEnd(columns)),
    paint: explain ? (cell, row) => paintShares(cell, rows[row], theme) : theme.series[0],
    isOptional: true,
  };
}

/** The bar's blocks in the factors' colors, in the order of their columns. */
function paintShares(cell: string, row: ScoreRow | undefined, theme: Theme): string {
  if (row === undefined) return cell;
  const blocks = cell.trimEnd().length;
  const shares = factorShares(row.terms);
  let painted = '';
  let done = 0;
  let reached = 0;
  for (const [index, factor] of FACTORS.entries()) {
    reached += shares[factor];
    const end = Math.round((blocks * reached) / 100);
    painted += theme.series[index]?.(cell.slice(done, end)) ?? '';
    done = end;
  }
  return painted + cell.slice(done);
}

function explainColumns(
  rows: readonly ScoreRow[],
  look: { readonly theme: Theme; readonly isNarrow: boolean },
): readonly Column[] {
  const { theme, isNarrow } = look;
  const shares = rows.map(({ terms }) => factorShares(terms));
  const shareColumns = FACTORS.map((factor: Factor, index): Column => ({
    title: isNarrow ? FACTOR_INITIALS[factor] : `${factor} %`,
    align: 'right',
    cells: shares.map((share) => (share[factor] === 0 ? '·' : String(Math.round(share[factor])))),
    ...(theme.series[index] === undefined ? {} : { paint: theme.series[index] }),
  }));
  const keywords = rows.map(({ terms }) => safeText(matchedKeywords(terms).join(isNarrow ? ',' : ', ')));
  return [...shareColumns, { title: isNarrow ? 'words' : 'keywords', align: 'left', cells: keywords, minColumns: 5 }];
}

const SHORT_OUTCOMES: { readonly [outcome in MessageOutcome]: string } = {
  kept: 'kept',
  survived: 'surv',
  summarized: 'sum',
};

function outcomeColumn(rows: readonly ScoreRow[], look: { readonly theme: Theme; readonly isNarrow: boolean }): Column {
  const { theme, isNarrow } = look;
  const paints = { kept: theme.good, survived: theme.warning, summarized: theme.faint };
  return {
    title: 'outcome',
    align: 'left',
    cells: rows.map(({ outcome }) => (isNarrow ? SHORT_OUTCOMES[outcome] : outcome)),
    paint: (cell, row) => {
      const outcome = rows[row]?.outcome;
      return outcome === undefined ? cell : paints[outcome](cell);
    },
  };
}

/** Marks the messages that state rules of the user; if there are none, there is no such column. */
function ruleColumn(rows: readonly ScoreRow[]): Column {
  return {
    title: 'rule',
    align: 'left',
    cells: rows.map(({ hasRule }) => (hasRule === true ? 'yes' : '')),
    isOptional: true,
  };
}

function outcomeTotals(rows: readonly ScoreRow[]): string {
  const counts: { [outcome in MessageOutcome]: number } = { kept: 0, survived: 0, summarized: 0 };
  for (const { outcome } of rows) counts[outcome] += 1;
  return `${formatCount(counts.kept)} kept, ${formatCount(counts.survived)} survive word for word, ${formatCount(counts.summarized)} go into the summary`;
}

const KEYWORD = 'keyword:';

/** Share of each factor in a score, in percent, 0 to 100; all 0 for a score of 0. */
function factorShares(terms: readonly ScoreTerm[]): { readonly [factor in Factor]: number } {
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

function matchedKeywords(terms: readonly ScoreTerm[]): readonly string[] {
  return terms.flatMap(({ name }) => (name.startsWith(KEYWORD) ? [name.slice(KEYWORD.length)] : []));
}

export const SCORE_ORDERS = ['score', 'position'] as const;
export type ScoreOrder = (typeof SCORE_ORDERS)[number];

/** The rows in the requested order, cut to the limit. Equal scores keep their order. */
export function selectRows(
  rows: readonly ScoreRow[],
  choice: { readonly sort: ScoreOrder; readonly limit: number | null },
): readonly ScoreRow[] {
  const sorted = choice.sort === 'score' ? rows.toSorted((a, b) => b.score - a.score) : rows;
  return choice.limit === null ? sorted : sorted.slice(0, choice.limit);
}
