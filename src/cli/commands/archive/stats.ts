import { defineAction } from '../../line/command.ts';
import { renderArchiveStats } from '../../render/archive.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import { reportMissing } from './shared.ts';

export const statsAction = defineAction({
  summary: 'counts and sizes',
  flags: [],
  run: async (session: Session) => {
    const { answerTheme: theme, answerWidthColumns: widthColumns } = session.reporter;
    const measured = await session.useCases.measureArchive();
    if (!measured.ok) return session.fail(measured.error);
    const report = measured.value;
    session.answer(report, () => (report.archive === null ? [] : renderArchiveStats(report, { theme, widthColumns })));
    reportMissing(session, report);
    return EXIT_CODES.done;
  },
});
