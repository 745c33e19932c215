import { err, ok, type Result } from '../../core/result.ts';
import type { FileLock, FileStamp, FileStore } from '../../ports/files.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';

/** A page to write. It may replace an empty file, or one that begins with `start`: an earlier page. */
export type NewPage = {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly start: Uint8Array;
  /** The transcript that it is about, for messages. */
  readonly file: string;
};

/**
 * Writes a page completely or not at all. A symbolic link is refused: in a folder that others may write to, it could lead to any file of the
 * user.
 */
export async function writePage({ files }: Pick<AppDeps, 'files'>, page: NewPage): Promise<Result<void, Failure>> {
  const lock = await files.lock(page.path, { refusesLinks: true });
  if (!lock.ok) return err({ kind: 'file', failure: lock.error });
  try {
    const old = await checkReplaceable(files, page);
    return old.ok ? await write(page, { lock: lock.value, replaced: old.value }) : old;
  } finally {
    lock.value.release();
  }
}

/** The stamp of the file that the page may replace; null: there is none. */
async function checkReplaceable(
  files: FileStore,
  { path, start, file }: NewPage,
): Promise<Result<FileStamp | null, Failure>> {
  const old = await files.open(path);
  if (!old.ok) return old.error.kind === 'not-found' ? ok(null) : err({ kind: 'file', failure: old.error });
  try {
    const head = old.value.read(0, start.length);
    const isOurs = head.length === start.length && head.every((byte, at) => byte === start[at]);
    return isOurs || head.length === 0 ? ok(old.value.stamp) : err({ kind: 'output-exists', file, output: path });
  } finally {
    old.value.close();
  }
}

async function write(
  { path, bytes, file }: NewPage,
  { lock, replaced }: { readonly lock: FileLock; readonly replaced: FileStamp | null },
): Promise<Result<void, Failure>> {
  const begun = await lock.begin();
  if (!begun.ok) return err({ kind: 'file', failure: begun.error });
  const page = begun.value;
  try {
    for (const step of [() => page.write(bytes), page.drain, page.sync]) {
      const done = step();
      if (!done.ok) return err({ kind: 'file', failure: done.error });
    }
    const placed = await page.takePlace(replaced);
    if (!placed.ok) return err({ kind: 'file', failure: placed.error });
    if (placed.value === 'taken') return err({ kind: 'output-exists', file, output: path });
    placed.value?.drop();
    const onDisk = await page.syncFolder();
    return onDisk.ok ? onDisk : err({ kind: 'file', failure: onDisk.error });
  } finally {
    page.close();
  }
}
