import { ok, type Result } from '../../core/result.ts';
import type { ArchiveBackupReport } from '../contract/archive-reports.ts';
import { attempt, type Failure, mustFile, stop } from '../contract/failure.ts';
import { openSettled } from '../write/settle.ts';
import { type MergeDeps, openSource, refuseDamage } from './merge-archives.ts';

/** Copies the archive into a new file while others may write to it, and reads all of the copy: what is damaged must not take the place of a good backup. */
export async function backUpArchive(
  deps: MergeDeps,
  { path }: { path: string },
): Promise<Result<ArchiveBackupReport, Failure>> {
  return attempt(
    { file: deps.archivePath, progress: deps.progress },
    async (): Promise<Result<ArchiveBackupReport, Failure>> => {
      const archive = await openSettled(deps, 'existing');
      if (archive === null) return ok({ schema: 'compact/archive-backup@1', archive: null, backup: null, bytes: 0 });
      if (!(await archive.retention.isPurged())) {
        const reason = 'it still contains erased bytes, which the copy would have too';
        const advice = 'Close what uses it, see that you may change it, and make room. Then try again.';
        stop({ kind: 'archive', failure: { kind: 'unsupported', path: archive.path, reason, advice } });
      }
      const backup = deps.files.absolute(path);
      await archive.backup(backup, (done, total) => {
        if (deps.signal.aborted) stop({ kind: 'interrupted' });
        deps.progress.update('copying', done, total);
      });
      const copy = await openSource(deps, backup, null);
      await refuseDamage(deps, copy, `, as in ${archive.path}: keep earlier backups`).finally(copy.close);
      const { sizeBytes: bytes } = mustFile(await deps.files.stamp(backup));
      return ok({ schema: 'compact/archive-backup@1', archive: deps.archivePath, backup, bytes });
    },
  );
}
