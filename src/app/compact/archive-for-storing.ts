import { err, ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CompactDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { openSettled } from '../write/settle.ts';

/** Opens the archive, or creates it. */
export async function openForStoring(deps: CompactDeps): Promise<Result<Archive, Failure>> {
  const archive = await openSettled(deps, 'create');
  if (!archive.ok) return archive;
  if (archive.value !== null) return ok(archive.value);
  const reason = 'it could not be created';
  return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
}

/**
 * Whether a missing archive could be created, asked before anything is summarized. None is made here: the summaries may come to nothing.
 * `isLenient` overlooks missing permissions and full disks, because a run that has nothing to store does not mind them.
 */
export async function checkArchivePlace(
  deps: CompactDeps,
  { output }: CompactFileRequest,
  options: { readonly isLenient: boolean },
): Promise<Result<null, Failure>> {
  const storesNothing = output.kind === 'none' || (output.kind === 'preview' && deps.service === undefined);
  const failure = storesNothing ? null : await deps.findArchivePlaceProblem(options);
  return failure === null ? ok(null) : err({ kind: 'archive', failure });
}
