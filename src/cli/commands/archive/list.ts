import { defineAction, type Session } from '../../line/command.ts';
import { renderArchiveList } from '../../render/archive.ts';
import { answerFound } from './shared.ts';

export const listAction = defineAction({
  summary: 'its compactions',
  flags: [],
  run: async (session: Session) => answerFound(session, await session.useCases.listArchive(), renderArchiveList),
});
