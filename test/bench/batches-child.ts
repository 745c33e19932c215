import { readdirSync, writeSync } from 'node:fs';
import { collectBatches } from '../../src/app/jobs/collect.ts';
import type { BatchStep, FileState } from '../../src/app/jobs/records.ts';
import { batchStatus, submitBatches } from '../../src/app/jobs/submit.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { batchRun, type Dialect, submitted } from '../app/jobs/scene.ts';
import { createWorkbench } from '../support/workbench.ts';

export type BatchChildRequest = {
  readonly folder: string;
  readonly url: string;
  readonly dialect: Dialect;
  readonly action: 'submit' | 'collect';
  readonly nowMs: number;
  /** Requests in a batch at most. */
  readonly maxRequests: number;
  /** A step of batches, or one of writing a transcript, that the process does not get past when it is taken for the n-th time. */
  readonly stopAfter: { readonly step: BatchStep | `apply: ${Step}`; readonly count: number } | null;
};

/** How many transcripts are in which state; stopped: it waits to be killed. */
export type BatchChildAnswer = 'stopped' | { readonly [state in FileState]?: number };

/** One run of `compact batch` in a process that can be killed. Sends its answer as JSON. */
const request: BatchChildRequest = JSON.parse(process.argv[2] ?? '');
const { folder, stopAfter, nowMs } = request;
const left = { count: stopAfter?.count ?? 0 };
const pass = (step: BatchStep | `apply: ${Step}`): void => {
  if (step !== stopAfter?.step) return;
  left.count -= 1;
  if (left.count > 0) return;
  answer('stopped');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
const bench = createWorkbench({ reached: (step) => pass(`apply: ${step}`) }, folder);
const { deps: all, said } = batchRun(bench, {
  ...request,
  now: () => new Date(nowMs),
  limits: { requests: request.maxRequests },
  onStep: pass,
});
// Reports of thousands of transcripts would take memory that the program does not.
const deps = { ...all, onFile: () => undefined };
const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
if (request.action === 'submit')
  await submitBatches(
    deps,
    names.map((name) => submitted(bench, name)),
  );
else await collectBatches(deps);
const { files } = await batchStatus(bench.archive(), new Date(nowMs));
const states: { [state in FileState]?: number } = {};
for (const { state } of files) states[state] = (states[state] ?? 0) + 1;
for (const problem of said.problems) process.stderr.write(`${problem}\n`);
await bench.archive().close();
answer(states);

function answer(value: BatchChildAnswer): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}
