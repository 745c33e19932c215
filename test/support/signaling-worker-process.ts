import { setEnvironmentData } from 'node:worker_threads';
import type { ToWorkerProcess } from '../../src/cli/worker-process.ts';
import { MAY_GO_ON, SHARED_STEPS } from './signals-of-workers.ts';

// The process of the threads, whose workers count their steps together. After a signal that does not kill, they go on once it was handled.

const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
setEnvironmentData(SHARED_STEPS, shared);
// The bundle starts in half the time.
const PROCESS_ENTRY: string = '../../dist/cli/worker-process-entry.js';
await import(PROCESS_ENTRY);
process.on('message', ({ kind }: ToWorkerProcess) => {
  if (kind !== 'interrupt') return;
  Atomics.store(shared, MAY_GO_ON, 1);
  Atomics.notify(shared, MAY_GO_ON);
});
