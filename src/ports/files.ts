import type { Result } from '../core/result.ts';

/** One line of the file. `bytes` includes the line ending and is only valid until the next line is requested. */
export type RawLine = {
  /** 1-based. */
  readonly line: number;
  /** Byte offset in the file (a BOM counts). */
  readonly start: number;
  readonly bytes: Uint8Array;
  /** Bytes of the line ending: 0, 1 (LF) or 2 (CRLF). */
  readonly eolLength: number;
};

/** How a file is compressed on disk. eval: a log of Inspect AI, which is a zip file; its content is one JSON document. */
export type Compression = 'none' | 'gzip' | 'zstd' | 'eval';

/** Distinguishes two states of a file without reading it. */
export type FileStamp = {
  /** Size on disk; for a compressed file this is not the size of its content. */
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  /** When the system last changed anything about it (ctime), which no program can set. */
  readonly changedNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
  /** Number of names (hard links). */
  readonly linkCount: number;
  /** The permission bits. */
  readonly mode: number;
};

export type FileFailure =
  | { readonly kind: 'not-found'; readonly path: string }
  | { readonly kind: 'not-a-file'; readonly path: string; readonly is: string }
  /** `owner`: the file belongs to someone else, who could not write to its replacement. */
  | { readonly kind: 'denied'; readonly path: string; readonly what: 'read' | 'write'; readonly reason?: 'owner' }
  | { readonly kind: 'no-space'; readonly path: string }
  /** Something at a hidden name beside the file that this program did not create; `is` says what. */
  | { readonly kind: 'foreign-leftover'; readonly path: string; readonly is: string }
  /** Another run holds its lock. */
  | { readonly kind: 'held'; readonly path: string }
  | { readonly kind: 'io'; readonly path: string; readonly code: string }
  /** No producer writes a line of this size. */
  | {
      readonly kind: 'line-too-long';
      /** Undefined: a line. */
      readonly unit?: 'record';
      readonly path: string;
      readonly line: number;
      readonly maxLineBytes: number;
    }
  /** A file of this kind is smaller. */
  | { readonly kind: 'too-large'; readonly path: string; readonly limitBytes: number }
  /** It is compressed and cannot be decompressed completely. */
  | {
      readonly kind: 'damaged';
      readonly path: string;
      readonly compression: Exclude<Compression, 'none'>;
      readonly problem: CompressionProblem;
    }
  /** There is no room in this folder for its decompressed content, which must be kept there while it is read; `code` is the system's. */
  | { readonly kind: 'no-room'; readonly path: string; readonly folder: string; readonly code: string }
  /** Decompression stopped at this size: only a file made on purpose becomes that large. */
  | { readonly kind: 'unpacks-too-large'; readonly path: string; readonly limitBytes: number }
  /** A zip file has a member that is too large to read, even packed. */
  | { readonly kind: 'member-too-large'; readonly path: string; readonly limitBytes: number }
  /**
   * The file was replaced, or has no name now, and what another program wrote at that moment is still missing from it: that is kept under this
   * name, and the next run that takes the lock brings it back.
   */
  | {
      readonly kind: 'unfinished';
      readonly path: string;
      readonly keptAs: string;
      readonly because: FileFailure;
    }
  /** The file was replaced, but the system could not say that it is safe on disk. */
  | { readonly kind: 'not-flushed'; readonly path: string; readonly because: FileFailure };

/**
 * trailing: other data follows its end. too-wide: decompressing it needs more memory than allowed. arranged-otherwise: it could not be written
 * again byte for byte.
 */
export type CompressionProblem = 'cut-off' | 'broken' | 'trailing' | 'too-wide' | 'arranged-otherwise';

export type Unpacked = { readonly bytes: Uint8Array } | { readonly problem: CompressionProblem };

/**
 * A file open for reading, as it was when it was opened. Offsets, ranges and lines are those of its decompressed content. Reading throws only
 * what the system reports (an I/O error).
 */
export type SourceFile = {
  readonly path: string;
  readonly stamp: FileStamp;
  readonly compression: Compression;
  /** Size of its content. */
  readonly sizeBytes: number;
  /** 3 if the file begins with a UTF-8 byte order mark, otherwise 0. */
  readonly bomLength: number;
  /** Every line in order, split at LF only. The BOM belongs to no line. */
  readonly lines: (from?: number) => IterableIterator<RawLine>;
  readonly read: (start: number, length: number) => Uint8Array;
  /** The file's bytes on disk, compressed or not. */
  readonly onDisk: () => IterableIterator<Uint8Array>;
  readonly close: () => void;
};

/** A file that a new one replaces, under a hidden name. */
export type MovedFile = {
  /** The hidden name. */
  readonly path: string;
  /** Gives it its name again. What came to other files at that name meanwhile follows at its end; of documents, the latest file stays instead. */
  readonly putBack: () => Result<void, FileFailure>;
  /** Removes it: its content is kept elsewhere. False: it could not be removed. */
  readonly drop: () => boolean;
};

/** A process that has a file open for writing, or a session. */
export type FileWriter = { readonly processId: number; readonly name: string };

/** A file by which a producer shows that one of its processes has a session open. A missing one proves nothing. */
export type OpenSign = {
  /** The producer, as people call it. */
  readonly program: string;
  /** Where such files are, relative to the transcript's folder. */
  readonly folders: readonly string[];
  /** Their names; the first group is the number of the process. */
  readonly file: RegExp;
  /** The key of the session's id, which is part of the transcript's path. Undefined: such files are in the session's own folder. */
  readonly sessionKey?: string;
};

/** A new file that appears completely or not at all, in these steps. */
export type PendingFile = {
  readonly write: (bytes: Uint8Array) => Result<void, FileFailure>;
  /** Waits for the compressor: after each `write`, and with `end` after the last one. null: nothing to wait for. */
  readonly catchUp: (until: 'here' | 'end') => Promise<Result<void, FileFailure>> | null;
  /** Passes everything to the system, still under a temporary name. */
  readonly drain: () => Result<void, FileFailure>;
  /** Flushes the data to disk. */
  readonly sync: () => Result<void, FileFailure>;
  /**
   * Gives it its final name. `expected` is the stamp of the file that it replaces, which is moved aside and given back; null: none. `taken`:
   * something else stands there, or it changed; it stays, and this file has no name.
   */
  readonly takePlace: (
    expected: FileStamp | null,
    options?: {
      /** The old file is one JSON value, so nothing can be appended to it; by default it is. */
      readonly isDocument?: boolean;
      /** The time that the new file gets; by default now. */
      readonly mtimeNs?: bigint;
      /** Called while nothing has the name. */
      readonly onMoved?: () => void;
    },
  ) => Promise<Result<MovedFile | null | 'taken', FileFailure>>;
  /** Flushes the folder to disk: after that the file is there even after a crash. */
  readonly syncFolder: () => Promise<Result<void, FileFailure>>;
  /** Closes it; a file without its final name is removed. */
  readonly close: () => void;
};

/**
 * Registers a file to be removed when the process ends. The returned function removes it now, if it exists; with `keep`, it stays and is no
 * longer registered.
 */
export type RemoveAtExit = (path: string) => (how?: 'keep') => void;

/** The exclusive right to write a file; it ends with the process, however that ends. */
export type FileLock = {
  /** A killed run left an unfinished file for this path. */
  readonly foundUnfinished: boolean;
  /**
   * Begins a file that will replace or create the path; `like` is a file that gives mode and owner, or a mode; `compression` is 'none' by
   * default.
   */
  readonly begin: (like?: string | number, compression?: Compression) => Promise<Result<PendingFile, FileFailure>>;
  /**
   * Moves the file aside, unless it has another stamp by now (null): nobody finds it any more, and it can be looked at once more before it is
   * dropped. Put back by the next run if this one is killed before that.
   */
  readonly moveAway: (
    stamp: FileStamp,
    options: { readonly isDocument: boolean },
  ) => Result<MovedFile | null, FileFailure>;
  readonly release: () => void;
};

export type OpenOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly maxBytes?: number | undefined;
  /** A link is no file. By default it is followed. */
  readonly refusesLinks?: boolean | undefined;
};

export type FileStore = {
  readonly absolute: (path: string) => string;
  /** The absolute path to which links lead, if there are any. */
  readonly realPath: (path: string) => string;
  /** The compression that a file's name implies. */
  readonly compressionOf: (path: string) => Compression;
  /**
   * Decompresses the content of a file in bounded memory. Null: its first bytes say that it is not compressed. `problem`: why the rest cannot be
   * decompressed.
   */
  readonly unpack: (first: Uint8Array, content: AsyncIterable<Uint8Array>) => AsyncIterable<Unpacked> | null;
  /**
   * Rejects if `signal` interrupts it, because decompressing can take long. Of an uncompressed file no more than `maxBytes` are read: what
   * follows counts as appended after it was opened.
   */
  readonly open: (path: string, options?: OpenOptions) => Promise<Result<SourceFile, FileFailure>>;
  readonly stamp: (path: string) => Promise<Result<FileStamp, FileFailure>>;
  /**
   * The text in a record of a file's content that repeats how a part of the file was compressed ('eval' only). null: another record, or one
   * that cannot be unpacked.
   */
  readonly unpackRecord: (bytes: Uint8Array) => Promise<Uint8Array | null>;
  /**
   * `held` if another run has the lock. Finishes and removes what a killed run left beside the file, or fails as `unfinished`. A path that is
   * a symbolic link leads to the file that is locked, unless it is refused as `not-a-file`. `makesFolder`: creates the file's folder if it is
   * missing.
   */
  readonly lock: (
    path: string,
    options?: { readonly refusesLinks?: boolean; readonly makesFolder?: boolean },
  ) => Promise<Result<FileLock, FileFailure>>;
  /**
   * Finishes and removes what a killed run left beside a file; does nothing while another run works on it. Fails only as `unfinished` or
   * `foreign-leftover`.
   */
  readonly clearLeftovers: (path: string) => Promise<Result<void, FileFailure>>;
  /** False: this system does not tell which programs have a file open, so `findWriter` finds none. */
  readonly showsWriters: () => boolean;
  /** Another process that has the file open for writing, as far as can be seen; null: none; unknown: the search took too long, and was stopped. */
  readonly findWriter: (stamp: FileStamp) => Promise<FileWriter | 'unknown' | null>;
  /** The running program that left one of these signs of having a transcript open, on every system; null: none is to be seen. */
  readonly findSessionUser: (path: string, signs: readonly OpenSign[]) => Promise<FileWriter | null>;
};

/** Indexes that producers keep of positions inside their transcripts. They become wrong when a transcript is replaced. */
export type ProducerIndexes = {
  /**
   * Removes a transcript that is about to be replaced from an index, so that its producer indexes it again. Called right before the replacement; if that fails, the
   * producer just indexes the old file again. Never fails: returns a sentence for people if the index had to be left as it is, otherwise null.
   */
  readonly reset: (transcript: { readonly path: string; readonly format: string }) => Promise<string | null>;
};
