import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { EXIT_CODES } from '../../src/cli/terminal/exit-codes.ts';
import { run } from '../../src/cli/run.ts';
import type { Composition } from '../../src/compose/use-cases.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { createFakeTerminal, type FakeTerminal, type TerminalOptions } from '../cli/fakes.ts';
import { CODE_CACHE, folderWith } from './folders.ts';
import type { ChildScript } from './steps-child.ts';

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The values of lines of JSON. */
export const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

export type ProcessOptions = {
  readonly script?: ChildScript;
  /** A command that runs the command after it: `setpriv`, `nsenter`. */
  readonly wrapper?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdio?: StdioOptions;
  /** The working folder. */
  readonly cwd?: string;
};

const CHILD = join(import.meta.dirname, 'steps-child.ts');
const SERVER = join(import.meta.dirname, 'run-server.ts');

/** Starts the program in a process of its own. It needs `dist`: `npm test` builds first. Its home is a folder that does not exist. */
export function startProcess(args: readonly string[], options: ProcessOptions = {}): ChildProcess {
  const { script = {}, wrapper = [], environment = {}, stdio = ['ignore', 'pipe', 'pipe'], cwd } = options;
  const command = [...wrapper, process.execPath, CHILD, ...args];
  return spawn(command[0] ?? '', command.slice(1), {
    stdio,
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nowhere',
      CI: '1',
      ...CODE_CACHE,
      COMPACT_TEST: JSON.stringify(script),
      ...environment,
    },
  });
}

/** How a process ended, and what it said. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const [code, signal] = await once(child, 'close');
  const [stdout, stderr] = await texts;
  return { code, signal, stdout, stderr };
}

export async function runProcess(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return endOf(startProcess(args, options));
}

/** The same program in this process, which is ten times as fast to start. */
export async function runHere(args: readonly string[], stdin = '', options: TerminalOptions = {}): Promise<Ended> {
  const terminal = createFakeTerminal(args, { stdin, ...options });
  const loadUseCases = async () => (await import('../../src/compose/use-cases.ts')).createUseCases;
  const code = await run({ terminal, loadUseCases });
  return { code, signal: null, stdout: terminal.out(), stderr: terminal.errors() };
}

/** The same, for a run that is to end well. */
export async function done(args: readonly string[]): Promise<Ended> {
  const ended = await runHere(args);
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

/** The same in a folder that is its home too. The whole process moves there: only for files with a process of their own. */
export async function runIn(folder: string, args: readonly string[], options: TerminalOptions = {}): Promise<Ended> {
  process.chdir(folder);
  const environment = { HOME: folder, PATH: process.env['PATH'] };
  return runHere(args, '', { workingFolder: folder, homeFolder: folder, environment, ...options });
}

/** The same, but a bug ends the run right after the n-th time (from 1) that it took a step. */
export async function failHere(args: readonly string[], step: Step, nth: number): Promise<Ended> {
  const bug = new Error(`a bug after '${step}'`);
  const happening = (): never => {
    throw bug;
  };
  return playHere(args, { step, nth, happening, bug });
}

/** The same, but somebody interrupts the run right after it took a step. */
export async function interruptHere(args: readonly string[], step: Step): Promise<Ended> {
  return playHere(args, { step, nth: 1, happening: (terminal) => terminal.interrupt(), bug: null });
}

type Moment = {
  readonly step: Step;
  readonly nth: number;
  readonly happening: (terminal: FakeTerminal) => void;
  /** What it throws. */
  readonly bug: Error | null;
};

async function playHere(args: readonly string[], { step, nth, happening, bug }: Moment): Promise<Ended> {
  const terminal = createFakeTerminal(args, { stdin: '' });
  let count = 0;
  const reached = (taken: Step): void => {
    if (taken === step && (count += 1) === nth) happening(terminal);
  };
  const { createUseCases } = await import('../../src/compose/use-cases.ts');
  const loadUseCases = async () => (composition: Composition) => createUseCases({ ...composition, reached });
  const code = await run({ terminal, loadUseCases }).catch((error: unknown) => {
    assert.equal(error, bug);
    return EXIT_CODES.failed;
  });
  assert.ok(count >= nth && (bug === null || code === EXIT_CODES.failed), `the step is taken: ${terminal.errors()}`);
  return { code, signal: null, stdout: terminal.out(), stderr: terminal.errors() };
}

/** Runs commands in one process behind a wrapper, which starts only once; it ends with the test. */
export async function startServer(
  context: TestContext,
  wrapper: readonly string[],
): Promise<(args: readonly string[]) => Promise<Ended>> {
  const [command, ...rest] = [...wrapper, process.execPath, SERVER];
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  context.after(async () => {
    child.disconnect();
    await ended;
  });
  return async (args) => {
    const answer = once(child, 'message');
    child.send(args);
    const [result] = await Promise.race([answer, ended]);
    assert.equal(typeof result, 'object', 'the process that runs the commands has ended');
    return result;
  };
}

async function textOf(stream: Readable | null): Promise<string> {
  if (stream === null) return '';
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  await once(stream, 'close');
  return Buffer.concat(pieces).toString();
}

/** The program as it waits right after a step. */
export type Waiting = { readonly child: ChildProcess; readonly goOn: () => Promise<Ended> };

/** Resolves when it has come to the step. */
export async function startWaiting(
  context: TestContext,
  step: Step,
  { args, wrapper = [] }: { readonly args: readonly string[] } & Pick<ProcessOptions, 'wrapper'>,
): Promise<Waiting> {
  const pipe = join(folderWith(context, {}), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  // For reading too, or it would wait for its reader.
  const end = openSync(pipe, 'r+');
  context.after(() => closeSync(end));
  const script = { happening: { step, what: { kind: 'wait', pipe } } } as const;
  const child = startProcess(args, { wrapper, script, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  context.after(() => child.kill('SIGKILL'));
  const ended = endOf(child);
  const told = child.stdio[3];
  assert.ok(told);
  const first = await Promise.race([once(told, 'data'), ended]);
  assert.ok(Array.isArray(first), `it did not come to '${step}': ${JSON.stringify(first)}`);
  return {
    child,
    goOn: () => {
      writeSync(end, 'x');
      return ended;
    },
  };
}
