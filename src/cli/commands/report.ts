import { resolve } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:process';
import type { FileReport } from '../../app/contract/file-report.ts';
import type { PageReport } from '../../app/contract/reports.ts';
import { listOutcomes } from '../../app/survey/list-outcomes.ts';
import { isSameFile } from '../../compose/outputs.ts';
import { parseCount } from '../../config/quantity.ts';
import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand } from '../line/command.ts';
import { CONVERSATION_FLAG, KEEP_FLAGS, READING_FLAGS, SETTINGS_FLAGS, SHARED_STDOUT } from '../line/flags.ts';
import type { Flag, Line, OptionsOf } from '../line/line.ts';
import { describeOutputProblem } from '../../messages/problems.ts';
import { countOf, formatBytes } from '../../messages/quantities.ts';
import { reportJson, safeLines, safeText, shellWord } from '../../messages/text.ts';
import { describeNoFate, findFates, renderFate, renderReport } from '../render/report.ts';
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
    if (output !== null && output !== '-' && (await isSameFile(output, input.path)))
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
  if (message !== undefined && (first === undefined || found.length > 1)) {
    reporter.error(describeNoFate(report, message, found));
    return EXIT_CODES.failed;
  }
  if (outputOptions.json) {
    reporter.answerPiece(reportJson({ ...report, messages: found }));
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
  if (outputOptions.json) reporter.answerPiece(reportJson(report));
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
