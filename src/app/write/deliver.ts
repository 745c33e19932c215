import { assertNever, err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileLock, FileStamp } from '../../ports/files.ts';
import { isInterrupted, type WritingDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { hashPrefix } from '../read/records.ts';
import { type WriteFailure, writeOutput, type Written } from './write-output.ts';

/** The path that a request writes to; null: standard output, or nowhere. */
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
  /** Of the target; null: standard output. */
  readonly lock: FileLock | null;
  /** Of what stands there and may be replaced, as `checkReplaceable` gave it. */
  readonly replaceable: FileStamp | null;
  /** Of what is written; without it the source's in its place, and else what the name says. */
  readonly compression?: Compression;
};

/** Writes bytes to where the request wants them. A source that changed meanwhile, but by growing, is the failure `source-changed`. */
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
    compression: compression ?? (replacesSource ? source.compression : deps.files.compressionOf(path)),
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

/** What a failed write means for the user. */
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

/** What a report says of the file that was written. */
export type WrittenFile = {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly notes: readonly string[];
};

/** The file as planned, or with what was carried over at its end. */
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
