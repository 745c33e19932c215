import { getHeapStatistics } from 'node:v8';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Tinypool } from 'tinypool';
import { assertNever, err } from '../core/result.ts';
import type { Progress } from '../ports/runtime.ts';
import type {
  Assignment,
  FileResult,
  FileTask,
  FileUseCases,
  FromWorker,
  Outcome,
  ToWorker,
  WorkerComposition,
} from './file-task.ts';
import type { Terminal } from './terminal.ts';
import { estimateBytes } from './transcript-files.ts';

export type FilePoolOptions = {
  readonly threads: number;
  readonly composition: WorkerComposition;
  readonly terminal: Pick<Terminal, 'signal' | 'removeAtExit' | 'forgetAtExit'>;
  /** Removes what a thread that died left beside a path. */
  readonly clearLeftovers: (path: string) => Promise<void>;
  /** The module that the threads run. */
  readonly entry?: URL | undefined;
};

export type FilePool = { readonly useCases: FileUseCases; readonly close: () => Promise<void> };

/**
 * Does the work on single files in threads. The terminal's signal interrupts them all; a thread that dies fails only its
 * file. Each has its own connection to the archive: they hold its lock for a third of their time, so one writer for all
 * would gain nothing on two cores.
 */
export function createFilePool(options: FilePoolOptions): FilePool {
  // Several threads keep every core busy without more of them for the archive.
  const minBytesForArchiveThread = options.threads > 1 ? Number.POSITIVE_INFINITY : undefined;
  const composition = { ...options.composition, minBytesForArchiveThread };
  const threads = startThreads(options);
  const room = createRoom(MAX_BYTES_AT_WORK);

  const run = async (task: FileTask, progress: Progress): Promise<FileResult> => {
    const { path, name } = task.request.input;
    const leave = await room.enter(estimateBytes(path));
    const channel = openChannel(options, progress);
    try {
      const outcome = await threads.run({ task, composition, port: channel.port }).catch(toDeath);
      await channel.closed;
      if ('result' in outcome) return outcome.result;
      if ('thrown' in outcome) throw outcome.thrown;
      channel.forgetCreated();
      const target = targetOf(task);
      if (target !== null) await options.clearLeftovers(target);
      return err({ kind: 'worker-died', file: name, reason: outcome.diedOf });
    } finally {
      channel.end();
      leave();
    }
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
    close: threads.close,
  };
}

// In the sources it is beside this file; in the bundle it is an entry beside the program's.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './file-worker.ts' : '../cli/file-worker.js', import.meta.url);

type Threads = {
  /** Rejects when the thread dies. */
  readonly run: (assignment: Assignment) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

/** V8 alone would let each thread pile up more than 100 MB of garbage; with 16 MB, a compaction takes no longer. */
const YOUNG_GENERATION_MB = 16;

function startThreads({ threads, entry = ENTRY }: FilePoolOptions): Threads {
  const pool = new Tinypool({
    minThreads: threads,
    maxThreads: threads,
    resourceLimits: {
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      // Each may fill what the program alone may: the files at work are small, or one large file is alone.
      maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / 1024 / 1024),
    },
    // Waiting with Atomics would keep an idle thread from hearing messages.
    useAtomics: false,
  });
  const state = { isClosing: false };
  const watched = new WeakSet<object>();
  /** The pool hears of a thread's errors, but not that it ends by `process.exit`: its task would wait forever. */
  const watch = (): void => {
    for (const thread of pool.threads) {
      if (watched.has(thread)) continue;
      watched.add(thread);
      thread.on('exit', () => {
        if (!state.isClosing && pool.threads.includes(thread)) thread.emit('error', new Error('it exited by itself'));
      });
    }
  };
  return {
    run: (assignment) => {
      const running: Promise<Outcome> = pool.run(assignment, {
        filename: entry,
        name: 'runFileTask',
        transferList: [assignment.port],
      });
      watch();
      return running;
    },
    close: async () => {
      state.isClosing = true;
      await pool.destroy();
    },
  };
}

function toDeath(error: unknown): { readonly diedOf: string } {
  if (!(error instanceof Error)) return { diedOf: 'nobody knows why' };
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return { diedOf: isMemory ? 'it ran out of memory' : error.message };
}

type Channel = {
  /** The thread's end. */
  readonly port: MessagePort;
  /** Resolves when the thread has closed its end, however that ended. */
  readonly closed: Promise<unknown>;
  readonly forgetCreated: () => void;
  readonly end: () => void;
};

/** What goes between a thread and this one while it works on a file. */
function openChannel({ terminal }: FilePoolOptions, progress: Progress): Channel {
  const { port1: ours, port2: port } = new MessageChannel();
  const created = new Set<string>();
  const closed = new Promise((resolve) => ours.once('close', resolve));
  const forget = (path: string): void => {
    created.delete(path);
    terminal.forgetAtExit(path);
  };
  const interrupt = (): void => {
    const { reason } = terminal.signal;
    ours.postMessage({ kind: 'interrupt', reason } satisfies ToWorker, []);
  };
  ours.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'progress':
        return progress.update(message.stage, message.done, message.total);
      case 'created':
        created.add(message.path);
        terminal.removeAtExit(message.path);
        return;
      case 'removed':
        return forget(message.path);
      default:
        assertNever(message);
    }
  });
  terminal.signal.addEventListener('abort', interrupt);
  if (terminal.signal.aborted) interrupt();
  return {
    port,
    closed,
    forgetCreated: () => created.forEach(forget),
    end: () => {
      terminal.signal.removeEventListener('abort', interrupt);
      progress.finish();
    },
  };
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
