import { assertNever, err } from '../core/result.ts';
import type { Progress } from '../ports/runtime.ts';
import type { FileResult, FileTask, FileUseCases, WorkerNews } from './file-task.ts';
import { createWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from './worker-process.ts';
import type { Terminal } from './terminal.ts';
import { estimateBytes } from '../compose/transcript-files.ts';

export type FilePoolOptions = {
  readonly threads: number;
  readonly composition: WorkerProcessOptions['composition'];
  readonly terminal: Pick<Terminal, 'signal' | 'removeAtExit' | 'forgetAtExit' | 'killAtExit'>;
  /** Removes what a thread that died left beside a path. */
  readonly clearLeftovers: (path: string) => Promise<void>;
  /** The modules that the threads and their process run. */
  readonly entry?: URL | undefined;
  readonly processEntry?: URL | undefined;
};

export type FilePool = { readonly useCases: FileUseCases; readonly close: () => Promise<void> };

/**
 * Does the work on single files in threads of another process. The terminal's signal interrupts them all. A thread that
 * dies fails only its file. If the whole process dies, each file that was at work in it is tried once more, alone, unless
 * that could do something twice.
 */
export function createFilePool(options: FilePoolOptions): FilePool {
  const { threads: count, composition, terminal, entry = ENTRY, processEntry } = options;
  const { signal, killAtExit } = terminal;
  const threads = createWorkerProcess({ threads: count, composition, entry, processEntry, killAtExit });
  const room = createRoom(MAX_BYTES_AT_WORK);
  const interrupt = (): void => threads.interrupt(signal.reason);
  signal.addEventListener('abort', interrupt);

  const attempt = async (task: FileTask, progress: Progress, sizeBytes: number): ReturnType<WorkerProcess['run']> => {
    const leave = await room.enter(sizeBytes);
    const listener = createListener(options, progress);
    try {
      const running = threads.run(task, listener.hear);
      if (signal.aborted) interrupt();
      const outcome = await running;
      if ('diedOf' in outcome) {
        listener.forgetCreated();
        const target = targetOf(task);
        if (target !== null) await options.clearLeftovers(target);
      }
      return outcome;
    } finally {
      progress.finish();
      leave();
    }
  };
  const run = async (task: FileTask, progress: Progress): Promise<FileResult> => {
    const { path, name } = task.request.input;
    const first = await attempt(task, progress, estimateBytes(path));
    const mayBeInnocent = 'wasAlone' in first && !first.wasAlone && !signal.aborted;
    const mayTryAgain = mayBeInnocent && (isRepeatable(task) || !first.hadBegun);
    const outcome = mayTryAgain ? await attempt(task, progress, MAX_BYTES_AT_WORK + 1) : first;
    if ('result' in outcome) return outcome.result;
    if ('thrown' in outcome) throw outcome.thrown;
    if (signal.aborted && 'hadBegun' in outcome && !outcome.hadBegun) return err({ kind: 'interrupted' });
    return err({ kind: 'worker-died', file: name, reason: outcome.diedOf });
  };
  return {
    // The result is of the use case that the task names.
    useCases: {
      compactFile: ({ summarizer: _summarizer, embeddings: _embeddings, ...request }, progress) =>
        run({ name: 'compactFile', request }, progress) as ReturnType<FileUseCases['compactFile']>,
      restoreFile: (request, progress) =>
        run({ name: 'restoreFile', request }, progress) as ReturnType<FileUseCases['restoreFile']>,
      scanFile: (request, progress) =>
        run({ name: 'scanFile', request }, progress) as ReturnType<FileUseCases['scanFile']>,
      undoFile: (request, progress) =>
        run({ name: 'undoFile', request }, progress) as ReturnType<FileUseCases['undoFile']>,
      verifyFile: (request, progress) =>
        run({ name: 'verifyFile', request }, progress) as ReturnType<FileUseCases['verifyFile']>,
    },
    close: async () => {
      signal.removeEventListener('abort', interrupt);
      await threads.close();
    },
  };
}

// In the sources it is beside this file; in the bundle it is an entry beside the program's.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './file-worker.ts' : '../cli/file-worker.js', import.meta.url);

type Listener = {
  readonly hear: (news: WorkerNews) => void;
  /** Stops tracking the files of a crashed worker; clearLeftovers removes them. */
  readonly forgetCreated: () => void;
};

/** Shows the progress of a file, and has what its worker creates removed when the process ends. */
function createListener({ terminal }: FilePoolOptions, progress: Progress): Listener {
  const created = new Set<string>();
  const forget = (path: string): void => {
    created.delete(path);
    terminal.forgetAtExit(path);
  };
  return {
    hear: (news) => {
      switch (news.kind) {
        case 'progress':
          return progress.update(news.stage, news.done, news.total);
        case 'created':
          created.add(news.path);
          terminal.removeAtExit(news.path);
          return;
        case 'removed':
          return forget(news.path);
        default:
          assertNever(news);
      }
    },
    forgetCreated: () => created.forEach(forget),
  };
}

/** A restored file may hold an older compaction, which another restore would undo too. */
function isRepeatable({ name, request }: FileTask): boolean {
  return name !== 'restoreFile' || request.output.kind !== 'in-place';
}

/** The path that a task writes, beside which something may be left; null: it writes none. */
function targetOf({ name, request }: FileTask): string | null {
  if (name === 'scanFile' || name === 'verifyFile') return null;
  const { output, input } = request;
  if (output.kind === 'in-place') return input.path;
  return 'path' in output ? output.path : null;
}

/** Work on 100 MB takes about 400 MB of memory: large files wait for each other, small ones do not. */
const MAX_BYTES_AT_WORK = 64 * 1024 * 1024;

type Room = { readonly enter: (sizeBytes: number) => Promise<() => void> };

/** Lets files in, in the order in which they ask, while their sizes add up to no more than this. A larger one works alone. */
function createRoom(maxBytes: number): Room {
  const state = { bytes: 0, count: 0 };
  const waiting: { readonly sizeBytes: number; readonly enter: (leave: () => void) => void }[] = [];
  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const { sizeBytes, enter } = next;
      if (state.count > 0 && state.bytes + sizeBytes > maxBytes) return;
      waiting.shift();
      state.bytes += sizeBytes;
      state.count += 1;
      enter(() => {
        state.bytes -= sizeBytes;
        state.count -= 1;
        admit();
      });
    }
  };
  return {
    enter: (sizeBytes) =>
      new Promise((enter) => {
        waiting.push({ sizeBytes, enter });
        admit();
      }),
  };
}
