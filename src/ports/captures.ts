/** Why a version of a captured file begins. A file that only grew keeps its version. */
export type CaptureChange = 'new' | 'rewritten' | 'shortened' | 'gone' | 'returned';

/** What a file system keeps of a file besides its bytes. */
export type FileMarks = {
  /** When it was last written, in Unix nanoseconds. */
  readonly mtimeNs: string;
  /** The permission bits. */
  readonly mode: number;
};

/** What a file was when it was captured. A version that grew has several states, each the beginning of the next one. */
export type CapturedState = {
  readonly id: number;
  /** From 1, over the life of the file. */
  readonly version: number;
  readonly change: CaptureChange;
  readonly sizeBytes: number;
  /** sha256 (hex) of all bytes. */
  readonly sha256: string;
  readonly capturedAt: Date;
  /** When it was last read; null: unknown. */
  readonly marks: FileMarks | null;
};

export type CapturedFile = {
  readonly id: number;
  /** Absolute. */
  readonly path: string;
  /** The name of its format, when it was captured last. */
  readonly format: string;
  /** The ids of the conversations that its records carry, ascending; over all versions. */
  readonly sessions: readonly string[];
  /** What distinguished the file on disk when it was last read; null: that cannot be relied on. */
  readonly stamp: string | null;
  /** When all its bytes were last read. */
  readonly readAt: Date;
  readonly last: CapturedState;
};

export type CaptureOutline = {
  readonly path: string;
  readonly format: string;
  /** The file's last state; null: it was never captured. */
  readonly lastStateId: number | null;
  /** grown: what is appended continues the last state. */
  readonly change: Exclude<CaptureChange, 'gone'> | 'grown';
};

/** The state that a capture ends with, and all sessions of the file. */
export type CaptureDraft = Pick<CapturedState, 'sizeBytes' | 'sha256' | 'capturedAt'> &
  Partial<Pick<CapturedState, 'marks'>> &
  Pick<CapturedFile, 'stamp' | 'sessions'>;

export type StoredCapture = {
  readonly version: number;
  /** Bytes that the archive did not have, originally and as stored. */
  readonly newBytes: number;
  readonly storedBytes: number;
};

/** Stores one state. The pieces are what other files may share: usually lines. */
export type CaptureWriter = ArchiveWriter<readonly Uint8Array[], CaptureDraft, StoredCapture>;

/** Whole files, each line stored once. Methods fail as those of the archive do. */
export type CaptureStore = {
  readonly find: (path: string) => Promise<CapturedFile | null>;
  /** Every captured file, by path. */
  readonly list: () => Promise<readonly CapturedFile[]>;
  /** Oldest first. */
  readonly listStates: (fileId: number) => Promise<readonly CapturedState[]>;
  /** The bytes of a state. Each line is checked against its hash, and at the end the number of bytes. */
  readonly read: (stateId: number) => AsyncIterable<Uint8Array>;
  /**
   * Begins to store a state; whoever calls this must end it with `commit` or `abandon`, because other writes wait for that. Null: another
   * process has captured the file meanwhile.
   */
  readonly begin: (outline: CaptureOutline) => Promise<CaptureWriter | null>;
  /** Records that a file was read and is as captured. */
  readonly confirm: (
    file: CapturedFile,
    read: Pick<CapturedFile, 'stamp' | 'readAt'> & { readonly marks: FileMarks },
  ) => Promise<void>;
  /** Records that a file is gone, unless it is known or another process has captured it meanwhile. `removed`: what the log says if we removed it. */
  readonly markGone: (
    fileId: number,
    gone: { readonly lastStateId: number; readonly at: Date; readonly removed?: object },
  ) => Promise<void>;
};

/** Stores one thing in one transaction and in bounded memory. After an error nothing of it is stored and the writer has ended. */
export type ArchiveWriter<Pieces, Draft, Stored> = {
  /** The next pieces, in order. The bytes of one need only be valid until the next one is requested. */
  readonly append: (pieces: Pieces) => Promise<void>;
  readonly commit: (draft: Draft) => Promise<Stored>;
  /** Leaves the archive as it was. Does nothing after `commit` or an error. */
  readonly abandon: () => Promise<void>;
};
