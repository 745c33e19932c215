import type { OutcomeReason, ScoreReport, ScoreRow, ScoreTerm } from '../../app/contract/reports.ts';
import { countOf, formatCount } from './quantities.ts';
import { countOutcomes, selectRows } from './score.ts';
import { MIN_ID_LENGTH } from './score-missing.ts';
import { safeText, shellWord, wrapText } from './text.ts';
import type { Theme } from './theme.ts';

export type ExplainRendering = {
  readonly theme: Theme;
  /** Infinite: no terminal, so no line is wrapped. */
  readonly widthColumns: number;
  /** How many of the most important messages are listed; null: all. */
  readonly limit: number | null;
};

/** A strip of the whole conversation, the most important messages with their reasons, and the border between what stays and what goes. */
export function renderExplained(report: ScoreReport, rendering: ExplainRendering): readonly string[] {
  const { theme, limit, widthColumns } = rendering;
  const { messages } = report;
  const tokens = messages.reduce((sum, row) => sum + row.tokens, 0);
  const highest = selectRows(messages, { sort: 'score', limit });
  const head = `${theme.strong(safeText(report.file))}: ${countOf(messages.length, 'message')}, ${countOf(tokens, 'token')} (${safeText(report.format)})`;
  if (messages.length === 0) return [head];
  const heading =
    highest.length === messages.length
      ? 'All messages, the most important first:'
      : `The ${highest.length} most important:`;
  return [
    head,
    ...renderStrip(messages, rendering),
    ...wrapText(countOutcomes(report), widthColumns),
    ...(report.isAsCompacted === true ? wrapText(AS_COMPACTED, widthColumns) : []),
    ...(messages.some(({ because }) => because === 'older') ? wrapText(NO_TARGET, widthColumns) : []),
    theme.strong(heading),
    ...highest.flatMap((row) => renderEntry(row, rendering)),
    ...findBorders(messages).flatMap(({ title, rows }) => [
      theme.strong(title),
      ...rows.flatMap((row) => renderEntry(row, rendering)),
    ]),
  ];
}

const AS_COMPACTED =
  'Nothing was said since it was compacted, so nothing would go now with the same settings. This is what would go if the conversation went on.';
const NO_TARGET =
  'Everything older than the recent part goes, whatever its importance. With --target N, only the least important messages go.';

/** The rows whose texts `renderExplained` shows. */
export function selectExplained(rows: readonly ScoreRow[], limit: number | null): readonly ScoreRow[] {
  return [...selectRows(rows, { sort: 'score', limit }), ...findBorders(rows).flatMap((border) => border.rows)];
}

const LABEL_COLUMNS = 11;
/** Beyond this, an eye no longer finds a cell's place. */
const MAX_CELLS = 100;
const HEIGHTS = '▁▂▃▄▅▆▇█';
const SHADES = '·░▒▓█';
const OUTCOME_SIGNS = { kept: '=', quoted: '"', summarized: '-' } as const;

/** One cell a message, or a group of neighbors. Each row says one thing without color: tokens, importance, and what happens to it. */
function renderStrip(rows: readonly ScoreRow[], { theme, widthColumns }: ExplainRendering): readonly string[] {
  const count = Math.max(1, Math.min(rows.length, MAX_CELLS, widthColumns - LABEL_COLUMNS));
  const cells = Array.from({ length: count }, (_, at) =>
    summarizeCell(rows.slice(Math.floor((at * rows.length) / count), Math.floor(((at + 1) * rows.length) / count))),
  );
  const mostTokens = Math.max(...cells.map(({ tokens }) => tokens));
  const highest = Math.max(...cells.map(({ score }) => score));
  const paints = { kept: theme.good, quoted: theme.warning, summarized: theme.faint };
  const line = (label: string, sign: (cell: Cell) => string): string =>
    label.padEnd(LABEL_COLUMNS) + cells.map((cell) => paints[cell.outcome](sign(cell))).join('');
  const size = Math.ceil(rows.length / count);
  const what = size === 1 ? 'each cell is a message' : `a cell is about ${countOf(size, 'message')}`;
  const legend = `= kept, " word for word, - going; ${what}`;
  return [
    // Square roots, because a few messages have most of the tokens.
    line('tokens', ({ tokens }) => levelOf(HEIGHTS, Math.sqrt(tokens / Math.max(1, mostTokens)))),
    line('importance', ({ score }) => levelOf(SHADES, highest <= 0 ? 0 : score / highest)),
    line('outcome', ({ outcome }) => OUTCOME_SIGNS[outcome]),
    ...wrapText(legend, widthColumns),
  ];
}

type Cell = { readonly tokens: number; readonly score: number; readonly outcome: ScoreRow['outcome'] };

/** A cell has the highest score of its messages, and the outcome of most of them. */
function summarizeCell(rows: readonly ScoreRow[]): Cell {
  const counts = { kept: 0, quoted: 0, summarized: 0 };
  for (const { outcome } of rows) counts[outcome] += 1;
  const [outcome] = (['kept', 'quoted', 'summarized'] as const).toSorted((a, b) => counts[b] - counts[a]);
  return {
    tokens: rows.reduce((sum, row) => sum + row.tokens, 0),
    score: rows.reduce((most, { score }) => Math.max(most, score), 0),
    outcome: outcome ?? 'kept',
  };
}

function levelOf(levels: string, share: number): string {
  const at = Math.min(levels.length - 1, Math.max(0, Math.round(share * (levels.length - 1))));
  return levels[at] ?? '';
}

type Border = { readonly title: string; readonly rows: readonly ScoreRow[] };

/** Where what stays and what goes meet: by position, and with a target by importance too. */
function findBorders(rows: readonly ScoreRow[]): readonly Border[] {
  const first = rows.find(({ because }) => because === 'recent');
  const last = rows.findLast(
    ({ outcome, conversation, index }) =>
      outcome !== 'kept' && conversation === first?.conversation && index < (first?.index ?? 0),
  );
  // The best message of a group decides for all of it.
  const deciding = rows.filter(({ groupScore }) => groupScore === undefined);
  const least = minBy(
    deciding.filter(({ because }) => because === 'target'),
    ({ score }) => score,
  );
  const most = minBy(
    deciding.filter(({ because }) => because === 'below-target'),
    ({ score }) => -score,
  );
  return [
    ...(first === undefined || last === undefined
      ? []
      : [{ title: 'The last message that leaves, and the first of the recent part:', rows: [last, first] }]),
    ...(least === undefined || most === undefined
      ? []
      : [
          {
            title: 'The least important message that --target keeps, and the most important that it does not:',
            rows: [least, most],
          },
        ]),
  ];
}

function minBy(rows: readonly ScoreRow[], figure: (row: ScoreRow) => number): ScoreRow | undefined {
  return rows.reduce<ScoreRow | undefined>(
    (least, row) => (least === undefined || figure(row) < figure(least) ? row : least),
    undefined,
  );
}

const OUTCOME_WORDS = { kept: 'kept', quoted: 'quoted', summarized: 'going' } as const;

/** `line:N` is what `--message` takes. */
function renderEntry(row: ScoreRow, { theme, widthColumns }: ExplainRendering): readonly string[] {
  const paints = { kept: theme.good, quoted: theme.warning, summarized: theme.faint };
  const outcome = OUTCOME_WORDS[row.outcome];
  const rule = row.hasRule === true ? ', states a rule' : '';
  const head = `  ${formatScore(row.score).padStart(4)} ${outcome.padEnd(6)} `;
  const [first = '', ...more] = wrapText(
    `${safeText(row.role)}, line:${row.line}${rule}: ${explainTerms(row.terms)}`,
    Math.max(20, widthColumns - head.length),
  );
  const indent = ' '.repeat(head.length);
  return [
    head.replace(outcome, () => paints[row.outcome](outcome)) + first,
    ...more.map((line) => indent + line),
    ...(row.excerpt === undefined
      ? []
      : wrapText(safeText(row.excerpt), widthColumns - indent.length).map((line) => theme.faint(indent + line))),
  ];
}

const KEYWORD = 'keyword:';

/** 'tool call +4, words: error, fix +3': what adds most comes first. */
export function explainTerms(terms: readonly ScoreTerm[]): string {
  const words = terms.filter(({ name }) => name.startsWith(KEYWORD));
  const list = words.map(({ name }) => safeText(name.slice(KEYWORD.length))).join(', ');
  const parts = [
    ...terms.filter(({ name }) => !name.startsWith(KEYWORD)),
    ...(words.length === 0
      ? []
      : [{ name: `words: ${list}`, value: words.reduce((sum, { value }) => sum + value, 0) }]),
  ].filter(({ value }) => Math.abs(value) >= 0.05);
  if (parts.length === 0) return 'nothing in it counts';
  return parts
    .toSorted((a, b) => b.value - a.value)
    .map(({ name, value }) => `${name} ${value < 0 ? '' : '+'}${formatScore(value)}`)
    .join(', ');
}

/** 15, 4.5, 12.9: more digits would say more than a score means. */
function formatScore(score: number): string {
  return score.toFixed(1).replace(/\.0$/, '');
}

const REASONS: { readonly [reason in OutcomeReason]: string } = {
  unchanged: 'It stays: this transcript would not be compacted.',
  instruction: 'It stays: system messages are instructions, whatever their score.',
  recent: 'It stays: it belongs to the recent part. --keep-recent and --keep-recent-tokens say how long that is.',
  'latest-request': 'It stays word for word: it is the last request before the recent part.',
  target: 'It stays word for word: the target has room for it.',
  'below-target':
    'It goes into the summary: the target has room only for what is more important, and for the latest requests.',
  older: 'It goes into the summary: it is older than the recent part, and without --target everything older goes.',
};

const FACTORS: { readonly [name: string]: string } = {
  role: 'who speaks, and how recently',
  question: 'it asks something',
  'tool call': 'it calls a tool',
  length: 'its length',
};

/** The answer to "why was this dropped?". `show`: the command that prints an archived message, without its id. */
export function renderMessage(
  report: ScoreReport,
  row: ScoreRow,
  { theme, widthColumns, show }: Pick<ExplainRendering, 'theme' | 'widthColumns'> & { readonly show: string },
): readonly string[] {
  const own = report.messages.filter(({ conversation }) => conversation === row.conversation);
  const rank = own.filter(({ score }) => score > row.score).length + 1;
  const groupScore = row.because === 'target' || row.because === 'below-target' ? row.groupScore : undefined;
  const group =
    groupScore === undefined
      ? ''
      : ` A call and its results count as one: the best of them has ${formatScore(groupScore)}.`;
  const id = shellWord(row.id);
  return [
    `${theme.strong(safeText(row.id))}: ${safeText(row.role)}, message ${formatCount(row.index + 1)} of ${formatCount(own.length)}, line ${formatCount(row.line)} of ${safeText(report.file)}`,
    ...(row.excerpt === undefined ? [] : wrapText(theme.faint(safeText(row.excerpt)), widthColumns)),
    `Importance ${formatScore(row.score)}, rank ${formatCount(rank)} of ${formatCount(own.length)}:`,
    ...row.terms.map(({ name, value }) => {
      const what = name.startsWith(KEYWORD)
        ? `the word '${safeText(name.slice(KEYWORD.length))}'`
        : (FACTORS[name] ?? safeText(name));
      return `  ${`${value < 0 ? '' : '+'}${formatScore(value)}`.padStart(5)} ${what}`;
    }),
    ...wrapText(REASONS[row.because] + group, widthColumns),
    ...(row.outcome === 'kept' ? [] : [`It is still in this file. Once it has left, read it with: ${show} ${id}`]),
  ];
}

/** The rows that an id, the beginning of one, or `line:N` names. */
export function findMessages(rows: readonly ScoreRow[], id: string): readonly ScoreRow[] {
  const line = /^line:(\d+)$/.exec(id)?.[1];
  const exact = rows.filter((row) => row.id === id || (line !== undefined && row.line === Number(line)));
  if (exact.length > 0) return exact;
  return id.length < MIN_ID_LENGTH ? [] : rows.filter((row) => row.id.startsWith(id));
}
