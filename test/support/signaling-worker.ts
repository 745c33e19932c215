import { getEnvironmentData } from 'node:worker_threads';
import type { createTaskRunner as createRunner } from '../../src/cli/file-worker.ts';
import { MAY_GO_ON, SHARED_STEPS, type SignalAt, STEPS } from './signals-of-workers.ts';

type WorkerModule = { readonly createTaskRunner: typeof createRunner };

// The bundle starts in half the time.
const WORKER: string = '../../dist/cli/file-worker.js';
const { createTaskRunner }: WorkerModule = await import(WORKER);
const { signalAt }: { readonly signalAt?: SignalAt } = JSON.parse(process.env['COMPACT_TEST'] ?? '{}');

/** Does what the program's workers do, and takes no further step from the signal until the process has heard it. */
export const { runFileTask, endFileTasks } = createTaskRunner({
  reached: () => {
    const shared = getEnvironmentData(SHARED_STEPS);
    if (!(shared instanceof Int32Array) || signalAt === undefined) throw new Error('there is no signal to send');
    const step = Atomics.add(shared, STEPS, 1) + 1;
    if (step === signalAt.nth) process.kill(process.ppid, signalAt.signal);
    if (step >= signalAt.nth) Atomics.wait(shared, MAY_GO_ON, 0);
  },
});
