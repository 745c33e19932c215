import { defineAction } from '../../line/command.ts';
import { renderArchiveList } from '../../render/archive.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import { reportMissing } from './shared.ts';

export const listAction = defineAction({
  summary: 'its compactions',
  flags: [],
  run: async (session: Session) => {
    const { answerTheme: theme, answerWidthColumns: widthColumns } = session.reporter;
    const listed = await session.useCases.listArchive();
    if (!listed.ok) return session.fail(listed.error);
    const report = listed.value;
    session.answer(report, () => (report.archive === null ? [] : renderArchiveList(report, { theme, widthColumns })));
    reportMissing(session, report);
    return EXIT_CODES.done;
  },
});
