import type { DiffMessage, DiffReport } from '../../app/survey/diff-file.ts';
import { countOf, formatBytes, formatChange, formatCount, formatSaving, sumOf } from '../../messages/quantities.ts';
import { clipText, safeText, wrapText } from '../../messages/text.ts';
import type { Rendering, Theme } from './theme.ts';

export type DiffRendering = Rendering & {
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
  const runs = partRuns(messages);
  const firstLeft = runs.findIndex(({ sign }) => sign !== '=');
  const after = runs.findIndex(({ sign }, at) => at > firstLeft && sign === '=');
  const summaryAt = firstLeft < 0 ? 0 : after < 0 ? runs.length : after;
  const numberColumns = String(messages.length).length;
  let room = rendering.limit ?? Number.POSITIVE_INFINITY;
  const blocks = runs.map((run) => {
    const shown = positionsShown(run.messages.length, rendering.limit).slice(0, room);
    room -= shown.length;
    return { rest: run.messages.length - shown.length, lines: renderRun(run, shown, { ...rendering, numberColumns }) };
  });
  const rest = sumOf(blocks, (block) => block.rest);
  const more =
    rest === 0
      ? []
      : wrapText(`${countOf(rest, 'message')} not shown: --all shows everything.`, rendering.widthColumns);
  const body = blocks.map(({ lines }) => lines).toSpliced(summaryAt, 0, renderSummary(report.summary, rendering));
  return [...renderHead(report, rendering), '', ...body.flat(), ...more];
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

/** Neighbors of which the same became. */
type Run = { readonly sign: Sign; readonly messages: DiffMessage[] };

function partRuns(messages: readonly DiffMessage[]): readonly Run[] {
  const runs: Run[] = [];
  for (const message of messages) {
    const sign = SIGNS[message.outcome];
    const run = runs.at(-1);
    if (run?.sign === sign) run.messages.push(message);
    else runs.push({ sign, messages: [message] });
  }
  return runs;
}

/** The positions in a run of this length that may be shown. */
function positionsShown(length: number, limit: number | null): readonly number[] {
  const all = Array.from({ length }, (_, at) => at);
  return limit === null || length <= 2 * EDGE + 1 ? all : [...all.slice(0, EDGE), ...all.slice(-EDGE)];
}

type RunRendering = DiffRendering & { readonly numberColumns: number };

/** A line for each message at one of these positions, and one for those in a row that are not shown. */
function renderRun({ sign, messages }: Run, positions: readonly number[], rendering: RunRendering): readonly string[] {
  const lines: string[] = [];
  let next = 0;
  for (const at of [...positions, messages.length]) {
    if (at > next) lines.push(renderHidden(messages.slice(next, at), rendering));
    const message = messages[at];
    if (message !== undefined) lines.push(renderMessage(message, rendering));
    next = at + 1;
  }
  return lines.map((line) => paint(sign, `${sign} ${line}`, rendering.theme));
}

const ROLES: Readonly<Record<string, string>> = { user: 'user', assistant: 'asst', system: 'syst', tool: 'tool' };

function renderMessage({ number, role, tools, text }: DiffMessage, rendering: RunRendering): string {
  const { numberColumns, widthColumns } = rendering;
  const head = `${String(number).padStart(numberColumns)} ${ROLES[role] ?? clipText(safeText(role), 4)} `;
  const said = safeText(text.replaceAll(/\s+/g, ' ').trim());
  // The text of a call begins with the tool's name.
  const named = tools.some((tool) => said.startsWith(safeText(tool))) ? [] : tools.map((tool) => `[${safeText(tool)}]`);
  const words = [...named, said === '' ? '(no text)' : said].join(' ');
  return head + clipText(words, Math.max(10, widthColumns - head.length - 2));
}

function renderHidden(hidden: readonly DiffMessage[], { numberColumns }: RunRendering): string {
  const tokens = sumOf(hidden, (message) => message.tokens);
  return `${'…'.padStart(numberColumns)} ${formatCount(hidden.length)} more, ${countOf(tokens, 'token')}`;
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

function paint(sign: Sign, line: string, { good, bad, warning }: Theme): string {
  return { '+': good, '-': bad, '~': warning, '=': String }[sign](line);
}
