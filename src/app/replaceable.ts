import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { Archive } from '../ports/archive.ts';
import type { AppDeps } from './deps.ts';
import { targetPath } from './deliver.ts';
import type { Failure } from './failure.ts';
import { findClips } from './find-clips.ts';
import type { Prepared } from './prepare.ts';
import type { CompactFileRequest } from './requests.ts';
import { hashPrefix } from './hash-prefix.ts';

/** An existing output is replaced only if nothing is lost by it: it is one of ours, empty, or the input's own bytes. */
export async function checkReplaceable(
  deps: AppDeps,
  {
    request,
    transcript,
    archive,
  }: { readonly request: CompactFileRequest; readonly transcript: Prepared; readonly archive: Archive | null },
): Promise<Result<void, Failure>> {
  const path = targetPath(request);
  if (path === null || request.output.kind === 'in-place') return ok(undefined);
  const existing = await deps.files.open(path);
  if (!existing.ok)
    return existing.error.kind === 'not-found' ? ok(undefined) : err({ kind: 'file', failure: existing.error });
  const { stamp } = existing.value;
  try {
    if (stamp.sizeBytes === 0) return ok(undefined);
    const isCopy =
      stamp.sizeBytes === transcript.source.stamp.sizeBytes &&
      hashPrefix(deps.runtime, existing.value, stamp.sizeBytes) === transcript.scan.sha256;
    if (isCopy) return ok(undefined);
  } finally {
    existing.value.close();
  }
  const opened = archive === null ? await deps.openArchive('existing') : ok(archive);
  if (!opened.ok) return err({ kind: 'archive', failure: opened.error });
  const isOurs = opened.value !== null && (await isWrittenByUs(deps, path, opened.value));
  return isOurs ? ok(undefined) : err({ kind: 'output-exists', file: request.input.name, output: path });
}

async function isWrittenByUs(deps: AppDeps, path: string, archive: Archive): Promise<boolean> {
  const clips = await findClips(deps, { path, name: path, format: null });
  return clips.ok && clips.value.sha256.some((sha256) => archive.findCycles(sha256).length > 0);
}
