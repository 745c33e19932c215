import { err, ok, type Result } from '../../core/result.ts';
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

/** Writes a page completely or not at all. */
export async function writePage(
  { files }: Pick<AppDeps, 'files'>,
  { path, bytes, start, file }: NewPage,
): Promise<Result<void, Failure>> {
  const old = await files.open(path);
  if (old.ok) {
    const head = old.value.read(0, start.length);
    const isEmpty = head.length === 0;
    const isOurs = isEmpty || (head.length === start.length && head.every((byte, at) => byte === start[at]));
    old.value.close();
    if (!isOurs) return err({ kind: 'output-exists', file, output: path });
  } else if (old.error.kind !== 'not-found') return err({ kind: 'file', failure: old.error });
  const lock = await files.lock(path);
  if (!lock.ok) return err({ kind: 'file', failure: lock.error });
  try {
    const begun = await lock.value.begin();
    if (!begun.ok) return err({ kind: 'file', failure: begun.error });
    const page = begun.value;
    try {
      for (const step of [() => page.write(bytes), page.drain, page.sync, page.rename, page.syncFolder]) {
        const done = await step();
        if (!done.ok) return err({ kind: 'file', failure: done.error });
      }
      return ok(undefined);
    } finally {
      page.close();
    }
  } finally {
    lock.value.release();
  }
}
