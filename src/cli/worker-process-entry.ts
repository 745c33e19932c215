import process from 'node:process';
import { assertNever } from '../core/result.ts';
import type { FromWorkerProcess, ToWorkerProcess } from './worker-process.ts';
import { type FileThreads, startFileThreads } from './file-threads.ts';

// The process of the threads. Whatever crashes it, the program goes on in another process.

const state: { threads: FileThreads | null } = { threads: null };

process.on('message', (message: ToWorkerProcess) => void handle(message));
// If the parent dies, stop at once, so that nothing is written after it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal also signals this process. The program decides what an interruption means.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

async function handle(message: ToWorkerProcess): Promise<void> {
  const { kind } = message;
  switch (kind) {
    case 'start':
      state.threads = startFileThreads({ ...message.options, entry: new URL(message.options.entry) });
      return;
    case 'task': {
      const { id, task } = message;
      const outcome = await threads().run(task, (news) => send({ kind: 'news', id, news }));
      return send({ kind: 'outcome', id, outcome });
    }
    case 'interrupt':
      return threads().interrupt(message.reason);
    case 'close':
      await threads().close();
      process.removeAllListeners('disconnect');
      return process.disconnect();
    default:
      return assertNever(kind);
  }
}

function threads(): FileThreads {
  if (state.threads === null) throw new Error('the threads were not started');
  return state.threads;
}

function send(message: FromWorkerProcess): void {
  process.send?.(message);
}
