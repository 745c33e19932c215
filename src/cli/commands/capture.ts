import type { CaptureReport } from '../../app/contract/reports.ts';
import { findScanned } from '../inputs/gather.ts';
import { defineCommand, type Line, type OptionsOf, type Session, EXIT_CODES, type ExitCode } from '../line/command.ts';
import { FILES_FROM_FLAG, OLDER_THAN_FLAG, READING_FLAGS, readTime } from '../line/flags.ts';
import { countCapture, renderCapture, renderCaptureCounts, renderCaptured } from '../render/capture.ts';
import { safeText } from '../../messages/text.ts';
import { inputOf, minIdleOf } from '../runs/compact.ts';
import { createOutcomes } from '../runs/outcomes.ts';

const FLAGS = [
  { flags: '-n, --dry-run', description: 'say what would be captured; nothing is stored' },
  { flags: '--list', description: 'list captured files and their versions', conflicts: ['dryRun', 'filesFrom'] },
  { flags: '--reread', description: 'read files again even if size and times are unchanged', conflicts: 'list' },
  {
    flags: '--remove',
    description:
      'remove what is captured, proven, and neither open nor held; restore --captured FILE -i brings it back',
    conflicts: 'list',
  },
  OLDER_THAN_FLAG,
  FILES_FROM_FLAG,
  ...READING_FLAGS,
] as const;

type CaptureLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineCommand({
  operands: {
    syntax: '[transcript...]',
    description: 'files, folders or globs; without any, where the known programs keep their transcripts',
  },
  flags: FLAGS,
  examples: [
    ['compact capture', 'stores what the known programs keep, as far as it is new'],
    ['compact capture --remove --older-than 90d', 'also removes what nobody has touched for 90 days'],
    ['compact capture --list session.jsonl', 'the versions that can be restored'],
  ],
  findConflict: ({ operands, options }) => {
    if (options.olderThan !== undefined && options.remove !== true) return '--older-than says what --remove removes';
    // By itself it would take every session out of the lists of all clients.
    if (options.remove === true && operands.length === 0 && (options.olderThan ?? options.filesFrom) === undefined)
      return '--remove needs --older-than 90d, or the files that it may remove';
    return operands.includes('-') ? 'capture reads files, not standard input (-)' : null;
  },
  session: { needs: ['archive'], endsWithStdout: true },
  run: async (session, line) => (line.options.list === true ? list(session, line) : capture(session, line)),
});

async function list(session: Session, { operands }: CaptureLine): Promise<ExitCode> {
  const { useCases, reporter, settings } = session;
  let code: ExitCode = EXIT_CODES.done;
  for (const file of operands.length === 0 ? [null] : operands) {
    const listed = await useCases.listCaptured({ file });
    if (!listed.ok) {
      code = session.fail(listed.error);
      continue;
    }
    const none = `${safeText(settings.archive.path)}: nothing has been captured in it yet. Name another archive with --archive.`;
    if (listed.value.length === 0) reporter.report([none]);
    for (const report of listed.value) session.answer(report, () => renderCaptured(report, reporter.answerTheme));
  }
  return code;
}

/** One line each for files that are named; for many, what was counted. */
async function capture(session: Session, line: CaptureLine): Promise<ExitCode> {
  const { useCases, terminal, reporter } = session;
  const { operands, options, outputOptions } = line;
  const found = await findScanned(session, line);
  if (typeof found === 'number') return found;
  const { files, isSeveral } = found;
  const { dryRun: isDryRun = false, reread: rereads = false } = options;
  const isShown = !isSeveral || outputOptions.verbosity === 'verbose';
  const outcomes = createOutcomes(session, { schema: 'compact/capture@1', isSeveral, isSkipShown: () => isShown });
  const zero = { newBytes: 0, storedBytes: 0, netBytes: 0 };
  const counts = { results: new Map<string, number>(), left: new Map<string, number>(), ...zero };
  const { theme } = reporter;
  const isRemoving = options.remove === true;
  const cold = { before: readTime(options.olderThan), minIdleMs: minIdleOf(session.settings) };
  const request = { isDryRun, rereads, ...(isRemoving && { remove: cold }) };
  outcomes.counts.failed = found.failedCount;
  const add = (report: CaptureReport): void => {
    countCapture(counts, report);
    if (outputOptions.json) reporter.answerJson(report);
    else if (isShown || report.result === 'gone')
      reporter.report([renderCapture(report, { theme, isRemoving })], report);
  };
  let left = files.length;
  for (const [index, file] of files.entries()) {
    if (terminal.signal.aborted) break;
    const progress = reporter.progress.of(file.name, { index, count: files.length });
    const done = await useCases.captureFile({ input: inputOf(file, options), ...request }, progress);
    if (done.ok) add(done.value);
    else if (done.error.kind === 'interrupted') break;
    else outcomes.add(done.error, file);
    left -= 1;
    if (!done.ok && done.error.kind === 'archive') break; // every other file would fail too
  }
  const met = new Set(files.map(({ path }) => path));
  const places = operands.filter((operand) => !met.has(operand));
  const looksEverywhere = operands.length === 0 && options.filesFrom === undefined;
  if (left === 0 && (looksEverywhere || places.length > 0)) {
    const missing = await useCases.recordGone({ folders: looksEverywhere ? null : places, isDryRun });
    if (missing.ok) missing.value.forEach(add);
    else if (missing.error.kind !== 'interrupted')
      outcomes.add(missing.error, { name: session.settings.archive.path, isNamed: true });
  }
  if (isSeveral) reporter.report([renderCaptureCounts({ ...counts, ...outcomes.counts }, { left, theme, isRemoving })]);
  if (counts.results.has('removed'))
    reporter.report([`To bring one back: ${terminal.program()} restore --captured FILE -i`]);
  return outcomes.counts.failed + left > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
