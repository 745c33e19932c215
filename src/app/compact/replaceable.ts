import { err, ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { FileStamp } from '../../ports/files.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { findClips } from '../read/find-clips.ts';
import { hashPrefix } from '../read/hash-prefix.ts';
import type { Prepared } from '../read/prepare.ts';
import { targetPath } from '../write/deliver.ts';
import { beginsWith, holdsOnly } from '../write/settle.ts';

/**
 * An existing output is replaced only if nothing is lost by it: it is one of ours, empty, or the input's own bytes. Gives its stamp, which must be
 * the same when it is replaced; null: there is none yet, or it is the source.
 */
export async function checkReplaceable(
  deps: AppDeps,
  {
    request,
    transcript,
    archive,
  }: { readonly request: CompactFileRequest; readonly transcript: Prepared; readonly archive: Archive | null },
): Promise<Result<FileStamp | null, Failure>> {
  const path = targetPath(request);
  if (path === null || request.output.kind === 'in-place') return ok(null);
  const existing = await deps.files.open(path);
  if (!existing.ok) {
    if (existing.error.kind === 'not-found') return ok(null);
    if (existing.error.kind === 'damaged')
      return err({ kind: 'output-exists', file: request.input.name, output: path });
    return err({ kind: 'file', failure: existing.error });
  }
  const { stamp, sizeBytes } = existing.value;
  try {
    if (sizeBytes === 0) return ok(stamp);
    const isCopy =
      sizeBytes === transcript.source.sizeBytes &&
      hashPrefix(deps.runtime, existing.value, sizeBytes) === transcript.scan.sha256;
    if (isCopy) return ok(stamp);
  } finally {
    existing.value.close();
  }
  const opened = archive === null ? await deps.openArchive('existing') : ok(archive);
  if (!opened.ok) return err({ kind: 'archive', failure: opened.error });
  const isOurs = opened.value !== null && (await isExpendable(deps, { path, transcript, archive: opened.value }));
  return isOurs ? ok(stamp) : err({ kind: 'output-exists', file: request.input.name, output: path });
}

/**
 * One of ours, as it was written: what was appended since is nowhere else. And the lines that it keeps stand elsewhere too: it was made
 * of this input, or of a file that is still there (not so where it was compacted in place).
 */
async function isExpendable(
  deps: AppDeps,
  { path, transcript, archive }: { readonly path: string; readonly transcript: Prepared; readonly archive: Archive },
): Promise<boolean> {
  const clips = await findClips(deps, { path, name: path, format: null });
  if (!clips.ok) return false;
  const ids = new Set(
    [...new Set(clips.value.sha256)].flatMap((sha256) => archive.findCycles(sha256).map((one) => one.compactionId)),
  );
  for (const { output, source, sourcePath } of [...ids].flatMap((id) => archive.loadCompaction(id) ?? [])) {
    if (!(await holdsOnly(deps, path, output))) continue;
    if (hashPrefix(deps.runtime, transcript.source, source.sizeBytes) === source.sha256) return true;
    if (await beginsWith(deps, sourcePath, source)) return true;
  }
  return false;
}
