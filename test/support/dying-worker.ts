import { rmSync } from 'node:fs';
import type { Assignment, Outcome } from '../../src/cli/file-task.ts';
import type { TaskRunner } from '../../src/cli/file-worker.ts';

// The bundle starts in half the time.
const WORKER: string = '../../dist/cli/file-worker.js';
const { runFileTask: runTask, endFileTasks }: TaskRunner = await import(WORKER);
export { endFileTasks };

/** A worker that dies of files with certain names, and removes another before it is read. It does all others as the program does. */
export async function runFileTask(assignment: Assignment): Promise<Outcome> {
  const { name, path } = assignment.task.request.input;
  if (name.endsWith('vanishes.jsonl')) rmSync(path);
  if (name.endsWith('exits.jsonl')) process.exit(3);
  if (name.endsWith('crashes.jsonl')) process.kill(process.pid, 'SIGSEGV');
  if (name.endsWith('throws.jsonl')) {
    setImmediate(() => {
      throw new Error('thrown behind its back');
    });
    return new Promise(() => undefined);
  }
  return runTask(assignment);
}
