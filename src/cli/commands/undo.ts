import { reportUndone } from '../../app/contract/reports.ts';
import type { StoredRun, StoredRunFile } from '../../ports/archive.ts';
import { describeCopy } from '../inputs/opencode.ts';
import { defineCommand, type Line, type OptionsOf, type Session } from '../line/command.ts';
import { JOBS_FLAG, UNPACKING_FLAGS } from '../line/flags.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { type NotDone, toFailedReport } from '../../messages/failure.ts';
import { noArchive } from '../../messages/problems.ts';
import { nameOfRun, renderNextRun, renderUndoCounts, renderUndone, type UndoCounts } from '../render/restore.ts';
import { safeText } from '../../messages/text.ts';
import { answerRuns } from './archive/read.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../terminal/exit-codes.ts';

const FLAGS = [
  { flags: '--list', description: 'list the runs, the last one first' },
  { flags: '-n, --dry-run', description: 'show what would be undone; nothing is written', conflicts: 'list' },
  JOBS_FLAG,
  ...UNPACKING_FLAGS,
] as const;

type UndoLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineCommand({
  operands: { syntax: '[run]', description: 'the number of a run (see --list); by default the last one' },
  flags: FLAGS,
  examples: [
    ['compact undo -n', 'shows what undoing the last run would do'],
    ['compact undo --list', 'lists the runs; compact undo 12 undoes the one with that number'],
  ],
  findConflict: ({ operands: [run], options }) => {
    if (run === undefined) return null;
    if (options.list === true) return '--list takes no run: it lists them all';
    if (/^\d{1,15}$/.test(run)) return null;
    return `'${run}' is not the number of a run: 'compact undo --list' shows them, and 'compact restore -i FILE' restores one file`;
  },
  session: { needs: ['archive'] },
  run: async (session, line) => {
    const { reporter, settings, useCases } = session;
    const stored = await useCases.listRuns();
    if (!stored.ok) return session.fail(stored.error);
    const { archive, runs } = stored.value;
    const isList = line.options.list === true;
    if (archive === null) {
      reporter.error(noArchive(settings.archive.path));
      return isList ? EXIT_CODES.done : EXIT_CODES.failed;
    }
    if (isList) return answerRuns(session, runs);
    const [named] = line.operands;
    if (named === undefined) {
      const last = await useCases.findRunToUndo(runs);
      if (last !== null) return undo(session, line, { chosen: last, runs });
      reporter.report([`${safeText(archive)}: ${whyNothing(runs)}; nothing to undo.`]);
      return EXIT_CODES.done;
    }
    const id = Number(named);
    const chosen = runs.find((one) => one.id === id);
    if (chosen !== undefined) return undo(session, line, { chosen, runs });
    return session.fail(`${safeText(archive)}: it has no run ${id}. 'compact undo --list' shows the runs.`);
  },
});

function whyNothing(runs: readonly StoredRun[]): string {
  if (runs.length === 0) return 'no run is recorded in it';
  return runs.every(({ undoneAt }) => undoneAt !== null)
    ? 'every run in it was undone'
    : "no file that a run of yours on this machine wrote still exists; 'compact undo --list' shows the runs of others too";
}

async function undo(
  session: Session,
  { options, outputOptions }: UndoLine,
  { chosen, runs }: { readonly chosen: StoredRun; readonly runs: readonly StoredRun[] },
): Promise<ExitCode> {
  const { reporter, useCases } = session;
  const { dryRun: isDryRun = false, jobs = null } = options;
  const open = chosen.files.filter(({ undoneAt }) => undoneAt === null);
  if (open.length === 0) {
    reporter.report([`${nameOfRun(chosen)} was undone; nothing to do.`]);
    return EXIT_CODES.done;
  }
  const items = open.map((file) => {
    const path = file.outputPath ?? file.sourcePath;
    return { path, name: path, file };
  });
  const isSilent = outputOptions.json || outputOptions.verbosity === 'quiet';
  const answer = (lines: readonly string[]): void => {
    if (!isSilent) reporter.answer(lines);
  };
  const tell = (file: StoredRunFile, outcome: object): void => {
    if (outputOptions.json) reporter.answerJson(reportUndone(chosen, file, outcome));
  };
  const rendering = { theme: reporter.answerTheme, isDryRun };
  answer([`${nameOfRun(chosen)}${isDryRun ? ': the plan; nothing is changed' : ''}`]);
  const counts: UndoCounts = { restored: 0, removed: 0, unchanged: 0, left: 0, notBegun: 0 };
  let mayHelpAgain = false;
  counts.notBegun = await workOnFiles(session, {
    items,
    jobs,
    work: ({ path, name, file }, undoing, progress) => {
      const output = { kind: isDryRun ? 'none' : 'in-place' } as const;
      return undoing.undoFile({ file, input: { path, name, format: null }, output }, progress);
    },
    report: (done, { file, name }) => {
      if (done.ok) {
        counts[done.value.result] += 1;
        answer([renderUndone(file, done.value, rendering), ...describeCopy(session, name)]);
        return tell(file, { ...done.value, ...(isDryRun && { isDryRun }) });
      }
      counts.left += 1;
      mayHelpAgain ||= !isForGood(done.error);
      const { error } = toFailedReport(name, done.error);
      reporter.error(error.message);
      if (done.error.kind !== 'bug') session.explain(done.error);
      tell(file, { result: 'left', error });
    },
  });
  answer(renderUndoCounts(chosen, counts, rendering));
  if (session.terminal.signal.aborted) return interruptionCode(session.terminal.signal);
  const isOver = !mayHelpAgain && counts.notBegun === 0;
  // What failed for a reason that may pass stays the last run, so that it is tried again.
  if (!isDryRun && isOver) {
    const ended = await useCases.endUndo(chosen.id);
    if (!ended.ok) return session.fail(ended.error);
  }
  if (!isDryRun && !isSilent) {
    const others = runs.filter(({ id }) => (isOver ? id !== chosen.id : id < chosen.id));
    const next = await useCases.findRunToUndo(others);
    if (next !== null) reporter.answer([renderNextRun(next, { isOver })]);
  }
  return counts.left + counts.notBegun > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Trying again would not help. */
function isForGood(failure: NotDone): boolean {
  if (failure.kind === 'cannot-undo') return failure.why === 'edited' || failure.why === 'other-output';
  return ['rewritten', 'not-in-archive', 'erased'].includes(failure.kind);
}
