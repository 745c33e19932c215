import type { Count, IsoTime, Ordinal } from '../../core/units.ts';
import type { StoredRun, StoredRunFile } from '../../ports/archive.ts';
import type { FailedReport } from './reports.ts';

/** What `compact undo --list --json` prints for each run. */
export type RunReport = {
  readonly schema: 'compact/undo-list@1';
  readonly run: Ordinal;
  readonly at: IsoTime;
  /** Null: it was not undone. Files that had to be left alone may remain. */
  readonly undoneAt: IsoTime | null;
  readonly files: readonly {
    /** Absolute path of the transcript. */
    readonly file: string;
    /** The path that was written; null: standard output. */
    readonly output: string | null;
    readonly bytes: { readonly before: Count; readonly after: Count };
    readonly isUndone: boolean;
  }[];
};

type FileOfRun = {
  readonly schema: 'compact/undo@1';
  readonly run: Ordinal;
  readonly file: string;
  /** The path that the run wrote; null: standard output. */
  readonly output: string | null;
};

/** restored: the file is its original again. removed: the file beside the original is gone. unchanged: there was nothing to do. */
export type UndoneFile =
  | { readonly result: 'restored'; readonly bytes: number; readonly appendedBytes: number }
  | { readonly result: 'removed'; readonly bytes: number }
  | { readonly result: 'unchanged'; readonly reason: 'as-before' | 'gone' | 'standard-output' };

/** What `compact undo --json` prints for each file. left: it was not touched. */
export type UndoReport =
  | (FileOfRun & UndoneFile & { readonly isDryRun?: boolean })
  | (FileOfRun & { readonly result: 'left'; readonly error: FailedReport['error'] });

export function reportRun({ id, begunAt, undoneAt, files }: StoredRun): RunReport {
  return {
    schema: 'compact/undo-list@1',
    run: id,
    at: begunAt.toISOString(),
    undoneAt: undoneAt?.toISOString() ?? null,
    files: files.map(({ sourcePath, outputPath, sizeBytes, undoneAt: at }) => ({
      file: sourcePath,
      output: outputPath,
      bytes: sizeBytes,
      isUndone: at !== null,
    })),
  };
}

export function reportUndone<T>(
  { id }: StoredRun,
  { sourcePath, outputPath }: StoredRunFile,
  outcome: T,
): FileOfRun & T {
  return { schema: 'compact/undo@1', run: id, file: sourcePath, output: outputPath, ...outcome };
}
