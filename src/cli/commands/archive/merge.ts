import type { Failure } from '../../../app/contract/failure.ts';
import type { ArchiveMergeReport } from '../../../app/contract/archive-reports.ts';
import type { Result } from '../../../core/result.ts';
import { renderMerge, renderUncollected } from '../../render/archive.ts';
import { defineAction, EXIT_CODES, type ExitCode, type Session } from '../../line/command.ts';

export const mergeAction = defineAction({
  summary: 'add everything of other archives',
  flags: [],
  takes: [{ syntax: '<archive...>', description: 'the other archives' }],
  refuseOperands: (operands) =>
    operands.length === 0 ? 'name the archives to merge: paths or postgres:// URLs' : null,
  run: async (session: Session, { operands }) =>
    answerMerge(session, await session.useCases.mergeArchives({ others: operands })),
});

/** For merge and import. */
export function answerMerge(session: Session, merged: Result<ArchiveMergeReport, Failure>): ExitCode {
  if (!merged.ok) return session.fail(merged.error);
  session.reporter.report(renderUncollected(merged.value));
  session.answerUnlessQuiet(merged.value, () => renderMerge(merged.value, session.reporter.answerTheme));
  return EXIT_CODES.done;
}
