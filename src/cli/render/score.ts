import type { MessageOutcome, OutcomeReason, ScoreReport, ScoreRow, ScoreTerm } from '../../app/contract/reports.ts';
import { likelyName } from '../../config/nearest.ts';
import { groupIntoCells } from '../../core/overview/strip.ts';
import { MIN_ID_LENGTH } from '../../core/message.ts';
import { countOf, formatCount, sumOf } from '../../messages/quantities.ts';
import { layTable } from './table.ts';
import { safeJson, safeText, shellWord, wrapText } from '../../messages/text.ts';
import type { Rendering, Theme } from './theme.ts';

export type ScoreRendering = Rendering & {
  readonly sort: ScoreOrder;
  /** How many messages are listed; null: all. */
  readonly limit: number | null;
  /** Also the last message that leaves, and the first that stays. */
  readonly hasBorder?: boolean;
  /** Also the ids. */
  readonly isVerbose?: boolean;
};

/** A heading, the table, and a line with the totals of all messages, shown or not. */
export function renderScoreReport(report: ScoreReport, rendering: ScoreRendering): readonly string[] {
  const { theme, widthColumns, hasBorder = false } = rendering;
  const rows = selectRows(report.messages, rendering);
  const name = theme.strong(safeText(report.file));
  const isWhole = rows.length === report.messages.length;
  const shown = isWhole ? '' : `, ${formatCount(rows.length)} shown`;
  const borders = hasBorder && !isWhole ? findBorders(report.messages) : [];
  const [head = '', ...lines] = layRows([...rows, ...borders.flatMap((border) => border.rows)], rendering);
  const [highest, edges] = [lines.slice(0, rows.length), lines.slice(rows.length)];
  return [
    `${name}: ${countOf(report.messages.length, 'message')}${shown} (${safeText(report.format)})`,
    ...(rows.length === 0 ? [] : [head, ...highest]),
    ...borders.flatMap(({ title }, at) => [theme.strong(title), ...edges.slice(2 * at, 2 * at + 2)]),
    ...wrapText(countOutcomes(report), widthColumns),
    ...(hasBorder && !isWhole ? wrapText('--all lists every message; --explain says why.', widthColumns) : []),
  ];
}

const NARROW_COLUMNS = 100; // below this the roles are short
const SHORT_ROLES: { readonly [role: string]: string } = { assistant: 'asst', system: 'sys' };

function layRows(rows: readonly ScoreRow[], { theme, widthColumns, isVerbose }: ScoreRendering): readonly string[] {
  const roles = widthColumns < NARROW_COLUMNS ? SHORT_ROLES : {};
  const barColumns = Math.max(5, Math.min(40, Math.floor(widthColumns / 5)));
  const highest = rows.reduce((most, { score }) => Math.max(most, score), 0);
  const lengthOf = (score: number): number =>
    highest <= 0 || score <= 0 ? 0 : Math.max(1, Math.round((barColumns * score) / highest));
  return layTable<ScoreRow>(
    rows,
    [
      { title: 'line', align: 'right', cell: ({ line }) => String(line), paint: theme.faint },
      { title: 'score', align: 'right', cell: ({ score }) => score.toFixed(2), paint: theme.strong },
      {
        title: '',
        // At full width from the start, so that a bar's length is its score whatever the table does.
        cell: ({ score }) => '█'.repeat(lengthOf(score)).padEnd(barColumns),
        paint: theme.bar,
        isOptional: true,
      },
      { title: 'role', cell: ({ role }) => roles[role] ?? safeText(role), minColumns: 4 },
      { title: 'outcome', cell: ({ outcome }) => outcome, paint: (cell, row) => paintOutcome(row, theme)(cell) },
      // Marks the messages that state rules of the user; if there are none, there is no such column.
      ...(rows.some(({ hasRule }) => hasRule)
        ? [{ title: 'rule', cell: (row: ScoreRow) => (row.hasRule === true ? 'yes' : ''), isOptional: true }]
        : []),
      ...(isVerbose === true
        ? [{ title: 'id', cell: ({ id }: ScoreRow) => safeText(id), minColumns: 5, isOptional: true }]
        : []),
      { title: 'message', cell: ({ excerpt = '' }) => safeText(excerpt), minColumns: 10, isOptional: true },
    ],
    { widthColumns, paintHead: theme.faint },
  );
}

function paintOutcome({ outcome }: { readonly outcome: MessageOutcome }, theme: Theme): (text: string) => string {
  return { kept: theme.good, quoted: theme.warning, summarized: theme.faint }[outcome];
}

/** '49 kept, 1 quoted word for word, 583 go into the summary', or why nothing goes. */
function countOutcomes({ messages, whyReadOnly }: ScoreReport): string {
  if (whyReadOnly !== undefined) return `This format is not compacted: ${whyReadOnly}.`;
  const counts: { [outcome in MessageOutcome]: number } = { kept: 0, quoted: 0, summarized: 0 };
  for (const { outcome } of messages) counts[outcome] += 1;
  return `${formatCount(counts.kept)} kept, ${formatCount(counts.quoted)} quoted word for word, ${formatCount(counts.summarized)} go into the summary`;
}

export const SCORE_ORDERS = ['score', 'position'] as const;
export type ScoreOrder = (typeof SCORE_ORDERS)[number];

/** The rows in the requested order, cut to the limit. Equal scores keep their order. */
export function selectRows(
  rows: readonly ScoreRow[],
  { sort, limit }: { readonly sort: ScoreOrder; readonly limit: number | null },
): readonly ScoreRow[] {
  const count = Math.min(limit ?? rows.length, rows.length);
  if (sort === 'position') return rows.slice(0, count);
  // Sorting only the rows that may be shown takes a tenth of the time.
  const least = Float64Array.from(rows, ({ score }) => score).sort()[rows.length - count] ?? Number.POSITIVE_INFINITY;
  const highest = rows.filter(({ score }) => score >= least);
  return highest.toSorted((a, b) => b.score - a.score).slice(0, count);
}

/** A strip of the whole conversation, the most important messages with their reasons, and the border between what stays and what goes. */
export function renderExplained(report: ScoreReport, rendering: Omit<ScoreRendering, 'sort'>): readonly string[] {
  const { theme, limit, widthColumns } = rendering;
  const { messages } = report;
  const tokens = sumOf(messages, (row) => row.tokens);
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

/** These rows, and those at the borders among all. */
export function withBorders(selected: readonly ScoreRow[], all: readonly ScoreRow[]): readonly ScoreRow[] {
  return selected.length === all.length ? selected : [...selected, ...findBorders(all).flatMap(({ rows }) => rows)];
}

const LABEL_COLUMNS = 11;
/** Beyond this, an eye no longer finds a cell's place. */
const MAX_CELLS = 100;
const HEIGHTS = '▁▂▃▄▅▆▇█';
const SHADES = '·░▒▓█';
const OUTCOME_SIGNS = { kept: '=', quoted: '"', summarized: '-' } as const;

/** One cell a message, or a group of neighbors. Each row says one thing without color: tokens, importance, and what happens to it. */
function renderStrip(rows: readonly ScoreRow[], { theme, widthColumns }: Rendering): readonly string[] {
  const cells = groupIntoCells(rows, Math.max(1, Math.min(MAX_CELLS, widthColumns - LABEL_COLUMNS))).map((cell) => ({
    ...cell,
    tokens: sumOf(Object.values(cell.tokens), Number),
    // What becomes of most of its messages.
    outcome: (['kept', 'quoted', 'summarized'] as const).reduce((a, b) => (cell.counts[b] > cell.counts[a] ? b : a)),
  }));
  const mostTokens = Math.max(1, ...cells.map(({ tokens }) => tokens));
  const highest = Math.max(...cells.map(({ score }) => score));
  const line = (label: string, sign: (cell: (typeof cells)[number]) => string): string =>
    label.padEnd(LABEL_COLUMNS) + cells.map((cell) => paintOutcome(cell, theme)(sign(cell))).join('');
  const size = Math.ceil(rows.length / cells.length);
  const what = size === 1 ? 'each cell is a message' : `a cell is about ${countOf(size, 'message')}`;
  return [
    // Square roots, because a few messages have most of the tokens.
    line('tokens', ({ tokens }) => levelOf(HEIGHTS, Math.sqrt(tokens / mostTokens))),
    line('importance', ({ score }) => levelOf(SHADES, highest <= 0 ? 0 : score / highest)),
    line('outcome', ({ outcome }) => OUTCOME_SIGNS[outcome]),
    ...wrapText(`= kept, " word for word, - going; ${what}`, widthColumns),
  ];
}

function levelOf(levels: string, share: number): string {
  const at = Math.min(levels.length - 1, Math.max(0, Math.round(share * (levels.length - 1))));
  return levels[at] ?? '';
}

/** Where what stays and what goes meet: by position, and with a target by importance too. */
function findBorders(rows: readonly ScoreRow[]) {
  const first = rows.find(({ because }) => because === 'recent');
  const last = rows.findLast(
    ({ outcome, conversation, index }) =>
      outcome !== 'kept' && conversation === first?.conversation && index < (first?.index ?? 0),
  );
  // The best message of a group decides for all of it.
  const deciding = rows.filter(({ groupScore }) => groupScore === undefined);
  const extreme = (because: OutcomeReason, isBeyond: (score: number, other: number) => boolean) =>
    deciding
      .filter((row) => row.because === because)
      .reduce<ScoreRow | undefined>(
        (found, row) => (found === undefined || isBeyond(row.score, found.score) ? row : found),
        undefined,
      );
  const least = extreme('target', (score, other) => score < other);
  const most = extreme('below-target', (score, other) => score > other);
  const borders = [
    ['The last message that leaves, and the first of the recent part:', last, first],
    ['The least important message that --target keeps, and the most important that it does not:', least, most],
  ] as const;
  return borders.flatMap(([title, one, other]) =>
    one === undefined || other === undefined ? [] : [{ title, rows: [one, other] }],
  );
}

/** `line:N` is what `--message` takes. */
function renderEntry(row: ScoreRow, { theme, widthColumns }: Rendering): readonly string[] {
  const outcome = { kept: 'kept', quoted: 'quoted', summarized: 'going' }[row.outcome];
  const rule = row.hasRule === true ? ', states a rule' : '';
  const head = `  ${formatScore(row.score).padStart(4)} ${outcome.padEnd(6)} `;
  const [first = '', ...more] = wrapText(
    `${safeText(row.role)}, line:${row.line}${rule}: ${explainTerms(row.terms)}`,
    Math.max(20, widthColumns - head.length),
  );
  const indent = ' '.repeat(head.length);
  return [
    head.replace(outcome, () => paintOutcome(row, theme)(outcome)) + first,
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
    ...(words.length === 0 ? [] : [{ name: `words: ${list}`, value: sumOf(words, ({ value }) => value) }]),
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
  { theme, widthColumns, show }: Rendering & { readonly show: string },
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

type Row = Pick<ScoreRow, 'id' | 'line' | 'role'>;

const MAX_SHOWN = 5;
/** More ids are not compared letter by letter. */
const MAX_COMPARED = 5_000;

/** The messages that a word may mean, one a line, each with what names it alone. */
export function renderCandidates(rows: readonly Row[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shown = rows.slice(0, MAX_SHOWN).map(({ id, line, role }) => {
    const isUnique = counts.get(id) === 1;
    return isUnique ? `  ${safeText(id)}  (${role}, line ${line})` : `  line:${line}  (${role}, ${safeText(id)})`;
  });
  return rows.length > MAX_SHOWN ? [...shown, `  … and ${rows.length - MAX_SHOWN} more`] : shown;
}

/** Sentences on what names messages in this file, and which messages an unknown word is near to. */
export function describeNear(rows: readonly Row[], word: string): string {
  const [first] = rows;
  if (first === undefined) return 'It has no messages.';
  const line = Number(/^(?:line:)?(\d+)$/.exec(word)?.[1] ?? Number.NaN);
  if (!Number.isNaN(line)) return describeLine(rows, line, word);
  const begun = rows.filter(({ id }) => id.startsWith(word));
  if (begun.length > 0)
    return `Type at least ${MIN_ID_LENGTH} characters of an id:\n${renderCandidates(begun).join('\n')}\n`;
  const near = rows.length > MAX_COMPARED ? null : likelyName(word, [...new Set(rows.map(({ id }) => id))]);
  if (near !== null) return `Did you mean ${safeText(near)}?`;
  const example = first.id.startsWith('line:') ? `line:${first.line}` : `${safeText(first.id)} or line:${first.line}`;
  return `Its messages have names like ${example}.`;
}

function describeLine(rows: readonly Row[], line: number, word: string): string {
  if (rows.some((row) => row.line === line) && !word.startsWith('line:')) return `Did you mean line:${line}?`;
  const lines = rows.map((row) => row.line).toSorted((a, b) => a - b);
  const before = lines.findLast((one) => one < line);
  const after = lines.find((one) => one > line);
  if (after === undefined) return `Its last message is in line ${before}.`;
  if (before === undefined) return `Its first message is in line ${after}.`;
  return `The nearest messages are line:${before} and line:${after}.`;
}

const ROWS_A_PIECE = 500; // about 100 kB: the text of a million rows is never in memory at once

const SCORES: ReadonlySet<string> = new Set(['score', 'value', 'groupScore']);

/** A score report as one line of JSON, in pieces. Scores have four digits, which is more than they mean. */
export function* scoreJson(report: ScoreReport, rows: readonly ScoreRow[]): Generator<string> {
  const { messages: _all, ...head } = report;
  const round = (key: string, value: unknown): unknown =>
    typeof value === 'number' && SCORES.has(key) ? Number(value.toPrecision(4)) : value;
  yield `${safeJson(JSON.stringify(head)).slice(0, -1)},"messages":[`;
  for (let start = 0; start < rows.length; start += ROWS_A_PIECE) {
    const piece = safeJson(JSON.stringify(rows.slice(start, start + ROWS_A_PIECE), round)).slice(1, -1);
    yield start === 0 ? piece : `,${piece}`;
  }
  yield ']}\n';
}
