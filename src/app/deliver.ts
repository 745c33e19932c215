import { assertNever, err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { CompactDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { isInterrupted } from './interruption.ts';
import type { Prepared } from './prepare.ts';
import type { CompactFileRequest } from './requests.ts';
import { writeOutput } from './write-output.ts';

/** The path that a request writes to; null: standard output. */
export function targetPath({ output, input }: CompactFileRequest): string | null {
  switch (output.kind) {
    case 'default':
    case 'file':
      return output.path;
    case 'in-place':
      return input.path;
    case 'stdout':
    case 'none':
      return null;
    default:
      return assertNever(output);
  }
}

/** Writes bytes to where the request wants them. A source that changed meanwhile is the failure `source-changed`. */
export async function deliver(
  deps: CompactDeps,
  input: { readonly request: CompactFileRequest; readonly transcript: Prepared; readonly pieces: Iterable<Uint8Array> },
): Promise<Result<void, Failure>> {
  const { request, transcript, pieces } = input;
  const path = targetPath(request);
  if (path === null) {
    for (const piece of pieces) deps.stdout(piece);
    return ok(undefined);
  }
  const source = { path: request.input.path, stamp: transcript.source.stamp };
  const written = await writeOutput(deps.files, {
    path,
    like: request.input.path,
    pieces,
    source,
    isInterrupted: () => isInterrupted(deps),
  });
  if (written.ok) return written;
  return err(
    written.error.kind === 'changed' ? { kind: 'source-changed', file: request.input.name } : written.error.failure,
  );
}
