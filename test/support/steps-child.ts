import { openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import type { main as startMain } from '../../src/cli/main.ts';
import type { PoolRules } from '../../src/cli/pool/work-on-files.ts';
import type { CreateUseCases } from '../../src/compose/use-cases.ts';
import type { Step } from '../../src/ports/runtime.ts';
import type { SignalAt } from './signaling-worker.ts';

type Program = { readonly main: typeof startMain };

/** What happens in the program right after the n-th time (from 1) that it took a step. */
type Happening = {
  readonly step: Step;
  readonly nth?: number;
  readonly what:
    | { readonly kind: 'signals'; readonly names: readonly NodeJS.Signals[] }
    /** It tells so on descriptor 3 and goes on when it gets a byte from the named pipe. */
    | { readonly kind: 'wait'; readonly pipe: string };
};

/** COMPACT_TEST, as JSON. */
export type ChildScript = {
  readonly happening?: Happening;
  /** The model sends these signals to its own process when it is asked, the first at once, each other one when it is interrupted; it never answers. */
  readonly hangingModel?: readonly [NodeJS.Signals, NodeJS.Signals];
  /** Every file is worked on in another process, and one of their steps sends a signal. */
  readonly signalAt?: SignalAt;
};

const TELL = 3;

/** Every file is worked on in a process that counts its steps. */
const SIGNALING: PoolRules = {
  minFiles: 2,
  minBytes: 0,
  minBytesAlone: Number.POSITIVE_INFINITY,
  entry: new URL('signaling-worker.ts', import.meta.url),
};

enableCompileCache();
const { happening, hangingModel, signalAt }: ChildScript = JSON.parse(process.env['COMPACT_TEST'] ?? '{}');
if (hangingModel !== undefined) replaceModel(hangingModel);
// Once the program has told its workers of the signal, they may go on.
if (signalAt !== undefined)
  process.on('SIGINT', () => setImmediate(() => writeFileSync(join(signalAt.folder, 'go-on'), '')));
// The bundle starts in half the time. In the sources a module can be replaced.
const program = hangingModel === undefined ? '../../dist/cli/main.js' : '../../src/cli/main.ts';
const { main }: Program = await import(program);
await main(
  (createUseCases) => (happening === undefined ? createUseCases : withHappening(createUseCases, happening)),
  signalAt === undefined ? undefined : SIGNALING,
);

function withHappening(createUseCases: CreateUseCases, { step, nth = 1, what }: Happening): CreateUseCases {
  let count = 0;
  const reached = (taken: Step): void => {
    if (taken !== step) return;
    count += 1;
    if (count !== nth) return;
    if (what.kind === 'signals') for (const name of what.names) send(name);
    else waitFor(what.pipe);
  };
  return (composition) => createUseCases({ ...composition, reached });
}

function send(name: NodeJS.Signals): void {
  process.kill(process.pid, name);
  // It ends the process before the next statement, or a moment later: nothing more is done in either case.
  if (name === 'SIGKILL') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function waitFor(pipe: string): void {
  writeSync(TELL, 'waiting\n');
  readSync(openSync(pipe, 'r'), new Uint8Array(1));
}

function replaceModel([first, second]: readonly [NodeJS.Signals, NodeJS.Signals]): void {
  const source = `
    export const createExtractiveProvider = () => ({
      complete: (request, signal) => {
        setInterval(() => {}, 1000);
        signal.addEventListener('abort', () => process.kill(process.pid, '${second}'));
        process.kill(process.pid, '${first}');
        return new Promise(() => {});
      },
    });`;
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith('/adapters/model/extractive.ts')
        ? { format: 'module', source, shortCircuit: true }
        : nextLoad(url, context),
  });
}
