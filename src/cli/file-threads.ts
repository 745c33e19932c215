import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Tinypool } from 'tinypool';
import type { Assignment, FileTask, Outcome, ToWorker, WorkerComposition, WorkerNews } from './file-task.ts';

export type FileThreadsOptions = {
  readonly threads: number;
  readonly composition: Pick<WorkerComposition, 'archivePath' | 'maxUnpackedBytes' | 'run'>;
  /** The module that the threads run. */
  readonly entry: URL;
};

/** Why a thread died. */
export type Death = { readonly diedOf: string };

export type FileThreads = {
  readonly run: (task: FileTask, hear: (news: WorkerNews) => void) => Promise<Outcome | Death>;
  /** Interrupts what is at work now. */
  readonly interrupt: (reason: unknown) => void;
  readonly close: () => Promise<void>;
};

/** V8 alone would let each thread pile up more than 100 MB of garbage; with 16 MB, a compaction takes no longer. */
const YOUNG_GENERATION_MB = 16;
/** How much the old generation may grow before V8 collects it. The default is up to 300 %. */
const HEAP_GROWING_PERCENT = 80;

/**
 * Threads that work on one file each. They wait for each other only to insert what they have compressed. A thread that dies
 * fails only its file.
 */
export function startFileThreads({ threads, composition, entry }: FileThreadsOptions): FileThreads {
  const isSeveral = threads > 1;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const workerComposition = {
    ...composition,
    // Several threads keep every core busy without another one for each archive.
    ...(isSeveral && { minBytesForArchiveThread: Number.POSITIVE_INFINITY }),
  };
  const pool = new Tinypool({
    filename: entry.href,
    name: 'runFileTask',
    teardown: 'endFileTasks',
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
        if (!state.isClosing && pool.threads.includes(thread))
          thread.emit('error', new Error('its thread exited unexpectedly'));
      });
    }
  };
  const atWork = new Set<MessagePort>();
  const send = (port: MessagePort, message: ToWorker, transfer: readonly MessagePort[] = []): void =>
    port.postMessage(message, transfer);
  return {
    run: async (task, hear) => {
      const { port1: ours, port2: port } = new MessageChannel();
      const closed = new Promise((resolve) => ours.once('close', resolve));
      ours.on('message', hear);
      atWork.add(ours);
      const assignment: Assignment = { task, composition: workerComposition, port };
      const running: Promise<Outcome> = pool.run(assignment, { transferList: [port] });
      watch();
      const outcome = await running.catch(toDeath);
      // The port closes after its last message.
      await closed;
      atWork.delete(ours);
      return outcome;
    },
    interrupt: (reason) => {
      for (const port of atWork) send(port, { kind: 'interrupt', reason });
    },
    close: async () => {
      state.isClosing = true;
      await pool.destroy();
    },
  };
}

function toDeath(error: unknown): Death {
  if (!(error instanceof Error)) return { diedOf: 'for an unknown reason' };
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return { diedOf: isMemory ? 'it ran out of memory' : error.message };
}
