import { fail, type Session } from '../../session.ts';
import { defineAction } from '../action.ts';
import { end, openRun } from './run.ts';

export const cancelAction = defineAction({
  summary: 'stop batches in progress',
  flags: [],
  run: async (session: Session, asked) => {
    const opened = openRun(session, { ...asked, action: 'cancel' });
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const done = await session.useCases.cancelBatches(run);
    return done.ok ? end(session, asked, { ...report, canceled: done.value }) : fail(session, done.error);
  },
});
