import { defineAction, type Session } from '../../line/command.ts';
import { renderArchiveLog } from '../../render/archive.ts';
import { answerFound } from './shared.ts';

export const logAction = defineAction({
  summary: 'who pruned, erased, held, merged, imported, removed or trusted what',
  flags: [],
  run: async (session: Session) => answerFound(session, await session.useCases.readLog(), renderArchiveLog),
});
