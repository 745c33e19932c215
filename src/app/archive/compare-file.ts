import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CaptureOutline } from '../../ports/captures.ts';
import type { FileStamp, SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { checkReadable } from './captured.ts';

/** Damage that leaves size and times as they were is found by reading every file again from time to time. */
const MAX_UNREAD_MS = 7 * 24 * 60 * 60 * 1000;

export function isDue({ readAt }: CapturedFile, now: Date): boolean {
  return !(now.getTime() - readAt.getTime() < MAX_UNREAD_MS);
}

export async function isUntouched({ files, runtime }: AppDeps, known: CapturedFile): Promise<boolean> {
  if (known.stamp === null || isDue(known, runtime.now())) return false;
  const now = await files.stamp(known.path);
  return now.ok && describeStamp(now.value) === known.stamp;
}

function describeStamp({ sizeBytes, mtimeNs, changedNs, inode, device }: FileStamp): string {
  return [sizeBytes, mtimeNs, changedNs, inode, device].join(':');
}

/** File systems keep times in steps of up to two seconds: a file that was written twice in one step looks untouched. */
const TIME_STEP_MS = 2000;

/** The stamp that proves later that nothing was written since; null: the last write was too recent for that. */
export function reliableStamp(stamp: FileStamp, startedAt: Date): string | null {
  const newestNs = stamp.mtimeNs > stamp.changedNs ? stamp.mtimeNs : stamp.changedNs;
  return Number(newestNs / 1_000_000n) + TIME_STEP_MS < startedAt.getTime() ? describeStamp(stamp) : null;
}

/** damaged: the archive cannot give back what it has of the file. */
export type Change = CaptureOutline['change'] | 'damaged';
type Compared =
  | { readonly change: 'same' }
  /** `hash`: of all bytes before those that must be stored. */
  | { readonly change: Change; readonly hash: RunningHash };

/** Reads the file up to the size that was captured last, and what the archive has of it. */
export async function compare(
  { runtime }: AppDeps,
  source: SourceFile,
  captured: { readonly archive: Archive; readonly known: CapturedFile } | null,
): Promise<Compared> {
  const fresh = runtime.createHash();
  if (captured === null) return { change: 'new', hash: fresh };
  const {
    archive,
    known: { last },
  } = captured;
  if (last.change === 'gone') return { change: 'returned', hash: fresh };
  const { sizeBytes } = source.stamp;
  if (sizeBytes < last.sizeBytes) return { change: 'shortened', hash: fresh };
  const hash = runtime.createHash();
  hashDisk(hash, source, last.sizeBytes);
  if (hash.copy().digest() !== last.sha256) return { change: 'rewritten', hash: fresh };
  // What was erased on purpose is not stored again.
  if ((await checkReadable(runtime, { archive, state: last })) === 'damaged') return { change: 'damaged', hash: fresh };
  return sizeBytes === last.sizeBytes ? { change: 'same' } : { change: 'grown', hash };
}

function hashDisk(hash: RunningHash, source: SourceFile, sizeBytes: number): void {
  let left = sizeBytes;
  for (const piece of source.onDisk()) {
    hash.update(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) return;
  }
}

/**
 * Whether what was read is what the file was at one moment. changed: it was not, or nobody knows. touched: it was, and the file has changed
 * since, as one that grows.
 */
export async function lookAgain(
  { files, runtime }: AppDeps,
  source: SourceFile,
  read: { readonly sizeBytes: number; readonly sha256: string },
): Promise<'untouched' | 'touched' | 'changed'> {
  if (read.sizeBytes !== source.stamp.sizeBytes) return 'changed';
  const now = await files.stamp(source.path);
  if (now.ok && describeStamp(now.value) === describeStamp(source.stamp)) return 'untouched';
  const hash = runtime.createHash();
  hashDisk(hash, source, read.sizeBytes);
  return hash.digest() === read.sha256 ? 'touched' : 'changed';
}
