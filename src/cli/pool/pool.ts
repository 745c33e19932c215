import { fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import type { Failure } from '../../app/contract/failure.ts';
import { estimateBytes } from '../../compose/transcript-files.ts';
import { assertNever, err, type Result } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { FileUseCases, FromWorker, ToWorker, WorkerComposition } from './worker.ts';

export type FilePoolOptions = {
  readonly composition: WorkerComposition;
  readonly terminal: Pick<Terminal, 'signal' | 'removeAtExit' | 'forgetAtExit' | 'killAtExit' | 'nodeFlags'>;
  /** Removes what a process that died left beside a path. */
  readonly clearLeftovers: (path: string) => Promise<void>;
  /** The module that the processes run. */
  readonly entry?: URL | undefined;
  /** There is one process, for large files. */
  readonly isAlone?: boolean;
};

export type FilePool = { readonly useCases: FileUseCases; readonly close: () => Promise<void> };

/**
 * Does the work on single files in other processes, each with one file at a time and with an archive that it has opened
 * itself. The terminal's signal interrupts them all. A process that dies fails its file, and the next file gets a new one.
 */
export function createFilePool({ entry = ENTRY, isAlone = false, ...options }: FilePoolOptions): FilePool {
  const { terminal, composition } = options;
  const { signal } = terminal;
  const room = createRoom(MAX_BYTES_AT_WORK);
  const running = new Set<WorkerProcess>();
  const idle = new Set<WorkerProcess>();
  const state = { isClosed: false };
  const interrupt = (worker: WorkerProcess): void => worker.send({ kind: 'interrupt', reason: signal.reason });
  const interruptAll = (): void => running.forEach(interrupt);
  signal.addEventListener('abort', interruptAll);

  const start = (): WorkerProcess => {
    const worker = createWorkerProcess(terminal, entry, isAlone ? [...FLAGS, SPARING] : FLAGS);
    running.add(worker);
    void worker.ended.then(() => running.delete(worker) && idle.delete(worker));
    const cache = getCompileCacheDir();
    // Node has a folder for each version in it.
    worker.send({ kind: 'start', composition, codeFolder: cache === undefined ? null : dirname(cache) });
    if (signal.aborted) interrupt(worker);
    return worker;
  };
  const attempt = async (task: Task, progress: Progress): Promise<Outcome> => {
    const leave = await room.enter(estimateBytes(task.request.input.path));
    try {
      if (state.isClosed) return { kind: 'ended', how: 'the run had ended' };
      const [worker = start()] = idle;
      idle.delete(worker);
      const outcome = await worker.run(task, progress);
      if (outcome.kind !== 'ended') idle.add(worker);
      const target = outcome.kind === 'ended' ? targetOf(task) : null;
      if (target !== null) await options.clearLeftovers(target);
      return outcome;
    } finally {
      progress.finish();
      leave();
    }
  };
  const run = async (task: Task, progress: Progress): Promise<Result<never, Failure>> => {
    const outcome = await attempt(task, progress);
    switch (outcome.kind) {
      case 'result':
        // It is that of the use case that the task names.
        return outcome.result as Result<never, Failure>;
      case 'thrown':
        throw outcome.error;
      case 'ended':
        // A terminal's signal may end a process that does not handle signals yet.
        return outcome.bySignal === true && signal.aborted
          ? err({ kind: 'interrupted' })
          : err({ kind: 'worker-died', file: task.request.input.name, reason: outcome.how });
      default:
        return assertNever(outcome);
    }
  };
  return {
    useCases: {
      compactFile: ({ summarizer: _summarizer, embeddings: _embeddings, ...request }, progress) =>
        run({ name: 'compactFile', request }, progress),
      restoreFile: (request, progress) => run({ name: 'restoreFile', request }, progress),
      scanFile: (request, progress) => run({ name: 'scanFile', request }, progress),
      undoFile: (request, progress) => run({ name: 'undoFile', request }, progress),
      verifyFile: (request, progress) => run({ name: 'verifyFile', request }, progress),
    },
    close: async () => {
      state.isClosed = true;
      signal.removeEventListener('abort', interruptAll);
      const close = async (worker: WorkerProcess): Promise<void> => {
        worker.send({ kind: 'close' });
        await worker.ended;
      };
      const [last, ...others] = running;
      await Promise.all(others.map(close));
      // Of processes that close the archive at the same moment, none is the last one, which removes SQLite's log.
      if (last !== undefined) await close(last);
    },
  };
}

// In the sources it is beside this file; in the bundle it is an entry beside the program's.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : '../cli/worker.js', import.meta.url);

type Task = {
  [N in keyof FileUseCases]: {
    readonly name: N;
    readonly request: Omit<Parameters<FileUseCases[N]>[0], 'summarizer' | 'embeddings'>;
  };
}[keyof FileUseCases];

/** The path that a task writes, beside which something may be left; null: it writes none. */
function targetOf({ request }: Task): string | null {
  if (!('output' in request)) return null;
  if (request.output.kind === 'in-place') return request.input.path;
  return 'path' in request.output ? request.output.path : null;
}

type Ended = {
  readonly kind: 'ended';
  readonly how: string;
  /** One that asks a process to end. */
  readonly bySignal?: boolean;
};

type Outcome = Extract<FromWorker, { readonly kind: 'result' | 'thrown' }> | Ended;

type WorkerProcess = ReturnType<typeof createWorkerProcess>;

/**
 * Shows the progress of the file that it works on, and has what it creates removed when the program ends. It has no stdin
 * and no stdout; its stderr goes to the user, who then sees the message of a native crash.
 */
function createWorkerProcess(terminal: FilePoolOptions['terminal'], entry: URL, flags: readonly string[]) {
  const child = fork(entry, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [...terminal.nodeFlags, ...flags],
  });
  const forgetChild = terminal.killAtExit(child);
  const created = new Set<string>();
  const forget = (path: string): void => {
    created.delete(path);
    terminal.forgetAtExit(path);
  };
  const state: { progress: Progress | null; settle: (outcome: Outcome) => void; dyingOf: string | null } = {
    progress: null,
    settle: () => undefined,
    dyingOf: null,
  };
  child.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'progress':
        return state.progress?.update(message.stage, message.done, message.total);
      case 'created':
        created.add(message.path);
        return void terminal.removeAtExit(message.path);
      case 'removed':
        return forget(message.path);
      case 'dying':
        state.dyingOf = message.reason;
        return;
      default:
        return state.settle(message);
    }
  });
  // An error means that the process has ended, which is handled there.
  const send = (message: ToWorker | ({ readonly kind: 'task' } & Task)): void =>
    void child.send(message, () => undefined);
  const ended = new Promise<Ended>((resolve) => {
    child.on('error', ({ message }) => resolve({ kind: 'ended', how: message }));
    // After 'exit', messages may still come; after 'close', all of them were read.
    child.on('close', (code, signal) => {
      const bySignal = signal === 'SIGINT' || signal === 'SIGTERM';
      const likely = signal === 'SIGABRT' ? ', as it does when it is out of memory' : '';
      const how = `its process ended with ${signal ?? `exit code ${code}`}${likely}`;
      resolve({ kind: 'ended', bySignal, how });
    });
  }).then((end) => {
    forgetChild();
    // From now on `clearLeftovers` is responsible for them.
    created.forEach(forget);
    return state.dyingOf === null ? end : { ...end, how: state.dyingOf };
  });
  return {
    send,
    ended,
    run: async (task: Task, progress: Progress) => {
      const settled = new Promise<Outcome>((resolve) => Object.assign(state, { settle: resolve, progress }));
      send({ kind: 'task', ...task });
      return Promise.race([settled, ended]);
    },
  };
}

/** V8 alone would let each process pile up another 50 MB of garbage; with this, a compaction takes no longer. */
const FLAGS = ['--max-semi-space-size=4'];
/** Saves another 50 MB where one large file fills the memory. With many files, collecting garbage so often takes an eighth of the time. */
const SPARING = '--heap-growing-percent=80';

/** Work on 100 MB takes about 400 MB of memory: large files wait for each other, small ones do not. */
const MAX_BYTES_AT_WORK = 64 * 1024 * 1024;

/** Lets files in, in the order in which they ask, while their sizes add up to no more than this. A larger one works alone. */
function createRoom(maxBytes: number) {
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
    enter: (sizeBytes: number) =>
      new Promise<() => void>((enter) => {
        waiting.push({ sizeBytes, enter });
        admit();
      }),
  };
}
