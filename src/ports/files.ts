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

/** How a file's content stands on disk. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** Tells two states of a file apart without reading it. */
export type FileStamp = {
  /** On disk: of a packed file this is not the size of its content. */
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
  /** Names that the file has (hard links). */
  readonly linkCount: number;
};

export type FileFailure =
  | { readonly kind: 'not-found'; readonly path: string }
  | { readonly kind: 'not-a-file'; readonly path: string; readonly is: string }
  /** `owner`: it is somebody else's, who could not write to what replaces it. */
  | { readonly kind: 'denied'; readonly path: string; readonly what: 'read' | 'write'; readonly reason?: 'owner' }
  | { readonly kind: 'no-space'; readonly path: string }
  /** Something stands at a hidden name beside the file that this program did not leave there; `is` says what. */
  | { readonly kind: 'foreign-leftover'; readonly path: string; readonly is: string }
  /** Another run is about to write it. */
  | { readonly kind: 'held'; readonly path: string }
  | { readonly kind: 'io'; readonly path: string; readonly code: string }
  /** It is packed, and cannot be unpacked whole. */
  | {
      readonly kind: 'damaged';
      readonly path: string;
      readonly compression: Exclude<Compression, 'none'>;
      readonly problem: CompressionProblem;
    }
  /** Its content would have to be kept in this folder while it is read; `code` is the system's. */
  | { readonly kind: 'no-room'; readonly path: string; readonly folder: string; readonly code: string }
  /** It is compressed, and unpacking stopped after so much: only a file that was made for it becomes that large. */
  | { readonly kind: 'unpacks-too-large'; readonly path: string; readonly limitBytes: number }
  /**
   * The file was replaced, but what came to it at that moment is not in it yet: it stands under this name, and whoever takes the lock next
   * brings it over. null: no second name could be had, it is gone.
   */
  | {
      readonly kind: 'unfinished';
      readonly path: string;
      readonly keptAs: string | null;
      readonly because: FileFailure;
    };

/** trailing: something else stands behind its end. too-wide: unpacking it takes more memory than is given to it. */
export type CompressionProblem = 'cut-off' | 'broken' | 'trailing' | 'too-wide';

/**
 * A file open for reading, as it was when it was opened; offsets, ranges and lines are those of its content, unpacked. Reading throws only
 * what the system does (an I/O error).
 */
export type SourceFile = {
  readonly path: string;
  readonly stamp: FileStamp;
  readonly compression: Compression;
  /** Of its content. */
  readonly sizeBytes: number;
  /** 3 where the file begins with a UTF-8 byte order mark, else 0. */
  readonly bomLength: number;
  /** Every line in order, split at LF only. The BOM belongs to no line. */
  readonly lines: (from?: number) => IterableIterator<RawLine>;
  readonly read: (start: number, length: number) => Uint8Array;
  /** The file's bytes as they stand on disk, packed or not. */
  readonly onDisk: () => IterableIterator<Uint8Array>;
  /**
   * The bytes from an offset to the end that the file has now, even if its name leads to another one by now. Throws where what came to a packed
   * file since cannot be told.
   */
  readonly tail: (from: number) => IterableIterator<Uint8Array>;
  readonly close: () => void;
};

/** The name that what is replaced has meanwhile; no-links: it can have none. another-file: it is not the file of the stamp any more. */
export type KeptBackup =
  | { readonly kind: 'kept'; readonly name: string }
  | { readonly kind: 'no-links' }
  | { readonly kind: 'another-file' };

/** A process that has a file open for writing. */
export type FileWriter = { readonly processId: number; readonly name: string };

/** A new file that appears whole or not at all, in these steps. */
export type PendingFile = {
  readonly write: (bytes: Uint8Array) => Result<void, FileFailure>;
  /**
   * What is packed needs its time: to be waited for after each `write`, and with `end` after the last one. null: there is nothing to wait for.
   */
  readonly catchUp: (until: 'here' | 'end') => Promise<Result<void, FileFailure>> | null;
  /** Hands everything to the system, still under a temporary name. */
  readonly drain: () => Result<void, FileFailure>;
  /** Puts the data on disk. */
  readonly sync: () => Result<void, FileFailure>;
  /**
   * Gives the file that is to be replaced a second name, right before that; up to `fromBytes` this one has what is in it. What comes to it
   * later is brought over by whoever takes the lock next, unless `dropBackup` comes first.
   */
  readonly keepBackup: (stamp: FileStamp, fromBytes: number) => Result<KeptBackup, FileFailure>;
  /** Gives it its name; more may be written to its end after that. */
  readonly rename: () => Promise<Result<void, FileFailure>>;
  /** Removes the second name of what was replaced: all that it has is here. */
  readonly dropBackup: () => void;
  /** Puts the name on disk: after it resolves the file is there. */
  readonly syncFolder: () => Promise<Result<void, FileFailure>>;
  /** Closes it; what has not got its name is removed. */
  readonly close: () => void;
};

/** The right to write a file, which one run has at a time; it ends with the process, however that ends. */
export type FileLock = {
  /** A run that was killed had begun a file for the path and had not given it its name. */
  readonly foundUnfinished: boolean;
  /** Begins a file that will replace or create the path; `like` gives mode and owner. What is written to it is packed, or 'none': stands as it is. */
  readonly begin: (like?: string, compression?: Compression) => Promise<Result<PendingFile, FileFailure>>;
  readonly release: () => void;
};

export type FileStore = {
  /** The path from the root: what it names does not depend on the folder that a later run stands in. */
  readonly absolute: (path: string) => string;
  /** What a file of this name is packed as. */
  readonly compressionOf: (path: string) => Compression;
  /** Rejects when `signal` interrupts it: a packed file is unpacked before it can be read. */
  readonly open: (path: string, signal?: AbortSignal) => Promise<Result<SourceFile, FileFailure>>;
  readonly stamp: (path: string) => Promise<Result<FileStamp, FileFailure>>;
  /** `held` where another run has it. What a run that was killed left beside the file is finished and removed, or `unfinished`. */
  readonly lock: (path: string) => Promise<Result<FileLock, FileFailure>>;
  /** Finishes and removes what a run that was killed left beside a file; nothing where one is at work. Fails only as `unfinished` or `foreign-leftover`. */
  readonly clearLeftovers: (path: string) => Promise<Result<void, FileFailure>>;
  /** Another process that has the file open for writing, as far as can be seen; null: none is seen. */
  readonly findWriter: (stamp: FileStamp) => Promise<FileWriter | null>;
};

/** A transcript that is about to be replaced by another version of itself. */
export type ReplacedTranscript = {
  readonly path: string;
  /** Its format's name. */
  readonly format: string;
};

/** Indexes that producers keep of places inside their transcripts: they are wrong once a transcript was replaced. */
export type ProducerIndexes = {
  /**
   * Removes what an index has of this one transcript, so that its producer builds it anew. Called right before the replacement: where that then
   * fails, the producer indexes the old file again. Never fails: gives a sentence for people where the index had to be left as it is, else null.
   */
  readonly reset: (transcript: ReplacedTranscript) => Promise<string | null>;
};
