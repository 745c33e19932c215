import type { FileStamp, FileStore, SourceFile } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { readPieces } from '../read/file-pieces.ts';
import { hashPrefix } from '../read/hash-prefix.ts';

/** What was read of a file, and how it stood then. */
export type KnownContent = {
  readonly stamp: FileStamp;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** It is one value: what stands behind its end belongs to nothing. */
  readonly isDocument?: boolean;
};

export type Look =
  | { readonly kind: 'same' }
  /** Other bytes, fewer of them, or another file; or a packed one that is not as it was. */
  | { readonly kind: 'changed' }
  /** `pieces` are what was appended since; `known` is the whole as it is now. To be closed. */
  | {
      readonly kind: 'grown';
      readonly known: KnownContent;
      readonly pieces: () => Iterable<Uint8Array>;
      readonly close: () => void;
    };

/** What became of a file since it was read. */
export async function lookAgain(
  { files, runtime }: { readonly files: FileStore; readonly runtime: Pick<Runtime, 'createHash'> },
  { path, packing }: Pick<SourceFile, 'path' | 'packing'>,
  known: KnownContent,
): Promise<Look> {
  const stamped = await files.stamp(path);
  if (!stamped.ok || !isSameFile(stamped.value, known.stamp)) return { kind: 'changed' };
  if (isSameStamp(stamped.value, known.stamp)) return { kind: 'same' };
  // What came to a packed file may be anything, and a document has an end: they are read anew.
  if (packing !== 'none' || known.isDocument === true) return { kind: 'changed' };
  const opened = await files.open(path);
  if (!opened.ok) return { kind: 'changed' };
  const file = opened.value;
  const { stamp, sizeBytes } = file;
  const close = (): void => file.close();
  const isIt = isSameFile(stamp, known.stamp) && file.packing === packing;
  if (!isIt || hashPrefix(runtime, file, known.sizeBytes) !== known.sha256) {
    close();
    return { kind: 'changed' };
  }
  const sha256 = hashPrefix(runtime, file, sizeBytes) ?? '';
  const pieces = (): Iterable<Uint8Array> => readPieces(file, { from: known.sizeBytes, to: sizeBytes });
  return { kind: 'grown', known: { stamp, sizeBytes, sha256 }, pieces, close };
}

/** The same file, whatever is in it. */
export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.inode === b.inode && a.device === b.device;
}

/** Nothing was written to it between the two. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs;
}
