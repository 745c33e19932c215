import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { assertNever } from '../core/result.ts';
import type { FileTask, Outcome, WorkerNews } from './file-task.ts';
import type { Death, FileThreads, FileThreadsOptions } from './file-threads.ts';

export type ToHost =
  | {
      readonly kind: 'start';
      readonly options: Omit<FileThreadsOptions, 'entry'> & { readonly entry: string };
    }
  | { readonly kind: 'task'; readonly id: number; readonly task: FileTask }
  | { readonly kind: 'interrupt'; readonly reason: unknown }
  | { readonly kind: 'close' };

export type FromHost =
  | { readonly kind: 'news'; readonly id: number; readonly news: WorkerNews }
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome | Death };

export type FileProcessOptions = FileThreadsOptions & {
  /** The module that the process runs. */
  readonly host?: URL | undefined;
};

/** The process of a task died. It may be innocent if others were at work. */
type Crash = Death & { readonly wasAlone: boolean };

export type FileProcess = Omit<FileThreads, 'run'> & {
  readonly run: (task: FileTask, hear: (news: WorkerNews) => void) => Promise<Outcome | Death | Crash>;
};

type Host = {
  readonly child: ChildProcess;
  readonly run: FileProcess['run'];
  readonly send: (message: ToHost) => void;
};

/** Threads in a process of their own, so that a native crash does not end the program. After a crash, the next task starts another one. */
export function createFileProcess(options: FileProcessOptions): FileProcess {
  const state: { host: Host | null } = { host: null };
  const hostNow = (): Host =>
    (state.host ??= startHost(options, () => {
      state.host = null;
    }));
  return {
    run: (task, hear) => hostNow().run(task, hear),
    interrupt: (reason) => state.host?.send({ kind: 'interrupt', reason }),
    close: async () => {
      const { host } = state;
      if (host === null) return;
      const ended = once(host.child, 'exit');
      host.send({ kind: 'close' });
      await ended;
    },
  };
}

// In the sources it is beside this file; in the bundle it is an entry beside the program's.
const HOST = new URL(import.meta.url.endsWith('.ts') ? './file-host.ts' : '../cli/file-host.js', import.meta.url);

type Pending = {
  readonly hear: (news: WorkerNews) => void;
  readonly settle: (outcome: Outcome | Crash | Death) => void;
};

/** The process sees no input and writes no answers. What it says while it crashes is for people. */
function startHost({ host = HOST, threads, composition, entry }: FileProcessOptions, onEnd: () => void): Host {
  const child = fork(host, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const pending = new Map<number, Pending>();
  const state = { lastId: 0 };
  const send = (message: ToHost): void => {
    // An error means that the process has ended, which is handled there.
    child.send(message, () => undefined);
  };
  const end = (diedOf: string): void => {
    onEnd();
    const wasAlone = pending.size === 1;
    for (const { settle } of pending.values()) settle({ diedOf, wasAlone });
    pending.clear();
  };
  child.on('error', (error) => end(error.message));
  child.on('exit', (code, signal) => end(`its process ended with ${signal ?? `exit code ${code}`}`));
  child.on('message', (message: FromHost) => {
    switch (message.kind) {
      case 'news':
        pending.get(message.id)?.hear(message.news);
        return;
      case 'outcome':
        pending.get(message.id)?.settle(message.outcome);
        pending.delete(message.id);
        return;
      default:
        assertNever(message);
    }
  });
  send({ kind: 'start', options: { threads, composition, entry: entry.href } });
  return {
    child,
    send,
    run: (task, hear) => {
      state.lastId += 1;
      const id = state.lastId;
      const outcome = Promise.withResolvers<Outcome | Crash | Death>();
      pending.set(id, { hear, settle: outcome.resolve });
      send({ kind: 'task', id, task });
      return outcome.promise;
    },
  };
}
