import { resolve } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:process';
import type { FileReport } from '../../app/contract/file-report.ts';
import type { PageReport } from '../../app/contract/reports.ts';
import { listOutcomes, type MessageFate, type OutcomesReport } from '../../app/survey/list-outcomes.ts';
import { isSameFile } from '../../compose/outputs.ts';
import { parseCount } from '../../config/quantity.ts';
import { findNamed } from '../../core/message.ts';
import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand } from '../line/command.ts';
import { CONVERSATION_FLAG, KEEP_FLAGS, READING_FLAGS, SETTINGS_FLAGS, SHARED_STDOUT } from '../line/flags.ts';
import type { Flag, Line, OptionsOf } from '../line/line.ts';
import { describeOutputProblem } from '../../messages/problems.ts';
import { countOf, formatBytes, formatChange, formatCount, formatSaving, sumOf } from '../../messages/quantities.ts';
import { clipText, indent, safeLines, safeText, shellWord, wrapText } from '../../messages/text.ts';
import { describeNear, renderCandidates } from '../render/score.ts';
import type { Rendering, Theme } from '../render/theme.ts';
import { archiveToName, commandLine, inputOf, policyOf } from '../runs/compact.ts';
import { warned } from '../runs/services.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';

const DEFAULT_LIMIT = 60;

const FLAGS = [
  { flags: '-o, --output <path>', description: 'write a page that opens offline here; - for stdout' },
  { flags: '--open', description: 'write the page (NAME.report.html) and open it in a browser' },
  {
    flags: '--message <id>',
    description: 'what became of one message: its number, its id, or line:N',
    conflicts: ['limit', 'all', 'output', 'open'],
  },
  {
    flags: '--limit <n>',
    description: `at most this many messages (${DEFAULT_LIMIT})`,
    parse: parseCount,
    conflicts: ['all', 'output', 'open'],
  },
  { flags: '--all', description: 'every message, and the whole summary', conflicts: ['output', 'open'] },
  { flags: '--plan', description: 'what a compaction would do now' },
  { flags: '--raw', description: 'do not mask secrets' },
  ...KEEP_FLAGS,
  CONVERSATION_FLAG,
  ...READING_FLAGS,
] as const satisfies readonly Flag[];

type ReportLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineCommand({
  operands: {
    syntax: '<file>',
    description: 'a compacted file, the original beside it, or - for standard input',
  },
  flags: FLAGS,
  examples: [
    ['compact report session.compact.jsonl', 'shows what was kept, quoted and left'],
    ['compact report session.compact.jsonl -o page.html', 'writes it as a page'],
    ['compact report --plan session.jsonl', 'before it is compacted'],
  ],
  takesPipe: true,
  findConflict: ({ options, outputOptions }) => {
    const { keepRecent, keepRecentTokens, target, plan } = options;
    if (plan !== true && (keepRecent ?? keepRecentTokens ?? target) !== undefined)
      return '--target, --keep-recent and --keep-recent-tokens are for --plan: they change nothing in what was compacted';
    return outputOptions.json && options.output === '-' ? SHARED_STDOUT : null;
  },
  session: { needs: ['selection', 'archive'], endsWithStdout: true },
  run: async (session, line) => {
    const { reporter, terminal, settings, useCases } = session;
    const { options } = line;
    const { plan: isPlan = false, raw: isRaw = false, open: opens = false } = options;
    const gathered = await gatherInputs(session, line, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    const [input, ...others] = gathered.inputs;
    if (others.length > 0) return session.refuse('report takes one file, but this names several');
    if (input === undefined) return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
    const { name } = input;
    const output = options.output ?? (opens ? pageName(name) : null);
    if (output !== null && output !== '-' && isSameFile(output, input.path))
      return session.refuse(describeOutputProblem({ kind: 'equals-input', output, input: input.path }));
    const mask = isRaw ? null : warned(session, await useCases.createMask(settings.privacy.redact_rules));
    if (mask?.ok === false) return session.refuse(mask.error);
    reporter.progress.name(name);
    const request = { input: inputOf(input, options), policy: policyOf(session, options), isPlan };
    const described = await useCases.reportFile({ ...request, ...(mask && { mask: mask.value }) }, reporter.progress);
    if (terminal.stdout.isClosed()) return EXIT_CODES.done;
    if (!described.ok) {
      const code = session.fail(described.error);
      if (described.error.kind === 'not-compacted')
        reporter.report([`To see what a compaction would do: ${terminal.program()} report --plan ${shellWord(name)}`]);
      return code;
    }
    return output === null
      ? answer(session, described.value, line)
      : writePage(session, described.value, { line, output, name });
  },
});

function answer(session: Session, described: FileReport, { options, outputOptions }: ReportLine): ExitCode {
  const { reporter, terminal } = session;
  const listed = listOutcomes(described);
  if (!listed.ok) return session.fail(listed.error);
  const report = listed.value;
  const { message } = options;
  const found = message === undefined ? report.messages : findFates(report.messages, message);
  const [first] = found;
  if (message !== undefined && (first === undefined || found.length > 1))
    return session.fail(describeNoFate(report, message, found));
  if (outputOptions.json) {
    reporter.answerJson({ ...report, messages: found });
    return EXIT_CODES.done;
  }
  const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
  if (message !== undefined && first !== undefined) {
    const show = commandLine(terminal, ['show', SETTINGS_FLAGS]);
    reporter.answer(renderFate(report, first, { theme, widthColumns, show }));
    return EXIT_CODES.done;
  }
  const limit = options.all === true ? null : (options.limit ?? DEFAULT_LIMIT);
  const lines = renderReport(report, { theme, widthColumns, limit });
  reporter.progress.clear();
  if (!showInPager(`${safeLines(lines.join('\n'))}\n`, terminal)) reporter.answer(lines);
  return EXIT_CODES.done;
}

type Page = { readonly line: ReportLine; readonly output: string; readonly name: string };

async function writePage(session: Session, described: FileReport, { line, output, name }: Page): Promise<ExitCode> {
  const { reporter, terminal, useCases } = session;
  const { operands, options, outputOptions } = line;
  const { PAGE_START, renderPage } = await import('../render/page/page.ts');
  const page = renderPage(described, {
    program: terminal.program(),
    archiveFlag: archiveToName(session),
    isFile: operands[0] !== '-',
    isRaw: options.raw === true,
  });
  if (output === '-') {
    reporter.answerPiece(page);
    return EXIT_CODES.done;
  }
  const written = await useCases.writePage({ path: output, text: page, start: PAGE_START, file: name });
  if (!written.ok) return session.fail(written.error);
  const { file, state } = described;
  const result = state.kind === 'compacted' ? state.verified.result : state.kind;
  const [bytes, messages] = [Buffer.byteLength(page), described.messages.length];
  const report: PageReport = { schema: 'compact/page@1', file, output, bytes, messages, result };
  const figures = `${countOf(messages, 'message')}, ${formatBytes(bytes)}; ${RESULTS[result]}`;
  if (outputOptions.json) reporter.answerJson(report);
  else reporter.report([`${safeText(file)} → ${safeText(output)}: ${figures}`]);
  if (options.open === true && !(await openInBrowser(resolve(output), terminal)))
    reporter.report([`There is no program that opens it: set $BROWSER, or open ${safeText(output)} yourself.`]);
  return EXIT_CODES.done;
}

/** `logs/a.compact.jsonl` → `a.report.html`. */
function pageName(name: string): string {
  const base = name.split('/').at(-1) ?? name;
  return `${base.replace(/\.(?:gz|zst)$/, '').replace(/(?:\.compact)?\.[^.]{1,8}$/, '')}.report.html`;
}

const RESULTS: Readonly<Record<PageReport['result'], string>> = {
  verified: 'verified',
  reduced: 'reduced: proven but for what was erased',
  failed: 'failed: the page lists the problems',
  unproven: 'not proven: the original could not be read from the archive, and the page says why',
  planned: 'a plan: nothing was compacted',
};

/** Ends at once if everything fits on the screen, keeps colors, and leaves the text there. */
const DEFAULT_PAGER = 'less -FRX';

/** Shows a text with $PAGER if there is a terminal. False: nothing was shown. */
export function showInPager(text: string, { stdout, host }: Pick<Terminal, 'stdout' | 'host'>): boolean {
  const { environment, userId } = host;
  const pager = (environment['PAGER'] ?? DEFAULT_PAGER).trim();
  const isWindows = userId === null;
  if (!stdout.isTerminal || isWindows || pager === '' || pager === 'cat' || environment['TERM'] === 'dumb')
    return false;
  // As git does: the variable may hold options, so a shell splits it.
  const ended = spawnSync('sh', ['-c', pager], { input: text, stdio: ['pipe', 'inherit', 'inherit'] });
  return ended.error === undefined && ended.status !== NOT_FOUND && ended.status !== NOT_EXECUTABLE;
}

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

const OPENERS: { readonly [system: string]: string } = { darwin: 'open', win32: 'explorer' };

/** Opens a file with $BROWSER, or as the system does, and does not wait. False: there is no such program. */
export async function openInBrowser(path: string, { host }: Pick<Terminal, 'host'>): Promise<boolean> {
  const opener = host.environment['BROWSER'] ?? OPENERS[platform] ?? 'xdg-open';
  const [program = '', ...args] = opener.trim().split(/\s+/);
  const child = spawn(program, [...args, path], { detached: true, stdio: 'ignore' });
  child.unref();
  return once(child, 'spawn').then(Boolean, () => false);
}

type ReportRendering = Rendering & {
  /** The number of messages to show; null: all of them and the whole summary. */
  readonly limit: number | null;
};

const SIGNS = { kept: '=', quoted: '~', summarized: '-', archived: '-' } as const;
type Sign = (typeof SIGNS)[MessageFate['outcome']] | '+';

/** A heading, the totals, and the messages in their order; the summary stands where it replaces those before it. */
function renderReport(report: OutcomesReport, rendering: ReportRendering): readonly string[] {
  const { messages } = report;
  const runs = partRuns(messages);
  const firstLeft = runs.findIndex(({ sign }) => sign !== '=');
  const after = runs.findIndex(({ sign }, at) => at > firstLeft && sign === '=');
  const summaryAt = firstLeft < 0 ? 0 : after < 0 ? runs.length : after;
  const numberColumns = String(messages.length).length;
  let room = rendering.limit ?? Number.POSITIVE_INFINITY;
  const blocks = runs.map((run) => {
    const all = run.messages.map((_, at) => at);
    // Those in between look alike.
    const isCut = rendering.limit !== null && all.length > 2 * EDGE + 1;
    const shown = (isCut ? [...all.slice(0, EDGE), ...all.slice(-EDGE)] : all).slice(0, room);
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

/** Messages at the ends of a run of equal outcomes. */
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
function findFates(messages: readonly MessageFate[], word: string): readonly MessageFate[] {
  const numbered = messages.filter(({ number }) => String(number) === word);
  return numbered.length > 0 ? numbered : findNamed(messages, word);
}

/** Why a word names no message, or several. */
function describeNoFate({ file, messages }: OutcomesReport, word: string, found: readonly MessageFate[]) {
  const name = `${safeText(file)}: ${safeText(word)}`;
  return found.length === 0
    ? `${name} names no message. ${describeNear(messages, word)}`.trimEnd()
    : [`${name} names ${found.length} messages. Give one of these:`, ...renderCandidates(found)].join('\n');
}

/** `show`: the command that prints an archived message, without its id. */
function renderFate(
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
