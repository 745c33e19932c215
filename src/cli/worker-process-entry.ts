import process from 'node:process';
import { assertNever } from '../core/result.ts';
import type { FromWorkerProcess, ToWorkerProcess } from './worker-process.ts';
import type { FileThreads } from './file-threads.ts';

// The process of the threads. Whatever crashes it, the program goes on in another process.

const state: { threads: Promise<FileThreads> | null } = { threads: null };

// If the parent dies, stop at once, so that nothing is written after it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal also signals this process. The program decides what an interruption means.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('message', (message: ToWorkerProcess) => void handle(message));

async function handle(message: ToWorkerProcess): Promise<void> {
  const { kind } = message;
  switch (kind) {
    case 'start':
      state.threads = start(message.options);
      return;
    case 'task': {
      const { id, task } = message;
      const outcome = await (await threads()).run(task, (news) => send({ kind: 'news', id, news }));
      return send({ kind: 'outcome', id, outcome });
    }
    case 'interrupt':
      return (await threads()).interrupt(message.reason);
    case 'close':
      await (await threads()).close();
      process.removeAllListeners('disconnect');
      return process.disconnect();
    default:
      return assertNever(kind);
  }
}

/** Imports the threads only now: until signals are handled, one of them would end this process. */
async function start(options: Extract<ToWorkerProcess, { readonly kind: 'start' }>['options']): Promise<FileThreads> {
  const { startFileThreads } = await import('./file-threads.ts');
  return startFileThreads({ ...options, entry: new URL(options.entry) });
}

async function threads(): Promise<FileThreads> {
  if (state.threads === null) throw new Error('the threads were not started');
  return state.threads;
}

function send(message: FromWorkerProcess): void {
  process.send?.(message);
}
