import { renderBatchStatus } from '../../render/batch.ts';
import { reportJson } from '../../../messages/text.ts';
import { noArchive } from '../../../messages/problems.ts';
import { defineAction, EXIT_CODES, type Session } from '../../line/command.ts';
import { openRun } from './run.ts';

/** Without a usable provider, it shows what the archive knows. */
export const statusAction = defineAction({
  summary: 'what is known',
  flags: [],
  run: async (session: Session, asked) => {
    const { reporter, settings, useCases } = session;
    const opened = openRun(session, { action: 'collect' });
    const found = await useCases.batchStatus(opened.ok ? opened.value.run : null);
    if (!found.ok) return session.fail(found.error);
    if (found.value === null) reporter.report([noArchive(settings.archive.path)]);
    if (asked.outputOptions.json) {
      const none = { schema: 'compact/batch-status@1', batches: [], files: [], warnings: [] } as const;
      reporter.answerPiece(reportJson(found.value ?? none));
    } else if (found.value !== null) {
      reporter.answer(renderBatchStatus(found.value, reporter.answerWidthColumns));
      if (!opened.ok && found.value.batches.length > 0)
        reporter.report([`The provider was not asked, so this may be out of date: ${opened.error}`]);
    }
    const hasProblems = opened.ok && opened.value.report.problems.length > 0;
    const { batches = [], files = [] } = found.value ?? {};
    const hasFailed = batches.some(({ isFailed }) => isFailed) || files.some(({ state }) => state === 'failed');
    return hasProblems || hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});
