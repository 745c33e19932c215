import { defineAction } from '../../line/command.ts';
import { renderArchiveLog } from '../../render/archive.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import { reportMissing } from './shared.ts';

export const logAction = defineAction({
  summary: 'who pruned, erased, held, merged, imported, removed or trusted what',
  flags: [],
  run: async (session: Session) => {
    const read = await session.useCases.readLog();
    if (!read.ok) return session.fail(read.error);
    const report = read.value;
    session.answer(report, () =>
      report.archive === null ? [] : renderArchiveLog(report, session.reporter.answerTheme),
    );
    reportMissing(session, report);
    return EXIT_CODES.done;
  },
});
