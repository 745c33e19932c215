import type { DeadThreadError } from '../../../ports/archive.ts';

/** What all calls reject with when the archive's thread ends. */
export function deadThread(reason: string): DeadThreadError {
  const diedOf = `archive: ${reason}`;
  return Object.assign(new Error(diedOf), { diedOf });
}

export function isDeadThread(error: unknown): boolean {
  return error instanceof Error && 'diedOf' in error;
}
