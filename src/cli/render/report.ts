import type { MessageFate, OutcomesReport } from '../../app/survey/list-outcomes.ts';
import { findNamed } from '../../core/message.ts';
import { countOf, formatBytes, formatChange, formatCount, formatSaving, sumOf } from '../../messages/quantities.ts';
import { clipText, indent, safeText, shellWord, wrapText } from '../../messages/text.ts';
import { describeNear, renderCandidates } from './score.ts';
import type { Rendering, Theme } from './theme.ts';

export type ReportRendering = Rendering & {
  /** The number of messages to show; null: all of them and the whole summary. */
  readonly limit: number | null;
};

const SIGNS = { kept: '=', quoted: '~', summarized: '-', archived: '-' } as const;
type Sign = (typeof SIGNS)[MessageFate['outcome']] | '+';

/** A heading, the totals, and the messages in their order; the summary stands where it replaces those before it. */
export function renderReport(report: OutcomesReport, rendering: ReportRendering): readonly string[] {
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
  const more = `${countOf(rest, 'message')} not shown: --all shows everything.`;
  const body = blocks.map(({ lines }) => lines).toSpliced(summaryAt, 0, renderSummary(report.summary, rendering));
  return [
    ...renderHead(report, rendering),
    '',
    ...body.flat(),
    ...(rest === 0 ? [] : wrapText(more, rendering.widthColumns)),
  ];
}

function renderHead(report: OutcomesReport, { theme, widthColumns }: ReportRendering): readonly string[] {
  const { file, bytes, tokens, messages, cycles } = report;
  const signs = messages.map(({ outcome }) => SIGNS[outcome]);
  const counted = (sign: Sign, meaning: string): string =>
    `${sign} ${formatCount(signs.filter((one) => one === sign).length)} ${meaning}`;
  const facts = [
    `${countOf(messages.length, 'message')} ${report.original === null ? 'in a plan' : `in ${countOf(cycles, 'compaction')}`}`,
    ...(bytes.after === null ? [] : [`${formatBytes(bytes.before)} → ${formatBytes(bytes.after)}`]),
    `${formatChange(tokens)} tokens (${formatSaving(tokens)})`,
  ].join(', ');
  const legend = `${counted('=', 'kept')}  ${counted('~', 'quoted')}  ${counted('-', 'left')}  + summary`;
  return [theme.strong(safeText(file)), ...wrapText(facts, widthColumns), legend];
}

/** Messages at the ends of a run of equal outcomes: those in between look alike. */
const EDGE = 3;

/** Neighbors of which the same became. */
function partRuns(messages: readonly MessageFate[]) {
  const runs: { readonly sign: Sign; readonly messages: MessageFate[] }[] = [];
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

type RunRendering = ReportRendering & { readonly numberColumns: number };

/** A line for each message at one of these positions, and one for those in a row that are not shown. */
function renderRun(
  { sign, messages }: ReturnType<typeof partRuns>[number],
  positions: readonly number[],
  rendering: RunRendering,
): readonly string[] {
  const lines: string[] = [];
  let next = 0;
  for (const at of [...positions, messages.length]) {
    const hidden = messages.slice(next, at);
    const tokens = sumOf(hidden, (message) => message.tokens);
    const more = `${formatCount(hidden.length)} more, ${countOf(tokens, 'token')}`;
    if (hidden.length > 0) lines.push(`${'…'.padStart(rendering.numberColumns)} ${more}`);
    const message = messages[at];
    if (message !== undefined) lines.push(renderMessage(message, rendering));
    next = at + 1;
  }
  return lines.map((line) => paint(sign, `${sign} ${line}`, rendering.theme));
}

const ROLES: Readonly<Record<string, string>> = { user: 'user', assistant: 'asst', system: 'syst', tool: 'tool' };

function renderMessage({ number, role, tools, text }: MessageFate, rendering: RunRendering): string {
  const { numberColumns, widthColumns } = rendering;
  const head = `${String(number).padStart(numberColumns)} ${ROLES[role] ?? clipText(safeText(role), 4)} `;
  const said = safeText(text.replaceAll(/\s+/g, ' ').trim());
  // The text of a call begins with the tool's name.
  const named = tools.some((tool) => said.startsWith(safeText(tool))) ? [] : tools.map((tool) => `[${safeText(tool)}]`);
  const words = [...named, said === '' ? '(no text)' : said].join(' ');
  return head + clipText(words, Math.max(10, widthColumns - head.length - 2));
}

/** Lines of the summary that are shown unless all is. */
const SUMMARY_LINES = 12;

function renderSummary(summary: readonly string[], { theme, widthColumns, limit }: ReportRendering): readonly string[] {
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

/** The messages that a number of the list, an id, the beginning of one, or `line:N` names. */
export function findFates(messages: readonly MessageFate[], word: string): readonly MessageFate[] {
  const numbered = messages.filter(({ number }) => String(number) === word);
  return numbered.length > 0 ? numbered : findNamed(messages, word);
}

/** Why a word names no message, or several. */
export function describeNoFate({ file, messages }: OutcomesReport, word: string, found: readonly MessageFate[]) {
  const name = `${safeText(file)}: ${safeText(word)}`;
  return found.length === 0
    ? `${name} names no message. ${describeNear(messages, word)}`.trimEnd()
    : [`${name} names ${found.length} messages. Give one of these:`, ...renderCandidates(found)].join('\n');
}

/** `show`: the command that prints an archived message, without its id. */
export function renderFate(
  { file, original }: OutcomesReport,
  { number, id, line, role, outcome, cycle, batch, text }: MessageFate,
  { theme, widthColumns, show }: Rendering & { readonly show: string },
): readonly string[] {
  const cover = batch === null ? '' : `, and the summary ${safeText(batch)} covers it`;
  const left = cycle === null ? 'would leave with a compaction' : `left in compaction ${cycle}`;
  const quoted = cycle === null ? 'would be quoted' : `was quoted when it left in compaction ${cycle}`;
  const fates = {
    kept: original === null ? 'would stay as it is' : 'is still in the file, byte for byte',
    quoted: `${quoted}: the summary has it word for word`,
    summarized: `${left}${cover}`,
    archived: `${left}; it is only in the archive`,
  };
  return [
    `${theme.strong(safeText(id))}: ${safeText(role)}, message ${number} of ${safeText(file)}, line ${line} of the original`,
    ...wrapText(`It ${fates[outcome]}.`, widthColumns),
    ...indent(wrapText(safeText(text.replaceAll(/\s+/g, ' ').trim() || '(no text)'), widthColumns - 2)),
    ...(cycle === null ? [] : [`Read all of it with: ${show} ${shellWord(id)}`]),
  ];
}
