import type { Failure } from '../../../app/contract/failure.ts';
import type { ArchiveMergeReport } from '../../../app/contract/archive-reports.ts';
import type { Result } from '../../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import { renderMerge, renderUncollected } from '../../render/archive.ts';
import { reportJson } from '../../render/text.ts';
import type { Session } from '../../session.ts';
import { defineAction } from '../../line/command.ts';
import type { Line } from '../../line/line.ts';

export const mergeAction = defineAction({
  summary: 'add everything of other archives',
  flags: [],
  refuseOperands: (operands) =>
    operands.length === 0 ? 'name the archives to merge: paths or postgres:// URLs' : null,
  run: async (session: Session, asked) =>
    answerMerge(session, asked, await session.useCases.mergeArchives({ others: asked.operands })),
});

/** For merge and import. */
export function answerMerge(
  session: Session,
  { outputOptions }: Line,
  merged: Result<ArchiveMergeReport, Failure>,
): ExitCode {
  const { reporter } = session;
  if (!merged.ok) return session.fail(merged.error);
  reporter.report(renderUncollected(merged.value));
  if (outputOptions.json) reporter.answerPiece(reportJson(merged.value));
  else if (outputOptions.verbosity !== 'quiet') reporter.answer(renderMerge(merged.value, reporter.answerTheme));
  return EXIT_CODES.done;
}
