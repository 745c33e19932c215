import { defineAction, type Session } from '../../line/command.ts';
import { end, openRun } from './run.ts';

export const cancelAction = defineAction({
  summary: 'stop batches in progress',
  flags: [],
  run: async (session: Session) => {
    const opened = openRun(session, { action: 'cancel' });
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const done = await session.useCases.cancelBatches(run);
    return done.ok ? end(session, { ...report, canceled: done.value }) : session.fail(done.error);
  },
});
