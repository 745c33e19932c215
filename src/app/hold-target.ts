import { err } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { FileLock, FileStore } from '../ports/files.ts';
import type { Failure } from './failure.ts';

/** Works while no other run may write the target; null: standard output, or nothing, which need not be held. */
export async function holdTarget<T>(
  deps: { readonly files: FileStore },
  path: string | null,
  work: (lock: FileLock | null) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  return path === null ? work(null) : holdFile(deps, path, work);
}

export async function holdFile<T>(
  { files }: { readonly files: FileStore },
  path: string,
  work: (lock: FileLock) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const locked = await files.lock(path);
  if (!locked.ok) return err({ kind: 'file', failure: locked.error });
  try {
    return await work(locked.value);
  } finally {
    locked.value.release();
  }
}
