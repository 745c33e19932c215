import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import type { Session } from '../../session.ts';
import { defineAction } from '../../line/command.ts';
import { answer } from './answer.ts';

export const statsAction = defineAction({
  summary: 'counts and sizes',
  flags: [],
  run: async (session: Session, asked) => {
    const { reporter, useCases } = session;
    const { renderArchiveStats } = await import('../../render/archive.ts');
    const measured = await useCases.measureArchive();
    if (!measured.ok) return session.fail(measured.error);
    const rendering = { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns };
    answer(session, asked, measured.value, (report) =>
      report.archive === null ? [] : renderArchiveStats(report, rendering),
    );
    return EXIT_CODES.done;
  },
});
