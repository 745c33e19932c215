import { rmSync } from 'node:fs';
import { assertNever } from '../core/result.ts';
import type { Progress } from '../ports/runtime.ts';
import { createUseCases } from '../compose/create-use-cases.ts';
import type {
  Assignment,
  FileResult,
  FileTask,
  WorkerNews,
  Outcome,
  ToWorker,
  WorkerComposition,
} from './file-task.ts';
import type { Composition, UseCases } from '../compose/use-cases.ts';

/** What a worker thread runs, and how it ends. */
export const { runFileTask, endFileTasks } = createTaskRunner();

export type TaskRunner = {
  readonly runFileTask: (assignment: Assignment) => Promise<Outcome>;
  /** Closes the archive. */
  readonly endFileTasks: () => Promise<void>;
};

/** Runs one task at a time, with use cases that stay for the next one. */
export function createTaskRunner(hooks: Pick<Composition, 'reached'> = {}): TaskRunner {
  const interruption = new AbortController();
  const state: {
    send: (message: WorkerNews) => void;
    useCases: UseCases | null;
  } = { send: () => undefined, useCases: null };
  const compose = (composition: WorkerComposition): UseCases =>
    createUseCases({
      ...composition,
      ...hooks,
      signal: interruption.signal,
      progress: NO_PROGRESS,
      // Rewriting the archive would hold up all threads.
      finishesErasures: false,
      stdout: () => {
        throw new Error('several files cannot share standard output');
      },
      removeAtExit: (path) => {
        state.send({ kind: 'created', path });
        return (how) => {
          if (how !== 'keep') rmSync(path, { recursive: true, force: true });
          state.send({ kind: 'removed', path });
        };
      },
    });
  return {
    runFileTask: async ({ task, composition, port }) => {
      port.on('message', (message: ToWorker) => {
        interruption.abort(message.reason);
      });
      state.send = (message) => port.postMessage(message);
      try {
        state.useCases ??= compose(composition);
        return { result: await runTask(state.useCases, task, createProgress(state.send)) };
      } catch (error) {
        return { thrown: error };
      } finally {
        port.close();
      }
    },
    endFileTasks: async () => state.useCases?.close(),
  };
}

async function runTask(useCases: UseCases, task: FileTask, progress: Progress): Promise<FileResult> {
  switch (task.name) {
    case 'compactFile': {
      const { request } = task;
      const summarizer = await useCases.createSummarizer({ model: null, compaction: request.policy.compaction });
      if (!summarizer.ok) throw new Error(summarizer.error);
      return useCases.compactFile({ ...request, summarizer: summarizer.value.value, embeddings: null }, progress);
    }
    case 'restoreFile':
      return useCases.restoreFile(task.request, progress);
    case 'scanFile':
      return useCases.scanFile(task.request, progress);
    case 'undoFile':
      return useCases.undoFile(task.request, progress);
    case 'verifyFile':
      return useCases.verifyFile(task.request, progress);
    default:
      return assertNever(task);
  }
}

const NO_PROGRESS: Progress = { update: () => undefined, finish: () => undefined };
/** Nobody reads a progress line that changes more often. */
const PROGRESS_MS = 100;

function createProgress(send: (message: WorkerNews) => void): Progress {
  const state = { sentAtMs: 0 };
  return {
    ...NO_PROGRESS,
    update: (stage, done, total) => {
      const nowMs = Date.now();
      if (nowMs - state.sentAtMs < PROGRESS_MS) return;
      state.sentAtMs = nowMs;
      send({ kind: 'progress', stage, done, total });
    },
  };
}
