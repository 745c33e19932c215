import { assertNever, err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileLock, FileStamp, SourceFile } from '../../ports/files.ts';
import { isInterrupted, type WritingDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { hashPrefix } from '../read/records.ts';
import { type WriteFailure, writeOutput, type Written } from './write-output.ts';

/** The path that a request writes to; null: standard output or nowhere. */
export function targetPath({ output, input }: CompactFileRequest): string | null {
  switch (output.kind) {
    case 'default':
    case 'file':
      return output.path;
    case 'in-place':
      return input.path;
    case 'stdout':
    case 'preview':
    case 'none':
      return null;
    default:
      return assertNever(output);
  }
}

export type Delivery = {
  readonly request: CompactFileRequest;
  readonly transcript: Prepared;
  readonly pieces: Iterable<Uint8Array>;
  /** The lock on the target; null: standard output. */
  readonly lock: FileLock | null;
  /** The stamp of the existing file that may be replaced, from `checkReplaceable`. */
  readonly replaceable: FileStamp | null;
  /** How the output is compressed; by default like the source if it is replaced, otherwise as the output's name says. */
  readonly compression?: Compression;
};

/** Writes bytes to the requested output. A source that changed other than by growing gives the failure `source-changed`. */
export async function deliver(
  deps: WritingDeps,
  { request, transcript, pieces, lock, replaceable, compression }: Delivery,
): Promise<Result<Written, Failure>> {
  if (lock === null) {
    for (const piece of pieces) deps.stdout(piece);
    return ok({ carriedBytes: 0, notes: [] });
  }
  const { source, recordIndex, codec } = transcript;
  const path = targetPath(request) ?? '';
  const replacesSource = request.output.kind === 'in-place';
  const isDocument = codec.format.layout.kind === 'document';
  const written = await writeOutput(deps, {
    lock,
    format: codec.format.name,
    like: request.input.path,
    compression: compression ?? outputCompression(deps, { source, path: replacesSource ? null : path }),
    pieces,
    source,
    known: { stamp: source.stamp, sizeBytes: source.sizeBytes, sha256: recordIndex.sha256, isDocument },
    target: { path, stamp: replaceable },
    replacesSource,
    isInterrupted: () => isInterrupted(deps),
  });
  if (written.ok) return written;
  return err(toWriteFailure(written.error, { file: request.input.name, output: targetPath(request) ?? '-' }));
}

/**
 * As the source if it is replaced (`path` is null), otherwise as the name of the output says. A log of Inspect AI stays
 * one under any name, and nothing else becomes one.
 */
export function outputCompression(
  { files }: Pick<WritingDeps, 'files'>,
  { source, path }: { readonly source: SourceFile; readonly path: string | null },
): Compression {
  if (path === null || source.compression === 'eval') return source.compression;
  const named = files.compressionOf(path);
  return named === 'eval' ? 'none' : named;
}

/** Translates a failed write for the user. */
export function toWriteFailure(
  failure: WriteFailure,
  { file, output }: { readonly file: string; readonly output: string },
): Failure {
  switch (failure.kind) {
    case 'changed':
      return { kind: 'source-changed', file };
    case 'in-use':
      return { kind: 'in-use', file, ...failure.writer };
    case 'taken':
      return { kind: 'output-exists', file, output };
    case 'failed':
      return failure.failure;
    default:
      return assertNever(failure);
  }
}

/** The facts of the written file, for the report. */
export type WrittenFile = {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly notes: readonly string[];
};

/** The file as planned, or with the bytes that were appended meanwhile. */
export async function describeWritten(
  deps: WritingDeps,
  {
    request,
    planned,
    carriedBytes,
    notes,
  }: Written & {
    readonly request: CompactFileRequest;
    readonly planned: { readonly sha256: string; readonly sizeBytes: number };
  },
): Promise<WrittenFile> {
  const path = targetPath(request);
  if (path === null || carriedBytes === 0) return { ...planned, notes };
  const allNotes = [`${carriedBytes} bytes that were appended meanwhile were carried over`, ...notes];
  const sizeBytes = planned.sizeBytes + carriedBytes;
  const opened = await deps.files.open(path);
  if (!opened.ok) return { ...planned, notes: allNotes };
  try {
    return { sha256: hashPrefix(deps.runtime, opened.value, sizeBytes) ?? planned.sha256, sizeBytes, notes: allNotes };
  } finally {
    opened.value.close();
  }
}
