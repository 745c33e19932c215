import type { Failure } from '../../app/contract/failure.ts';
import type { VerifyReport } from '../../app/contract/reports.ts';
import type { Result } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { createSkipRenderer, skipUncompacted } from '../failed-and-skipped.ts';
import { gatherInputs, type ReadyInput } from '../gather.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { runInOrder } from '../pool/in-order.ts';
import { openFilesAtWork } from '../pool/files-at-work.ts';
import { reportJson, safeText } from '../render/text.ts';
import { renderVerifyReport } from '../render/restore.ts';
import type { CliContext, Session } from '../session.ts';
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
  SETTINGS_FLAGS,
} from './options.ts';

export type VerifyInvocation = CommonRequest &
  PipedRequest & {
    readonly kind: 'verify';
    readonly operands: readonly string[];
    readonly filesFrom: string | null;
    readonly format: string | null;
    readonly jobs: number | null;
  };

export const verifyCommand = defineCommand({
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: [JOBS_FLAG, FILES_FROM_FLAG, FORMAT_FLAG, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS, ...OUTPUT_FLAGS],
  takesPipe: true,
  examples: [
    ['compact verify session.compact.jsonl', 'compares the file with the archive'],
    ['compact verify sessions', 'checks every compacted file in a folder'],
  ],
  read: ({ options, args, isStdinImplied }): VerifyInvocation => ({
    kind: 'verify',
    isStdinImplied,
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    jobs: options.jobs ?? null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands, filesFrom }) =>
    operands.length === 0 && filesFrom === null
      ? 'no compacted file named: give files, folders, globs, or - for standard input'
      : findStdinConflict(operands, filesFrom),
  run,
});

async function run(context: CliContext, invocation: VerifyInvocation): Promise<ExitCode> {
  return inSession(context, { ...invocation, command: 'compact verify', needs: ['archive'] }, async (session) => {
    // A file that was compacted in place has its old name, so every transcript in a folder is checked.
    const gathered = await gatherInputs(session, invocation.operands, {
      skipsCompacted: false,
      filesFrom: invocation.filesFrom,
      isStdinImplied: invocation.isStdinImplied,
    });
    if (typeof gathered === 'number') return gathered;
    const { inputs, failures } = gathered;
    const atWork = await openFilesAtWork(session, { files: inputs, jobs: invocation.jobs, isOffline: true });
    const counts = { failed: failures.length };
    await runInOrder<ReadyInput, Result<VerifyReport, Failure>>({
      items: inputs,
      jobs: atWork.jobs,
      signal: session.terminal.signal,
      work: async ({ path, name, refusesLinks }, place) => {
        const request = { input: { path, name, format: invocation.format, refusesLinks } };
        const result = await atWork.useCases.verifyFile(request, session.reporter.progress.of(name, place));
        return !result.ok && result.error.kind === 'interrupted' ? null : result;
      },
      report: (result, input) => {
        const isWhole = result.ok
          ? printReport(session, { report: result.value, invocation })
          : reportFailure(session, { failure: result.error, input });
        if (!isWhole) counts.failed += 1;
      },
    });
    return counts.failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

/** Returns whether the file passed. */
function printReport(
  { reporter }: Session,
  { report, invocation }: { readonly report: VerifyReport; readonly invocation: VerifyInvocation },
): boolean {
  const isWhole = report.result === 'verified';
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
  else if (!isWhole || invocation.outputOptions.verbosity !== 'quiet') {
    reporter.answer(renderVerifyReport(report, reporter.answerTheme));
  }
  return isWhole;
}

/** Returns whether the run may still succeed: a folder may also hold files that were never compacted. */
function reportFailure(
  { reporter, explain }: Session,
  { failure, input }: { readonly failure: Failure; readonly input: ReadyInput },
): boolean {
  if (failure.kind === 'not-compacted' && !input.isNamed) {
    reporter.report([`${safeText(input.name)}: not compacted, so there is nothing to verify.`]);
    return true;
  }
  const skipped = skipUncompacted(failure, input);
  if (skipped === null) reporter.error(renderFailure(failure));
  else reporter.report([createSkipRenderer()({ file: input.name, notes: skipped.notes })]);
  explain(failure);
  return skipped !== null;
}
