import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import type { Session } from '../../session.ts';
import { defineAction } from '../../line/command.ts';
import { answer } from './answer.ts';

export const listAction = defineAction({
  summary: 'its compactions',
  flags: [],
  run: async (session: Session, asked) => {
    const { reporter, useCases } = session;
    const { renderArchiveList } = await import('../../render/archive.ts');
    const listed = await useCases.listArchive();
    if (!listed.ok) return session.fail(listed.error);
    const rendering = { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns };
    answer(session, asked, listed.value, (report) =>
      report.archive === null ? [] : renderArchiveList(report, rendering),
    );
    return EXIT_CODES.done;
  },
});
