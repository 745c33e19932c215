import type { Failure } from '../../app/contract/failure.ts';
import type { FailedReport, RestoreReport } from '../../app/contract/reports.ts';
import type { OutputTarget, RestoreCapturedRequest, RestoreFileRequest } from '../../app/contract/requests.ts';
import { parseCount, parseUntil } from '../../config/quantity.ts';
import { err, type Result } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { createSkipRenderer, renderFailed, skipUncompacted, toFailedReport } from '../failed-and-skipped.ts';
import { openFilesAtWork } from '../pool/files-at-work.ts';
import { gatherInputs, type ReadyInput } from '../gather.ts';
import { runInOrder } from '../pool/in-order.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { makeFolderFor, type OutputChoice, planOutputs } from '../../compose/outputs.ts';
import { skipWords } from '../render/compact-list.ts';
import { reportJson } from '../render/text.ts';
import { describeOutputProblem } from '../render/problems.ts';
import { CUT_SHORT, renderFileCounts, renderRestoredLine, renderRestoreReport } from '../render/restore.ts';
import type { Place } from '../reporter.ts';
import type { CliContext, Session } from '../session.ts';
import { originalPath } from '../../compose/transcript-files.ts';
import type { UseCases } from '../../compose/use-cases.ts';
import { defineCommand, inSession } from './command.ts';
import {
  FILES_FROM_FLAG,
  findStdinConflict,
  FORMAT_FLAG,
  JOBS_FLAG,
  OUTPUT_FLAGS,
  MAX_UNPACKED_FLAG,
  readOutputOptions,
  readSettings,
  readTime,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from './options.ts';

export type RestoreInvocation = CommonRequest &
  PipedRequest & {
    readonly kind: 'restore';
    readonly operands: readonly string[];
    readonly filesFrom: string | null;
    readonly format: string | null;
    readonly output: Exclude<OutputChoice, { readonly kind: 'default' | 'preview' }>;
    readonly all: boolean;
    readonly partial: boolean;
    readonly jobs: number | null;
    /** A captured file that is asked for instead of compacted ones. */
    readonly captured: Pick<RestoreCapturedRequest, 'file' | 'version' | 'at'> | null;
  };

export const restoreCommand = defineCommand({
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: [
    {
      flags: '-o, --output <path>',
      description: 'a file; a folder for several; by default stdout',
      conflicts: 'inPlace',
    },
    { flags: '-i, --in-place', description: 'replace the compacted file, atomically' },
    { flags: '--all', description: 'back to before the first compaction, not the last' },
    { flags: '--partial', description: 'restore the rest if lines were erased, or messages changed since' },
    { flags: '--captured <file>', description: 'a file that compact capture stored, even if it is gone' },
    { flags: '--version <n>', description: 'of a captured file, this version (default: the last)', parse: parseCount },
    { flags: '--at <time>', description: 'a captured file as it was at this time', parse: parseUntil },
    JOBS_FLAG,
    FILES_FROM_FLAG,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  takesPipe: true,
  examples: [
    ['compact restore session.compact.jsonl -o original.jsonl', 'writes the original to a file'],
    ['compact restore -i sessions', 'undoes the last compaction of every file in a folder'],
    ['compact restore --captured session.jsonl -i', 'brings a deleted file back that was captured'],
  ],
  read: ({ options, args, isStdinImplied }): RestoreInvocation => ({
    kind: 'restore',
    isStdinImplied,
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    output:
      options.inPlace === true
        ? { kind: 'in-place' }
        : options.output === undefined || options.output === '-'
          ? { kind: 'stdout' }
          : { kind: 'path', path: options.output },
    all: options.all === true,
    partial: options.partial === true,
    jobs: options.jobs ?? null,
    captured:
      options.captured === undefined && options.version === undefined && options.at === undefined
        ? null
        : { file: options.captured ?? '', version: options.version ?? null, at: readTime(options.at) },
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands, filesFrom, output, captured, partial, outputOptions }) => {
    if (captured?.file === '') return '--version and --at are for captured files: name one with --captured FILE';
    if (captured !== null && partial)
      return '--partial is for compacted transcripts: a captured file is restored whole or not at all';
    if (captured !== null && operands.length + (filesFrom === null ? 0 : 1) > 0)
      return '--captured names one captured file: give no compacted files beside it';
    if (operands.length === 0 && filesFrom === null && captured === null)
      return 'no compacted file named: give files, folders, globs, or - for standard input';
    if (operands.includes('-') && output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
    if (output.kind === 'stdout' && (operands.length > 1 || filesFrom !== null))
      return describeOutputProblem({ kind: 'several-on-stdout' });
    if (outputOptions.json && output.kind === 'stdout') return SHARED_STDOUT;
    return findStdinConflict(operands, filesFrom);
  },
  run,
});

async function run(context: CliContext, invocation: RestoreInvocation): Promise<ExitCode> {
  if (invocation.captured !== null) {
    const { restoreCaptured } = await import('../restore-captured.ts');
    const { captured, output, ...common } = invocation;
    const target = output.kind === 'path' ? ({ kind: 'file', path: output.path } as const) : output;
    return restoreCaptured(context, { ...common, captured: { ...captured, output: target } });
  }
  const endsWithStdout = invocation.output.kind === 'stdout';
  const request = { ...invocation, command: 'compact restore', needs: ['archive'] as const, endsWithStdout };
  return inSession(context, request, async (session) => {
    const { terminal } = session;
    const { operands, filesFrom, isStdinImplied, output, jobs } = invocation;
    const gathered = await gatherInputs(session, operands, { skipsCompacted: false, filesFrom, isStdinImplied });
    if (typeof gathered === 'number') return gathered;
    const { inputs, isSeveral, failures } = gathered;
    const outputs = await planOutputs({
      files: inputs,
      isSeveral,
      choice: output,
      rename: originalPath,
      mayCollide: true,
    });
    if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
    const restorings = inputs.map((input, index): Restoring => ({
      input,
      output: outputs.value[index] ?? { kind: 'in-place' },
    }));
    const isIntoFolder = isSeveral || (output.kind === 'path' && output.path.endsWith('/'));
    const atWork = await openFilesAtWork(session, { files: inputs, jobs, isOffline: true });
    const report = createReport(session, { invocation, isSeveral });
    failures.forEach(report.failedInput);
    const left = await runInOrder<Restoring, Result<RestoreReport, Failure>>({
      items: restorings,
      jobs: atWork.jobs,
      signal: terminal.signal,
      work: async (restoring, place) => {
        const result = await restore(session, {
          ...restoring,
          invocation,
          isIntoFolder,
          place,
          useCases: atWork.useCases,
        });
        return !result.ok && result.error.kind === 'interrupted' ? null : result;
      },
      report: (result, { input }) => report.add(result, input),
    });
    if (terminal.stdout.isClosed()) {
      if (endsWithStdout) if (endsWithStdout) session.reporter.report([CUT_SHORT]);
      return EXIT_CODES.done;
    }
    const failed = report.end(left);
    if (terminal.signal.aborted) return interruptionCode(terminal.signal);
    return failed + left > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

type Restoring = { readonly input: ReadyInput; readonly output: OutputTarget };

async function restore(
  { reporter }: Session,
  {
    input: { path, name, refusesLinks },
    output,
    invocation: { format, all, partial },
    isIntoFolder,
    place,
    useCases,
  }: Restoring & {
    readonly invocation: RestoreInvocation;
    readonly isIntoFolder: boolean;
    readonly place: Place;
    readonly useCases: Pick<UseCases, 'restoreFile'>;
  },
): Promise<Result<RestoreReport, Failure>> {
  const made = isIntoFolder ? await makeFolderFor(output) : null;
  if (made?.ok === false) return err({ kind: 'file', failure: made.error });
  const request = { input: { path, name, format, refusesLinks }, output: toTarget(output), all, partial };
  return useCases.restoreFile(request, reporter.progress.of(name, place));
}

function toTarget(output: OutputTarget): RestoreFileRequest['output'] {
  return output.kind === 'file' || output.kind === 'in-place' ? output : { kind: 'stdout' };
}

type Report = {
  /** An operand that is no file. It was printed before. */
  readonly failedInput: (failed: FailedReport) => void;
  readonly add: (result: Result<RestoreReport, Failure>, input: ReadyInput) => void;
  /** `left`: files that an interruption left as they were. Returns how many failed. */
  readonly end: (left: number) => number;
};

function createReport(
  { reporter, explain }: Session,
  { invocation, isSeveral }: { readonly invocation: RestoreInvocation; readonly isSeveral: boolean },
): Report {
  const { json } = invocation.outputOptions;
  const schema = 'compact/restore@1' as const;
  const counts = { done: 0, failed: 0, skipped: new Map<string, number>() };
  const renderSkipped = createSkipRenderer();
  const fail: Report['failedInput'] = ({ file, error }) => {
    counts.failed += 1;
    if (json) reporter.answerPiece(reportJson({ schema, file, result: 'failed', error }));
  };
  const addFailure = (failure: Exclude<Failure, { readonly kind: 'interrupted' }>, input: ReadyInput): void => {
    const { name: file } = input;
    const skipped = skipUncompacted(failure, input);
    if (skipped === null) {
      const failed = toFailedReport(file, failure);
      reporter.error(isSeveral ? renderFailed(failed) : failed.error.message);
      fail(failed);
    } else {
      const words = skipWords(skipped.reason);
      counts.skipped.set(words, (counts.skipped.get(words) ?? 0) + 1);
      const { reason, notes } = skipped;
      if (json) reporter.answerPiece(reportJson({ schema, file, result: 'skipped', reason, notes }));
      else reporter.report([renderSkipped({ file, notes })]);
    }
    explain(failure);
  };
  return {
    failedInput: fail,
    add: (result, input) => {
      if (!result.ok) {
        if (result.error.kind !== 'interrupted') addFailure(result.error, input);
        return;
      }
      counts.done += 1;
      const render = isSeveral ? renderRestoredLine : renderRestoreReport;
      if (json) reporter.answerPiece(reportJson(result.value));
      else reporter.report(render(result.value, reporter.theme));
    },
    end: (left) => {
      const { theme } = reporter;
      if (isSeveral) reporter.report([renderFileCounts({ ...counts, left }, { verb: 'restored', theme })]);
      return counts.failed;
    },
  };
}
