import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { serve as startServing } from '../../src/cli/pool/worker.ts';

/** The n-th step that all workers together take, counted from 1, sends this signal to the program. They count in this folder. */
export type SignalAt = { readonly nth: number; readonly signal: 'SIGKILL' | 'SIGINT'; readonly folder: string };

const POLL_MS = 2;

// The bundle starts in half the time.
const WORKER: string = '../../dist/cli/worker.js';
const { serve }: { readonly serve: typeof startServing } = await import(WORKER);
const { signalAt }: { readonly signalAt?: SignalAt } = JSON.parse(process.env['COMPACT_TEST'] ?? '{}');
const parent = process.ppid;

/** Does what the program's workers do, and takes no further step from the signal until the program is dead, or the file `go-on` tells that it has heard it. */
serve({
  reached: () => {
    if (signalAt === undefined) throw new Error('there is no signal to send');
    const { nth, signal, folder } = signalAt;
    const steps = join(folder, 'steps');
    appendFileSync(steps, '.');
    if (statSync(steps).size < nth) return;
    if (isFirst(join(folder, 'signaled'))) process.kill(parent, signal);
    const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    while (process.ppid === parent && !existsSync(join(folder, 'go-on'))) Atomics.wait(pause, 0, 0, POLL_MS);
  },
});

function isFirst(mark: string): boolean {
  try {
    writeFileSync(mark, '', { flag: 'wx' });
    return true;
  } catch {
    return false; // another worker was faster
  }
}
