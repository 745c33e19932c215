import type { DiffMessage, DiffReport } from '../../app/survey/diff-file.ts';
import { countOf, formatBytes, formatChange, formatCount, formatSaving } from './quantities.ts';
import { clipText, safeText, wrapText } from './text.ts';
import type { Theme } from './theme.ts';

export type DiffRendering = {
  readonly theme: Theme;
  readonly widthColumns: number;
  /** The number of messages to show; null: all of them and the whole summary. */
  readonly limit: number | null;
};

type Sign = '=' | '~' | '-' | '+';

const SIGNS: { readonly [outcome in DiffMessage['outcome']]: Sign } = {
  kept: '=',
  quoted: '~',
  summarized: '-',
  archived: '-',
};

/** A heading, the totals, and the messages in their order; the summary stands where it replaces those before it. */
export function renderDiff(report: DiffReport, rendering: DiffRendering): readonly string[] {
  const { messages } = report;
  const firstLeft = messages.findIndex(({ outcome }) => outcome !== 'kept');
  const after = messages.findIndex(({ outcome }, at) => at > firstLeft && outcome === 'kept');
  const summaryAt = firstLeft < 0 ? 0 : after < 0 ? messages.length : after;
  const shown = selectShown(messages, rendering.limit);
  const numberColumns = String(messages.length).length;
  const lines: string[] = [];
  let hidden: DiffMessage[] = [];
  const flush = (): void => {
    if (hidden.length > 0) lines.push(renderHidden(hidden, numberColumns, rendering));
    hidden = [];
  };
  for (const [at, message] of messages.entries()) {
    if (at === summaryAt) {
      flush();
      lines.push(...renderSummary(report.summary, rendering));
    }
    if (shown.has(at)) {
      flush();
      lines.push(renderMessage(message, numberColumns, rendering));
      continue;
    }
    if (hidden[0] !== undefined && SIGNS[hidden[0].outcome] !== SIGNS[message.outcome]) flush();
    hidden.push(message);
  }
  flush();
  if (summaryAt === messages.length) lines.push(...renderSummary(report.summary, rendering));
  const rest = messages.length - shown.size;
  const more =
    rest === 0
      ? []
      : wrapText(`${countOf(rest, 'message')} not shown: --all shows everything.`, rendering.widthColumns);
  return [...renderHead(report, rendering), '', ...lines, ...more];
}

const MEANINGS = { '=': 'kept', '~': 'quoted', '-': 'left' } as const;

function renderHead(report: DiffReport, { theme, widthColumns }: DiffRendering): readonly string[] {
  const { file, bytes, tokens, messages, cycles } = report;
  const counts = { '=': 0, '~': 0, '-': 0, '+': 0 };
  for (const { outcome } of messages) counts[SIGNS[outcome]] += 1;
  const facts = [
    `${countOf(messages.length, 'message')} in ${countOf(cycles, 'compaction')}`,
    `${formatBytes(bytes.before)} → ${formatBytes(bytes.after)}`,
    `${formatChange(tokens)} tokens (${formatSaving(tokens)})`,
  ].join(', ');
  const legend = (['=', '~', '-'] as const).map((sign) => `${sign} ${formatCount(counts[sign])} ${MEANINGS[sign]}`);
  return [theme.strong(safeText(file)), ...wrapText(facts, widthColumns), `${legend.join('  ')}  + summary`];
}

/** Messages at the ends of a run of equal outcomes: those in between look alike. */
const EDGE = 3;

/** The positions of the messages to show. */
function selectShown(messages: readonly DiffMessage[], limit: number | null): ReadonlySet<number> {
  if (limit === null) return new Set(messages.keys());
  const runs: { readonly start: number; end: number }[] = [];
  for (const [at, { outcome }] of messages.entries()) {
    const run = runs.at(-1);
    const before = messages[at - 1];
    if (run !== undefined && before !== undefined && SIGNS[before.outcome] === SIGNS[outcome]) run.end = at + 1;
    else runs.push({ start: at, end: at + 1 });
  }
  const shown = new Set<number>();
  for (const { start, end } of runs) {
    for (let at = start; at < end && shown.size < limit; at += 1)
      if (end - start <= 2 * EDGE + 1 || at < start + EDGE || at >= end - EDGE) shown.add(at);
  }
  return shown;
}

const ROLES: Readonly<Record<string, string>> = { user: 'user', assistant: 'asst', system: 'syst', tool: 'tool' };

function renderMessage(message: DiffMessage, numberColumns: number, rendering: DiffRendering): string {
  const { number, role, outcome, tools, text } = message;
  const sign = SIGNS[outcome];
  const head = `${sign} ${String(number).padStart(numberColumns)} ${ROLES[role] ?? clipText(safeText(role), 4)} `;
  const said = safeText(text.replaceAll(/\s+/g, ' ').trim());
  // The text of a call begins with the tool's name.
  const named = tools.some((tool) => said.startsWith(safeText(tool))) ? [] : tools.map((tool) => `[${safeText(tool)}]`);
  const words = [...named, said === '' ? '(no text)' : said].join(' ');
  return paint(sign, head + clipText(words, Math.max(10, rendering.widthColumns - head.length)), rendering.theme);
}

function renderHidden(hidden: readonly DiffMessage[], numberColumns: number, { theme }: DiffRendering): string {
  const [first] = hidden;
  const tokens = hidden.reduce((sum, message) => sum + message.tokens, 0);
  const sign = first === undefined ? '=' : SIGNS[first.outcome];
  const dots = '…'.padStart(numberColumns);
  return paint(sign, `${sign} ${dots} ${formatCount(hidden.length)} more, ${countOf(tokens, 'token')}`, theme);
}

/** Lines of the summary that are shown unless all is. */
const SUMMARY_LINES = 12;

function renderSummary(summary: readonly string[], { theme, widthColumns, limit }: DiffRendering): readonly string[] {
  const lines = summary.filter((line) => line.trim() !== '');
  const shown = limit === null ? lines : lines.slice(0, SUMMARY_LINES);
  const rest = lines.length - shown.length;
  return [
    ...shown.map((line) => `+ ${safeText(line.trimEnd())}`),
    ...(rest === 0 ? [] : [`+ … ${countOf(rest, 'more line', 'more lines')} of the summary`]),
  ].map((line) => paint('+', clipText(line, widthColumns), theme));
}

function paint(sign: Sign, line: string, theme: Theme): string {
  switch (sign) {
    case '+':
      return theme.good(line);
    case '-':
      return theme.bad(line);
    case '~':
      return theme.warning(line);
    default:
      return line;
  }
}
