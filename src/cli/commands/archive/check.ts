import { EXIT_CODES } from '../../terminal/exit-codes.ts';
import { reportJson } from '../../render/text.ts';
import type { Session } from '../../session.ts';
import { defineAction } from '../../line/command.ts';

/** Exit code 1 if anything is wrong, so that a script can rely on it. */
export const checkAction = defineAction({
  summary: 'look for damage',
  flags: [],
  run: async (session: Session, { outputOptions }) => {
    const { reporter, useCases, settings } = session;
    reporter.progress.name(settings.archive.path);
    const checked = await useCases.checkArchive();
    if (!checked.ok) return session.fail(checked.error);
    const isSound = checked.value.result === 'sound';
    if (outputOptions.json) reporter.answerPiece(reportJson(checked.value));
    else if (!isSound || outputOptions.verbosity !== 'quiet') {
      const { renderArchiveCheck } = await import('../../render/archive.ts');
      reporter.answer(renderArchiveCheck(checked.value, reporter.answerTheme));
    }
    return isSound ? EXIT_CODES.done : EXIT_CODES.failed;
  },
});
