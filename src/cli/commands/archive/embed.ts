import { createEmbeddings } from '../../runs/services.ts';
import { renderArchiveEmbed } from '../../render/archive.ts';
import { spendingRows } from '../../render/compact.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction, EXIT_CODES, type Session } from '../../line/command.ts';
import { reportMissing } from './shared.ts';

/** Exit code 1 if any vector is still missing; the next run continues from there. */
export const embedAction = defineAction({
  summary: 'create the missing vectors',
  flags: [],
  needs: ['archive', 'embedding'],
  run: async (session: Session) => {
    const { reporter, useCases, settings } = session;
    const chosen = await createEmbeddings(session);
    if (!chosen.ok) return session.refuse(chosen.error);
    if (chosen.value === null) {
      return session.refuse(
        'the configuration has no [embedding] with a provider and a model, so no vectors can be created',
      );
    }
    reporter.progress.name(settings.archive.path);
    const embedded = await useCases.embedArchive(chosen.value);
    if (!embedded.ok) return session.fail(embedded.error);
    const { archive, result, missing, error } = embedded.value;
    session.answerUnlessQuiet(embedded.value, () => (archive === null ? [] : renderArchiveEmbed(embedded.value)));
    reporter.report(spendingRows(embedded.value.usage));
    reportMissing(session, embedded.value);
    if (result === 'complete') return EXIT_CODES.done;
    const why = result === 'interrupted' ? 'it was interrupted' : safeText(error ?? '');
    reporter.error(
      `${safeText(settings.archive.path)}: ${missing} have no vector, because ${why}. Run it again to continue.`,
    );
    return EXIT_CODES.failed;
  },
});
