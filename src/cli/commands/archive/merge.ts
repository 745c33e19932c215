import type { Failure } from '../../../app/contract/failure.ts';
import type { ArchiveMergeReport } from '../../../app/contract/archive-reports.ts';
import type { Result } from '../../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../../exit-codes.ts';
import { renderMerge, renderUncollected } from '../../render/archive.ts';
import { reportJson } from '../../render/text.ts';
import { fail, type Session } from '../../session.ts';
import { type Asked, defineAction } from '../action.ts';

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
  { outputOptions }: Asked,
  merged: Result<ArchiveMergeReport, Failure>,
): ExitCode {
  const { reporter } = session;
  if (!merged.ok) return fail(session, merged.error);
  reporter.report(renderUncollected(merged.value));
  if (outputOptions.json) reporter.answerPiece(reportJson(merged.value));
  else if (outputOptions.verbosity !== 'quiet') reporter.answer(renderMerge(merged.value, reporter.answerTheme));
  return EXIT_CODES.done;
}
