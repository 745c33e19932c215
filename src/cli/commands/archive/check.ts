import { defineAction, type Session, EXIT_CODES } from '../../line/command.ts';
import { renderArchiveCheck } from '../../render/archive.ts';

/** Exit code 1 if anything is wrong, so that a script can rely on it. */
export const checkAction = defineAction({
  summary: 'look for damage',
  flags: [],
  run: async (session: Session) => {
    const { reporter, useCases, settings, answer, answerUnlessQuiet } = session;
    reporter.progress.name(settings.archive.path);
    const checked = await useCases.checkArchive();
    if (!checked.ok) return session.fail(checked.error);
    const isSound = checked.value.result === 'sound';
    const tell = isSound ? answerUnlessQuiet : answer;
    tell(checked.value, () => renderArchiveCheck(checked.value, reporter.answerTheme));
    return isSound ? EXIT_CODES.done : EXIT_CODES.failed;
  },
});
