import { ok, type Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import type { OpenArchiveOptions } from './sqlite.ts';

/** How a use case works with the archive. */
export type ArchiveUse = {
  /** Null: vectors are not used. */
  readonly vectorExtension: string | null;
  /** SQLite works in a thread of its own. */
  readonly isThreaded: boolean;
};

/** Opens an archive as `openArchive` does. */
export async function openForUse(
  place: Pick<OpenArchiveOptions, 'path' | 'create'>,
  { vectorExtension, isThreaded }: ArchiveUse,
): Promise<Result<Archive, ArchiveFailure>> {
  const options = { ...place, ...(vectorExtension !== null && { vectorExtension }) };
  if (isThreaded) {
    const { openArchiveInThread } = await import('./thread/open-in-thread.ts');
    const { turnsAt, withTurns } = await import('./turns.ts');
    const threaded = await openArchiveInThread(options);
    return threaded.ok ? ok(withTurns(threaded.value.archive, turnsAt(place.path))) : threaded;
  }
  return (await import('./sqlite.ts')).openArchive(options);
}
