import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { CaptureChange } from '../../ports/captures.ts';
import type { FailedReport, SkippedFileReport } from './reports.ts';

/** The line of a file that `compact capture` looked at. */
export type CaptureReport = {
  readonly schema: 'compact/capture@1';
  readonly file: string;
  readonly format: string | null;
  /** planned: a dry run would have stored it. gone: the file was captured and does not exist any more. */
  readonly result: 'captured' | 'unchanged' | 'planned' | 'gone';
  /** What happened to the file since it was last captured; damaged: to what the archive has of it. Null: nothing. */
  readonly change: CaptureChange | 'grown' | 'damaged' | null;
  /** The version that holds it; null: none yet. */
  readonly version: Ordinal | null;
  /** `new`: bytes that the archive did not have; `stored`: what they take there. Null: nothing was stored. */
  readonly bytes: { readonly size: Count; readonly new: Count | null; readonly stored: Count | null };
  readonly sha256: Sha256 | null;
};

export type FailedCaptureReport = Pick<CaptureReport, 'schema' | 'file'> & Pick<FailedReport, 'result' | 'error'>;

/** A file that a folder, a pattern or a list named, and that is no transcript. */
export type SkippedCaptureReport = Pick<CaptureReport, 'schema' | 'file'> &
  Pick<SkippedFileReport, 'result' | 'reason' | 'notes'>;

/** A file of `compact capture --list`. */
export type CapturedFileReport = {
  readonly schema: 'compact/captured@1';
  readonly file: string;
  readonly format: string;
  /** The ids of the conversations that its records carry. */
  readonly sessions: readonly string[];
  readonly versions: readonly {
    readonly version: Ordinal;
    readonly change: CaptureChange;
    /** When its first and its last state were captured. */
    readonly first: IsoTime | null;
    readonly last: IsoTime | null;
    readonly states: Count;
    /** Of the last state. */
    readonly bytes: Count;
    readonly sha256: Sha256;
  }[];
};

/** What `compact restore --captured` wrote. */
export type RestoreCapturedReport = {
  readonly schema: 'compact/restore-captured@1';
  readonly file: string;
  readonly output: string;
  readonly version: Ordinal;
  readonly captured: IsoTime | null;
  readonly bytes: Count;
  readonly sha256: Sha256;
};
