import type { MessagePort } from 'node:worker_threads';
import { ok, type Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import type { OpenArchiveOptions } from './sqlite.ts';

/** How a use case works with the archive. */
export type ArchiveUse = {
  /** Null: vectors are not used. */
  readonly vectorExtension: string | null;
  /** SQLite works in a thread of its own. */
  readonly isAside: boolean;
};

/** Opens an archive as `openArchive` does. With `connectWriter`, another thread writes it. */
export async function openForUse(
  place: Pick<OpenArchiveOptions, 'path' | 'create'>,
  { vectorExtension, isAside }: ArchiveUse,
  connectWriter?: () => Promise<Result<MessagePort, ArchiveFailure>>,
): Promise<Result<Archive, ArchiveFailure>> {
  const options = { ...place, ...(vectorExtension !== null && { vectorExtension }) };
  if (isAside) {
    const { openArchiveInThread } = await import('./thread/open-in-thread.ts');
    const { turnsAt, withTurns } = await import('./turns.ts');
    const threaded = await openArchiveInThread(options);
    return threaded.ok ? ok(withTurns(threaded.value.archive, turnsAt(place.path))) : threaded;
  }
  const here = await (await import('./sqlite.ts')).openArchive(options);
  if (!here.ok || here.value.isReadOnly || connectWriter === undefined) return here;
  const { withSharedWriter } = await import('./thread/shared-writer.ts');
  return ok(withSharedWriter(here.value, connectWriter));
}
