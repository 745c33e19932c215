import { err, type Result } from '../../core/result.ts';
import type { FileFailure, FileLock, FileStore } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Failure } from '../contract/failure.ts';

type HoldDeps = { readonly files: FileStore; readonly runtime: Pick<Runtime, 'sleep'> };

/** Works while no other run may write the target; null: standard output, or nothing, which need not be held. */
export async function holdTarget<T>(
  deps: HoldDeps,
  path: string | null,
  work: (lock: FileLock | null) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  return path === null ? work(null) : holdFile(deps, path, work);
}

export async function holdFile<T>(
  deps: HoldDeps,
  path: string,
  work: (lock: FileLock) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const locked = await lockSoon(deps, path);
  if (!locked.ok) return err({ kind: 'file', failure: locked.error });
  try {
    return await work(locked.value);
  } finally {
    locked.value.release();
  }
}

const RETRIES = 6;
const RETRY_MS = 50;

/** Who only settles what a killed run left holds a file for a moment: that is no other run at work on it. */
async function lockSoon({ files, runtime }: HoldDeps, path: string): Promise<Result<FileLock, FileFailure>> {
  for (let tries = 0; ; tries += 1) {
    const locked = await files.lock(path);
    if (locked.ok || locked.error.kind !== 'held' || tries >= RETRIES) return locked;
    await runtime.sleep(RETRY_MS);
  }
}
