import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { dirname } from 'node:path';
import type { RemoveAtExit } from '../../ports/files.ts';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import type { HostEnvironment } from '../../config/find.ts';
import type { LaunchCommand } from '../../ports/clients.ts';
import { EXIT_CODES, type ExitCode, type ProgramCode } from './exit-codes.ts';
import { ENTRY_ARGS, launchCommand, programName } from '../program-name.ts';
import { systemCode } from '../../core/result.ts';
import { orElse, sleepSync, tryTo } from '../../system/files.ts';

/** stdout or stderr. Writes are synchronous; they do nothing once the reader is gone or a write has failed. */
export type Channel = {
  readonly isTerminal: boolean;
  readonly widthColumns: number;
  /** Unlimited if it is no terminal. */
  readonly heightRows: number;
  readonly write: (data: string | Uint8Array) => void;
  /** The reader is gone (`| head`). */
  readonly isClosed: () => boolean;
  /** The system's code for a failed write (a full disk behind `>`); null: none failed. */
  readonly failure: () => string | null;
};

/** Everything that the program knows about its process. */
export type Terminal = {
  readonly argv: readonly string[];
  /** The flags of Node that this process was started with. */
  readonly nodeFlags: readonly string[];
  /** Called now and then during long work. */
  readonly saveMemory: () => void;
  readonly host: HostEnvironment;
  /** How the user calls this program, ready to paste into a shell. */
  readonly program: () => string;
  /** How another program can start this one. */
  readonly launch: () => LaunchCommand;
  /** input: a pipe, a socket or a file. nothing: /dev/null, or closed. */
  readonly stdin: { readonly kind: 'terminal' | 'input' | 'nothing'; readonly open: () => Readable };
  /** All of standard input, which it waits for; '' on a terminal. Null: there is more than this, and the rest is not read. */
  readonly readStdin: (maxBytes: number) => string | null;
  readonly stdout: Channel;
  readonly stderr: Channel;
  /** Where a person is asked something. */
  readonly dialog: () => { readonly input: Readable; readonly output: Writable };
  /** Starts this program once more, in this folder. It goes on when this process ends, and appends its messages to the log. */
  readonly startDetached: (args: readonly string[], place: DetachedPlace) => void;
  /** Runs another program in the place of this one: with its terminal, its signals and its exit code. Null: it cannot be started. */
  readonly become: (launch: Launch) => Promise<ProgramCode | null>;
  /** Aborted by the first SIGINT or SIGTERM, with the exit code as its reason; the second one ends the process. */
  readonly signal: AbortSignal;
  /**
   * Lets work end: SIGTERM then aborts what this returns at once, and `signal` only after so many milliseconds or with the next SIGTERM. Whatever
   * aborts `signal` aborts this too.
   */
  readonly stopGently: (graceMs: number) => AbortSignal;
  /** Removes a path when the process ends for any reason. Returns a function that removes it now. */
  readonly removeAtExit: RemoveAtExit;
  /** Takes that back: the path is somebody else's business from now on. */
  readonly forgetAtExit: (path: string) => void;
  /** Kills a child when this process ends for any reason, before paths are removed. Returns a function that takes this back. */
  readonly killAtExit: (child: Pick<ChildProcess, 'kill'>) => () => void;
};

/** A program by its path, and where to start it. No shell reads the arguments. */
export type Launch = { readonly path: string; readonly args: readonly string[]; readonly folder: string };

type DetachedPlace = { readonly folder: string; readonly log: string };

const DEFAULT_WIDTH_COLUMNS = 80;

/** The only file that uses `process`. */
export function createTerminal(): Terminal & {
  readonly setExitCode: (code: ExitCode) => void;
  /** Stops listening for signals, so that the process can end. */
  readonly close: () => void;
} {
  const interruption = new AbortController();
  const leftovers = new Set<string>();
  const children = new Set<Pick<ChildProcess, 'kill'>>();
  const clean = (): void => {
    // A child must not go on writing files whose locks are removed here.
    for (const child of children) child.kill('SIGKILL');
    // Newest first: a lock was taken before the files it guards, so it is removed after them.
    for (const path of [...leftovers].toReversed()) remove(path);
  };
  const stopping: { controller: AbortController | null; graceMs: number } = { controller: null, graceMs: 0 };
  const interruptWith = (code: ExitCode) => (): void => {
    const { controller, graceMs } = stopping;
    if (code === EXIT_CODES.terminated && controller?.signal.aborted === false && graceMs > 0) {
      setTimeout(() => interruption.abort(code), graceMs).unref();
      return controller.abort(code);
    }
    if (!interruption.signal.aborted) return interruption.abort(code);
    // Not process.kill: the 'exit' listeners remove leftover temp files.
    process.exit(code);
  };
  const interrupt = interruptWith(EXIT_CODES.interrupted);
  const terminate = interruptWith(EXIT_CODES.terminated);
  process.on('exit', clean);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  const close = (): void => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
  return {
    argv: process.argv.slice(2),
    nodeFlags: process.execArgv,
    saveMemory: createMemorySaver(),
    host: {
      environment: process.env,
      // The shell's current folder if it was deleted; paths in it are then reported as missing.
      workingFolder: orElse(process.env['PWD'] ?? '/', () => process.cwd()),
      homeFolder: homedir(),
      userId: process.geteuid?.() ?? null,
    },
    program: () => {
      const { env: environment, execPath: nodePath, argv } = process;
      return programName({ environment, nodePath, calledAs: argv[1] ?? '', folder: process.cwd() });
    },
    launch: () => launchCommand(process.env, process.execPath),
    stdin: {
      get kind() {
        return kindOfStdin();
      },
      open: () => process.stdin,
    },
    readStdin: (maxBytes) => (kindOfStdin() === 'input' ? readStart(maxBytes) : ''),
    startDetached,
    stdout: createChannel(1, () => process.stdout),
    stderr: createChannel(2, () => process.stderr),
    dialog: () => ({ input: process.stdin, output: process.stderr }),
    become: async (launch) => {
      const ended = become(launch);
      close();
      return ended;
    },
    signal: interruption.signal,
    stopGently: (graceMs) => {
      const controller = new AbortController();
      Object.assign(stopping, { controller, graceMs });
      return AbortSignal.any([controller.signal, interruption.signal]);
    },
    removeAtExit: (path) => {
      leftovers.add(path);
      return (how) => {
        if (how !== 'keep') remove(path);
        leftovers.delete(path);
      };
    },
    forgetAtExit: (path) => {
      leftovers.delete(path);
    },
    killAtExit: (child) => {
      children.add(child);
      return () => void children.delete(child);
    },
    setExitCode: (code) => {
      process.exitCode = code;
    },
    close,
  };
}

// `isatty` loads Node's network modules, which takes as long as a fifth of the program's start. A terminal is always a character device,
// and never the null device.
function isTerminal(descriptor: number): boolean {
  // False if it is closed.
  return orElse(false, () => {
    const stats = fstatSync(descriptor);
    if (!stats.isCharacterDevice()) return false;
    const isNull = stats.rdev === statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
    return !isNull && isatty(descriptor);
  });
}

function kindOfStdin(): Terminal['stdin']['kind'] {
  if (isTerminal(0)) return 'terminal';
  // Closed.
  return orElse('nothing', () => {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isSocket() || stat.isFile() ? 'input' : 'nothing';
  });
}

/** A path that cannot be removed is left for the next run: others must still be removed, and the cause is reported elsewhere. */
function remove(path: string): void {
  tryTo(() => rmSync(path, { recursive: true, force: true }));
}

/**
 * Writes with the system call: `process.stdout` keeps unread output to a pipe in memory, and loses it when the
 * process ends.
 */
function createChannel(
  descriptor: 1 | 2,
  stream: () => { readonly columns?: number; readonly rows?: number },
): Channel {
  const isOnTerminal = isTerminal(descriptor);
  const state: { isClosed: boolean; failure: string | null } = { isClosed: false, failure: null };
  return {
    isTerminal: isOnTerminal,
    get widthColumns() {
      const columns = isOnTerminal ? stream().columns : Number(process.env['COLUMNS']);
      return columns !== undefined && columns > 0 ? columns : DEFAULT_WIDTH_COLUMNS;
    },
    get heightRows() {
      return (isOnTerminal ? stream().rows : undefined) ?? Number.POSITIVE_INFINITY;
    },
    write: (data) => {
      if (state.isClosed) return;
      const code = writeAll(descriptor, typeof data === 'string' ? Buffer.from(data) : data);
      state.isClosed = code !== null;
      state.failure = code === 'EPIPE' ? null : code;
    },
    isClosed: () => state.isClosed,
    failure: () => state.failure,
  };
}

/** A terminal sends these to every program in front, so that the other one gets them anyway, and decides what they mean. */
const OF_TERMINAL = ['SIGINT', 'SIGQUIT'] as const;
/** These come to this process alone. */
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;

async function become({ path, args, folder }: Launch): Promise<ProgramCode | null> {
  // Before the program runs: a signal without a listener ends this process and not the other.
  for (const signal of OF_TERMINAL) process.on(signal, () => undefined);
  for (const signal of PASSED_ON) process.on(signal, () => void child.kill(signal));
  const child = spawn(path, args, { cwd: folder, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.on('error', () => resolve(null));
    // As in a shell: 128 plus the number of the signal that ended it.
    child.on('exit', (code, signal) =>
      resolve((code ?? 128 + (signal === null ? 0 : constants.signals[signal])) as ProgramCode),
    );
  });
}

/** A longer log is begun anew. */
const MAX_LOG_BYTES = 1024 * 1024;

function startDetached(args: readonly string[], { folder, log }: DetachedPlace): void {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const isLong = (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES;
  const descriptor = openSync(log, isLong ? 'w' : 'a', 0o600);
  const child = spawn(process.execPath, [...ENTRY_ARGS, ...args], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', descriptor],
    windowsHide: true,
  });
  // Without a process there is nobody to tell: the client must not fail.
  child.on('error', () => undefined);
  child.unref();
  closeSync(descriptor);
}

/** Of standard input. Null: there is more. */
function readStart(maxBytes: number): string | null {
  const bytes = Buffer.allocUnsafe(maxBytes + 1);
  for (let length = 0; length < bytes.length;) {
    const count = retried(() => readSync(0, bytes, length, bytes.length - length, null));
    if (count === 0) return bytes.toString('utf8', 0, length);
    length += count;
  }
  return null;
}

const RETRY_MS = 2;

/** Waits for a pipe that somebody made non-blocking. */
function retried<T>(work: () => T): T {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') throw error;
      sleepSync(RETRY_MS);
    }
  }
}

/** Null, or the code of the error that ended it. */
function writeAll(descriptor: number, bytes: Uint8Array): string | null {
  try {
    for (let written = 0; written < bytes.length;) written += retried(() => writeSync(descriptor, bytes, written));
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code;
  }
}

const LARGE_HEAP_BYTES = 24 * 1024 * 1024;
/** Much like those with which other processes start (`pool.ts`): V8 alone would pile up another 100 MB of garbage of a file of that size. */
const SPARING_FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=80'];

/** Lets V8 collect garbage sooner once there is much; before, that would take longer than it is worth. */
function createMemorySaver(): () => void {
  let isSparing = false;
  return () => {
    if (isSparing || process.memoryUsage().heapTotal < LARGE_HEAP_BYTES) return;
    isSparing = true;
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    for (const flag of SPARING_FLAGS) setFlagsFromString(flag);
  };
}
