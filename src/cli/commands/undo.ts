import type { Failure } from '../../app/contract/failure.ts';
import { reportRun, reportUndone, type UndoneFile } from '../../app/contract/reports.ts';
import type { UndoFileRequest } from '../../app/restore/undo.ts';
import type { Result } from '../../core/result.ts';
import type { StoredRun } from '../../ports/archive.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { toFailedReport } from '../failed-and-skipped.ts';
import { openFilesAtWork } from '../pool/files-at-work.ts';
import { runInOrder } from '../pool/in-order.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson, safeText } from '../render/text.ts';
import { noArchive } from '../render/problems.ts';
import {
  nameOfRun,
  renderNextRun,
  renderRuns,
  renderUndoCounts,
  renderUndone,
  type UndoCounts,
} from '../render/restore.ts';
import type { CliContext, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  JOBS_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SETTINGS_FLAGS,
} from './options.ts';

export type UndoInvocation = CommonRequest & {
  readonly kind: 'undo';
  /** As it is written; null: the last one. */
  readonly run: string | null;
  readonly isList: boolean;
  readonly isDryRun: boolean;
  readonly jobs: number | null;
};

export const undoCommand = defineCommand({
  operands: { syntax: '[run]', description: 'the number of a run (see --list); by default the last one' },
  flags: [
    { flags: '--list', description: 'list the runs, the last one first' },
    { flags: '-n, --dry-run', description: 'show what would be undone; nothing is written', conflicts: 'list' },
    JOBS_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact undo -n', 'shows what undoing the last run would do'],
    ['compact undo --list', 'lists the runs; compact undo 12 undoes the one with that number'],
  ],
  read: ({ options, args }): UndoInvocation => ({
    kind: 'undo',
    run: args[0] ?? null,
    isList: options.list === true,
    isDryRun: options.dryRun === true,
    jobs: options.jobs ?? null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ run, isList }) => {
    if (run === null) return null;
    if (isList) return '--list takes no run: it lists them all';
    if (/^\d{1,15}$/.test(run)) return null;
    return `'${run}' is not the number of a run: 'compact undo --list' shows them, and 'compact restore -i FILE' restores one file`;
  },
  run,
});

async function run(context: CliContext, invocation: UndoInvocation): Promise<ExitCode> {
  return inSession(
    context,
    { ...invocation, command: 'compact undo', format: null, needs: ['archive'] },
    async (session) => {
      const { reporter, settings, useCases } = session;
      const stored = await useCases.listRuns();
      if (!stored.ok) {
        if (stored.error.kind !== 'interrupted') reporter.error(renderFailure(stored.error));
        return EXIT_CODES.failed;
      }
      const { archive, runs } = stored.value;
      if (archive === null) {
        reporter.error(noArchive(settings.archive.path));
        return invocation.isList ? EXIT_CODES.done : EXIT_CODES.failed;
      }
      if (invocation.isList) return list(session, invocation, runs);
      if (invocation.run === null) {
        const last = await useCases.findRunToUndo(runs);
        if (last !== null) return undo(session, invocation, { chosen: last, runs });
        reporter.report([`${safeText(archive)}: ${whyNothing(runs)}; nothing to undo.`]);
        return EXIT_CODES.done;
      }
      const id = Number(invocation.run);
      const named = runs.find((one) => one.id === id);
      if (named !== undefined) return undo(session, invocation, { chosen: named, runs });
      reporter.error(`${safeText(archive)}: it has no run ${id}. 'compact undo --list' shows the runs.`);
      return EXIT_CODES.failed;
    },
  );
}

function whyNothing(runs: readonly StoredRun[]): string {
  if (runs.length === 0) return 'no run is recorded in it';
  return runs.every(({ undoneAt }) => undoneAt !== null)
    ? 'every run in it was undone'
    : 'none of the files that your runs on this machine wrote still exist';
}

function list({ reporter }: Session, { outputOptions }: UndoInvocation, runs: readonly StoredRun[]): ExitCode {
  if (outputOptions.json) for (const one of runs) reporter.answerPiece(reportJson(reportRun(one)));
  else reporter.answer(renderRuns(runs, { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns }));
  if (runs.length === 0) reporter.report(['No run is recorded yet.']);
  return EXIT_CODES.done;
}

async function undo(
  session: Session,
  invocation: UndoInvocation,
  { chosen, runs }: { readonly chosen: StoredRun; readonly runs: readonly StoredRun[] },
): Promise<ExitCode> {
  const { reporter, terminal, useCases } = session;
  const { isDryRun, jobs, outputOptions } = invocation;
  const open = chosen.files.filter(({ undoneAt }) => undoneAt === null);
  if (open.length === 0) {
    reporter.report([`${nameOfRun(chosen)} was undone; nothing to do.`]);
    return EXIT_CODES.done;
  }
  const requests = open.map((file): UndoFileRequest => {
    const path = file.outputPath ?? file.sourcePath;
    const input = { path, name: path, format: null };
    return { file, input, output: isDryRun ? { kind: 'none' } : { kind: 'in-place' } };
  });
  const isQuiet = outputOptions.verbosity === 'quiet';
  const answer = (lines: readonly string[]): void => {
    if (!outputOptions.json && !isQuiet) reporter.answer(lines);
  };
  const rendering = { theme: reporter.answerTheme, isDryRun };
  answer([`${nameOfRun(chosen)}${isDryRun ? ': the plan; nothing is changed' : ''}`]);
  const counts: UndoCounts = { restored: 0, removed: 0, unchanged: 0, left: 0, notBegun: 0 };
  const state = { isOver: true };
  const add = (result: Result<UndoneFile, Failure>, { file, input }: UndoFileRequest): void => {
    if (result.ok) {
      counts[result.value.result] += 1;
      answer(renderUndone(file, result.value, rendering));
    } else if (result.error.kind !== 'interrupted') {
      counts.left += 1;
      state.isOver &&= isForGood(result.error);
      const failed = toFailedReport(input.name, result.error);
      reporter.error(failed.error.message);
      session.explain(result.error);
      if (outputOptions.json)
        reporter.answerPiece(reportJson(reportUndone(chosen, file, { result: 'left', error: failed.error })));
      return;
    }
    if (outputOptions.json && result.ok)
      reporter.answerPiece(reportJson({ ...reportUndone(chosen, file, result.value), ...(isDryRun && { isDryRun }) }));
  };
  const atWork = await openFilesAtWork(session, { files: requests.map(({ input }) => input), jobs, isOffline: true });
  counts.notBegun = await runInOrder<UndoFileRequest, Result<UndoneFile, Failure>>({
    items: requests,
    jobs: atWork.jobs,
    signal: terminal.signal,
    work: async (request, place) => {
      const result = await atWork.useCases.undoFile(request, reporter.progress.of(request.input.name, place));
      return !result.ok && result.error.kind === 'interrupted' ? null : result;
    },
    report: add,
  });
  answer(renderUndoCounts(chosen, counts, rendering));
  if (terminal.signal.aborted) return interruptionCode(terminal.signal);
  const isOver = state.isOver && counts.notBegun === 0;
  // What failed for a reason that may pass stays the last run, so that it is tried again.
  if (!isDryRun && isOver) {
    const ended = await useCases.endUndo(chosen.id);
    if (!ended.ok && ended.error.kind !== 'interrupted') {
      reporter.error(renderFailure(ended.error));
      return EXIT_CODES.failed;
    }
  }
  if (!isDryRun && !outputOptions.json && !isQuiet) {
    const others = runs.filter(({ id }) => (isOver ? id !== chosen.id : id < chosen.id));
    const next = await useCases.findRunToUndo(others);
    if (next !== null) reporter.answer([renderNextRun(next, { isOver })]);
  }
  return counts.left + counts.notBegun > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Trying again would not help. */
function isForGood(failure: Failure): boolean {
  if (failure.kind === 'cannot-undo') return failure.why === 'edited' || failure.why === 'other-output';
  return failure.kind === 'rewritten' || failure.kind === 'not-in-archive';
}
