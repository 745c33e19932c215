import { reportRun } from '../../../app/contract/reports.ts';
import { reportJson } from '../../../messages/text.ts';
import type { StoredRun } from '../../../ports/archive.ts';
import { defineAction, type Session, EXIT_CODES, type ExitCode } from '../../line/command.ts';
import { renderRuns } from '../../render/restore.ts';
import { reportMissing } from './shared.ts';

export const runsAction = defineAction({
  summary: 'the runs: who compacted what, and when',
  flags: [],
  run: async (session: Session) => {
    const stored = await session.useCases.listRuns();
    if (!stored.ok) return session.fail(stored.error);
    if (stored.value.archive !== null) return answerRuns(session, stored.value.runs);
    reportMissing(session, stored.value);
    return EXIT_CODES.done;
  },
});

/** Also for `undo --list`. */
export function answerRuns({ reporter, asked }: Session, runs: readonly StoredRun[]): ExitCode {
  const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
  if (asked.outputOptions.json) for (const one of runs) reporter.answerPiece(reportJson(reportRun(one)));
  else reporter.answer(renderRuns(runs, { theme, widthColumns }));
  if (runs.length === 0) reporter.report(['No run is recorded yet.']);
  return EXIT_CODES.done;
}
