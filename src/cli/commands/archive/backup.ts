import { formatBytes } from '../../../messages/quantities.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction, type Session, EXIT_CODES } from '../../line/command.ts';
import { reportMissing } from './shared.ts';

export const backupAction = defineAction({
  summary: 'copy the archive while runs go on',
  flags: [],
  takes: [{ syntax: '<file>', description: 'the new file' }],
  refuseOperands: (operands) => (operands.length === 1 ? null : 'name one new file for the backup'),
  run: async (session: Session, { operands: [path = ''] }) => {
    session.reporter.progress.name(session.settings.archive.path);
    const done = await session.useCases.backUpArchive({ path });
    if (!done.ok) return session.fail(done.error);
    const { backup, bytes } = done.value;
    session.answerUnlessQuiet(done.value, () =>
      backup === null ? [] : [`${safeText(backup)}: a copy of the archive, checked, ${formatBytes(bytes)}`],
    );
    reportMissing(session, done.value);
    return backup === null ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});
