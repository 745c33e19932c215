import { defineAction, type Session } from '../../line/command.ts';
import { end, openRun } from './run.ts';

export const collectAction = defineAction({
  summary: 'fetch answers and compact what has them all',
  flags: [],
  run: async (session: Session) => {
    const opened = openRun(session, { action: 'collect' });
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const done = await session.useCases.collectBatches(run);
    if (!done.ok) return session.fail(done.error);
    const { batches, requests, unclear, running, answers, usage, unknown } = done.value;
    for (const id of unknown) run.onProblem(`ignored an answer with the unknown id ${id}`);
    return end(session, { ...report, sent: { batches, requests }, unclear, running, answers, usage, unknown });
  },
});
