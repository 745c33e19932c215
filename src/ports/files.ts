import type { Result } from '../core/result.ts';

/** One line as it stands in the file. `bytes` includes the line ending and is only valid until the next line is asked for. */
export type RawLine = {
  /** 1-based. */
  readonly line: number;
  /** Byte offset in the file (a BOM counts). */
  readonly start: number;
  readonly bytes: Uint8Array;
  /** Bytes of the line ending: 0, 1 (LF) or 2 (CRLF). */
  readonly eolLength: number;
};

/** Tells two states of a file apart without reading it. */
export type FileStamp = {
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
};

export type FileFailure =
  | { readonly kind: 'not-found'; readonly path: string }
  | { readonly kind: 'not-a-file'; readonly path: string; readonly is: string }
  | { readonly kind: 'denied'; readonly path: string; readonly what: 'read' | 'write' }
  | { readonly kind: 'no-space'; readonly path: string }
  | { readonly kind: 'io'; readonly path: string; readonly code: string };

/** A file open for reading; ranges are bytes. Reading throws only what the system does (an I/O error). */
export type SourceFile = {
  readonly path: string;
  readonly stamp: FileStamp;
  /** 3 where the file begins with a UTF-8 byte order mark, else 0. */
  readonly bomLength: number;
  /** Every line in order, split at LF only. The BOM belongs to no line. */
  readonly lines: (from?: number) => IterableIterator<RawLine>;
  readonly read: (start: number, length: number) => Uint8Array;
  readonly close: () => void;
};

/** A new file that appears whole or not at all. */
export type PendingFile = {
  readonly write: (bytes: Uint8Array) => Result<void, FileFailure>;
  /** Puts the data on disk, still under a temporary name. */
  readonly flush: () => Promise<Result<void, FileFailure>>;
  /** Gives it its name and puts that on disk too: after it resolves the file is there. */
  readonly commit: () => Promise<Result<void, FileFailure>>;
  /** Removes what was written so far. */
  readonly discard: () => void;
};

export type FileStore = {
  /** The path from the root: what it names does not depend on the folder that a later run stands in. */
  readonly absolute: (path: string) => string;
  readonly open: (path: string) => Promise<Result<SourceFile, FileFailure>>;
  readonly stamp: (path: string) => Promise<Result<FileStamp, FileFailure>>;
  /** Begins a file that will replace or create `path`; `like` gives mode and owner. */
  readonly create: (path: string, like?: string) => Promise<Result<PendingFile, FileFailure>>;
};
