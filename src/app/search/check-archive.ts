import type { Count } from '../../core/units.ts';
import { ok, type Result } from '../../core/result.ts';
import type { ArchiveCheckCounts, ArchiveDamage } from '../../ports/archive.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure, stopIfInterrupted } from '../contract/failure.ts';
import { openExisting } from '../write/settle.ts';

/** What `archive check` found. */
export type ArchiveCheckReport = ArchiveCheckCounts & {
  readonly schema: 'compact/archive-check@1';
  readonly archive: string;
  readonly result: 'sound' | 'damaged';
  /** Unfinished compactions, by their files: the next run settles them. */
  readonly prepared: readonly { readonly files: readonly string[] }[];
  readonly problems: readonly ArchiveDamage[];
  /** How many problems are not listed. */
  readonly moreProblems: Count;
};

/** With more problems the whole archive is lost, not just parts. */
const MAX_PROBLEMS = 100;

type CheckDeps = Pick<AppDeps, 'openArchive' | 'archivePath' | 'runtime' | 'signal' | 'progress'>;

/** Checks every part of the archive and reports what is damaged and which transcripts are affected. Changes nothing. */
export async function checkArchive(deps: CheckDeps): Promise<Result<ArchiveCheckReport, Failure>> {
  const { archivePath, progress } = deps;
  return attempt({ file: archivePath, progress }, async () => {
    const archive = await openExisting(deps);
    const bytes = { original: 0, compressed: 0, file: 0 };
    let counts: ArchiveCheckCounts = { compactions: 0, batches: 0, captured: 0, lines: 0, blocks: 0, bytes };
    const problems: ArchiveDamage[] = [];
    let problemCount = 0;
    const prepared: { readonly files: readonly string[] }[] = [];
    // Leaving the loop early releases what the check holds of the archive.
    for await (const step of archive.check()) {
      if (step.kind === 'progress') progress.update(step.stage, step.done, step.total);
      else if (step.kind === 'damage') {
        problemCount += 1;
        if (problems.length < MAX_PROBLEMS) problems.push(step.damage);
      } else if (step.kind === 'prepared') prepared.push({ files: step.files });
      else ({ counts } = step);
      await stopIfInterrupted(deps);
    }
    return ok({
      schema: 'compact/archive-check@1',
      archive: archive.path,
      result: problemCount === 0 ? 'sound' : 'damaged',
      ...counts,
      prepared,
      problems,
      moreProblems: problemCount - problems.length,
    });
  });
}
