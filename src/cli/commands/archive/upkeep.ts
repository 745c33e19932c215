import { describeUnindexed } from '../../../messages/problems.ts';
import { countOf, formatBytes } from '../../../messages/quantities.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction, type Session, EXIT_CODES } from '../../line/command.ts';
import { renderArchiveCheck, renderArchiveEmbed } from '../../render/archive.ts';
import { spendingRows } from '../../render/compact.ts';
import { createEmbeddings } from '../../runs/services.ts';
import { reportMissing } from './shared.ts';

/** Exit code 1 if anything is wrong, so that a script can rely on it. */
export const checkAction = defineAction({
  summary: 'look for damage',
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

/** Exit code 1 if anything is left. */
export const indexAction = defineAction({
  summary: 'make everything searchable now',
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

/** Exit code 1 if any vector is still missing; the next run continues from there. */
export const embedAction = defineAction({
  summary: 'create the missing vectors',
  needs: ['archive', 'embedding'],
  run: async (session: Session) => {
    const { reporter, useCases, settings } = session;
    const chosen = await createEmbeddings(session);
    if (!chosen.ok) return session.refuse(chosen.error);
    const none = 'the configuration has no [embedding] with a provider and a model, so no vectors can be created';
    if (chosen.value === null) return session.refuse(none);
    reporter.progress.name(settings.archive.path);
    const embedded = await useCases.embedArchive(chosen.value);
    if (!embedded.ok) return session.fail(embedded.error);
    const { archive, result, missing, error } = embedded.value;
    session.answerUnlessQuiet(embedded.value, () => (archive === null ? [] : renderArchiveEmbed(embedded.value)));
    reporter.report(spendingRows(embedded.value.usage));
    reportMissing(session, embedded.value);
    if (result === 'complete') return EXIT_CODES.done;
    const why = result === 'interrupted' ? 'it was interrupted' : safeText(error ?? '');
    return session.fail(
      `${safeText(settings.archive.path)}: ${missing} have no vector, because ${why}. Run it again to continue.`,
    );
  },
});

export const backupAction = defineAction({
  summary: 'copy the archive while runs go on',
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
