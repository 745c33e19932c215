import { defineAction, type Session, EXIT_CODES } from '../../line/command.ts';
import { describeUnindexed } from '../../../messages/problems.ts';
import { countOf, formatBytes } from '../../../messages/quantities.ts';
import { safeText } from '../../../messages/text.ts';
import { reportMissing } from './shared.ts';

/** Exit code 1 if anything is left. */
export const indexAction = defineAction({
  summary: 'make everything searchable now',
  flags: [],
  run: async (session: Session) => {
    const { reporter, useCases, settings, terminal } = session;
    reporter.progress.name(settings.archive.path);
    const done = await useCases.indexArchive({ maxBytes: null });
    if (!done.ok) return session.fail(done.error);
    const { archive, indexed, left } = done.value;
    const rest = left.messages === 0 ? '' : `; ${countOf(left.messages, 'message')} left`;
    const what = `${countOf(indexed.messages, 'message')} indexed, ${formatBytes(indexed.bytes)}${rest}`;
    session.answerUnlessQuiet(done.value, () => (archive === null ? [] : [`${safeText(archive)}: ${what}`]));
    reportMissing(session, done.value);
    if (left.messages > 0 && !terminal.signal.aborted)
      reporter.report([describeUnindexed({ ...left, why: 'unreadable' })]);
    return left.messages === 0 ? EXIT_CODES.done : EXIT_CODES.failed;
  },
});
