import type { Assignment, Outcome } from '../../src/cli/file-task.ts';
import { runFileTask as runTask } from '../../src/cli/file-worker.ts';

/** A worker that dies of the files with these names; all others it does as the program does. */
export async function runFileTask(assignment: Assignment): Promise<Outcome> {
  const { name } = assignment.task.request.input;
  if (name.endsWith('exits.jsonl')) process.exit(3);
  if (name.endsWith('throws.jsonl')) {
    setImmediate(() => {
      throw new Error('thrown behind its back');
    });
    return new Promise(() => undefined);
  }
  return runTask(assignment);
}
