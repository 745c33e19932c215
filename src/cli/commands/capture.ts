import type { CaptureReport } from '../../app/contract/reports.ts';
import type { Failure } from '../../app/contract/failure.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { createSkipRenderer, renderFailed, skipUnreadable, toFailedReport } from '../failed-and-skipped.ts';
import { findScanned } from '../find-scanned.ts';
import { gatherInputs, type ReadyInput } from '../gather.ts';
import type { CommonRequest } from '../invocation.ts';
import { type CaptureCounts, renderCapture, renderCaptureCounts } from '../render/capture.ts';
import { skipWords } from '../render/compact-list.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson, safeText } from '../render/text.ts';
import type { CliContext, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SETTINGS_FLAGS,
} from './options.ts';

export type CaptureInvocation = CommonRequest & {
  readonly kind: 'capture';
  /** None: where the known producers keep their transcripts. */
  readonly operands: readonly string[];
  readonly filesFrom: string | null;
  readonly format: string | null;
  readonly action: 'capture' | 'plan' | 'list';
  readonly rereads: boolean;
};

export const captureCommand = defineCommand({
  operands: {
    syntax: '[transcript...]',
    description: 'files, folders or globs; without any, where the known programs keep their transcripts',
  },
  flags: [
    { flags: '-n, --dry-run', description: 'say what would be captured; nothing is stored' },
    { flags: '--list', description: 'list captured files and their versions', conflicts: ['dryRun', 'filesFrom'] },
    { flags: '--reread', description: 'read files again even if size and times are unchanged', conflicts: 'list' },
    FILES_FROM_FLAG,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact capture', 'stores what the known programs keep, as far as it is new'],
    ['compact capture --list session.jsonl', 'the versions that can be restored'],
  ],
  read: ({ options, args }): CaptureInvocation => ({
    kind: 'capture',
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    action: options.list === true ? 'list' : options.dryRun === true ? 'plan' : 'capture',
    rereads: options.reread === true,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands }) => (operands.includes('-') ? 'capture reads files, not standard input (-)' : null),
  run,
});

async function run(context: CliContext, invocation: CaptureInvocation): Promise<ExitCode> {
  const request = { ...invocation, command: 'compact capture', needs: ['archive'] as const, endsWithStdout: true };
  return inSession(context, request, async (session) =>
    invocation.action === 'list' ? list(session, invocation) : capture(session, invocation),
  );
}

async function list({ useCases, reporter, settings }: Session, invocation: CaptureInvocation): Promise<ExitCode> {
  const { renderCaptured } = await import('../render/capture.ts');
  let hasFailed = false;
  for (const file of invocation.operands.length === 0 ? [null] : invocation.operands) {
    const listed = await useCases.listCaptured({ file });
    if (!listed.ok) {
      hasFailed = true;
      reporter.error(renderFailure(listed.error));
      continue;
    }
    if (listed.value.length === 0)
      reporter.report([
        `${safeText(settings.archive.path)}: nothing has been captured in it yet. Name another archive with --archive.`,
      ]);
    for (const report of listed.value) {
      if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
      else reporter.answer(renderCaptured(report, reporter.answerTheme));
    }
  }
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}

async function capture(session: Session, invocation: CaptureInvocation): Promise<ExitCode> {
  const { useCases, terminal, reporter } = session;
  const found = await findFiles(session, invocation);
  if (typeof found === 'number') return found;
  const report = createReport(session, { invocation, isSeveral: found.isSeveral, failedCount: found.failedCount });
  const isDryRun = invocation.action === 'plan';
  const { format, rereads, operands } = invocation;
  let left = found.files.length;
  for (const [index, { path, name, isNamed, refusesLinks }] of found.files.entries()) {
    if (terminal.signal.aborted) break;
    const progress = reporter.progress.of(name, { index, count: found.files.length });
    const done = await useCases.captureFile(
      { input: { path, name, format, refusesLinks }, isDryRun, rereads },
      progress,
    );
    if (!done.ok && done.error.kind === 'interrupted') break;
    left -= 1;
    if (done.ok) report.add(done.value);
    else report.fail(done.error, { name, isNamed });
    if (!done.ok && done.error.kind === 'archive') break; // every other file would fail too
  }
  const met = new Set(found.files.map(({ path }) => path));
  const places = operands.filter((operand) => !met.has(operand));
  const looksEverywhere = operands.length === 0 && invocation.filesFrom === null;
  if (left === 0 && (looksEverywhere || places.length > 0)) {
    const missing = await useCases.recordGone({ folders: looksEverywhere ? null : places, isDryRun });
    if (missing.ok) missing.value.forEach(report.add);
    else report.fail(missing.error, { name: session.settings.archive.path, isNamed: true });
  }
  const failed = report.end(left);
  if (terminal.signal.aborted) return interruptionCode(terminal.signal);
  return failed + left > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

type Found = {
  readonly files: readonly Pick<ReadyInput, 'path' | 'name' | 'isNamed' | 'refusesLinks'>[];
  readonly isSeveral: boolean;
  readonly failedCount: number;
};

async function findFiles(
  session: Session,
  { operands, filesFrom, format }: CaptureInvocation,
): Promise<Found | ExitCode> {
  if (operands.length === 0 && filesFrom === null) {
    const scanned = await findScanned(session, { operands, format });
    return typeof scanned === 'number' ? scanned : { ...scanned, isSeveral: true };
  }
  const gathered = await gatherInputs(session, operands, { skipsCompacted: true, filesFrom });
  if (typeof gathered === 'number') return gathered;
  return { files: gathered.inputs, isSeveral: gathered.isSeveral, failedCount: gathered.failures.length };
}

type Report = {
  readonly add: (report: CaptureReport) => void;
  readonly fail: (failure: Failure, input: { readonly name: string; readonly isNamed: boolean }) => void;
  /** `left`: files that were not looked at. Returns how many failed. */
  readonly end: (left: number) => number;
};

/** One line each for files that are named; for many, what was counted. */
function createReport(
  { reporter, explain }: Session,
  {
    invocation,
    isSeveral,
    failedCount,
  }: { readonly invocation: CaptureInvocation; readonly isSeveral: boolean; readonly failedCount: number },
): Report {
  const { json, verbosity } = invocation.outputOptions;
  const schema = 'compact/capture@1' as const;
  const counts: CaptureCounts = {
    results: new Map(),
    skipped: new Map(),
    failed: failedCount,
    newBytes: 0,
    storedBytes: 0,
  };
  const renderSkipped = createSkipRenderer();
  const isShown = !isSeveral || verbosity === 'verbose';
  const count = (map: Map<string, number>, key: string): void => {
    map.set(key, (map.get(key) ?? 0) + 1);
  };
  return {
    add: (report) => {
      count(counts.results, report.result);
      counts.newBytes += report.bytes.new ?? 0;
      counts.storedBytes += report.bytes.stored ?? 0;
      if (json) reporter.answerPiece(reportJson(report));
      else if (isShown || report.result === 'gone') reporter.report([renderCapture(report, reporter.theme)]);
    },
    fail: (failure, input) => {
      if (failure.kind === 'interrupted') return;
      const skipped = skipUnreadable(failure, input);
      const { name: file } = input;
      if (skipped === null) {
        const failed = toFailedReport(file, failure);
        counts.failed += 1;
        reporter.error(isSeveral ? renderFailed(failed) : failed.error.message);
        if (json) reporter.answerPiece(reportJson({ schema, file, result: 'failed', error: failed.error }));
      } else {
        const { reason, notes } = skipped;
        count(counts.skipped, skipWords(reason));
        if (json) reporter.answerPiece(reportJson({ schema, file, result: 'skipped', reason, notes }));
        else if (isShown) reporter.report([renderSkipped({ file, notes })]);
      }
      explain(failure);
    },
    end: (left) => {
      if (isSeveral) reporter.report([renderCaptureCounts(counts, { left, theme: reporter.theme })]);
      return counts.failed;
    },
  };
}
