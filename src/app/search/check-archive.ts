import type { Count } from '../../core/units.ts';
import { assertNever, err, ok, type Result } from '../../core/result.ts';
import type { ArchiveCheckCounts, ArchiveCheckStep, ArchiveDamage } from '../../ports/archive-check.ts';
import type { Archive } from '../../ports/archive.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import { openUnsettled } from '../write/settle.ts';

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
  return attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openUnsettled(deps);
    if (archive === null) {
      const reason = 'there is none yet';
      return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
    }
    const gathered = await gather(deps, archive);
    return gathered === null ? err({ kind: 'interrupted' }) : ok(report(archive, gathered));
  });
}

type Gathered = {
  readonly problems: ArchiveDamage[];
  readonly prepared: { readonly files: readonly string[] }[];
  counts: ArchiveCheckCounts;
  problemCount: number;
};

/** Null: interrupted. */
async function gather(deps: CheckDeps, archive: Archive): Promise<Gathered | null> {
  const bytes = { original: 0, compressed: 0, file: 0 };
  const counts = { compactions: 0, batches: 0, captured: 0, lines: 0, blocks: 0, bytes };
  const gathered: Gathered = { problems: [], prepared: [], counts, problemCount: 0 };
  // Leaving the loop early releases what the check holds of the archive.
  for await (const step of archive.check()) {
    take(gathered, step, deps);
    if (await isInterrupted(deps)) return null;
  }
  return gathered;
}

function take(gathered: Gathered, step: ArchiveCheckStep, { progress }: CheckDeps): void {
  switch (step.kind) {
    case 'progress':
      return progress.update(step.stage, step.done, step.total);
    case 'damage':
      gathered.problemCount += 1;
      if (gathered.problems.length < MAX_PROBLEMS) gathered.problems.push(step.damage);
      return undefined;
    case 'prepared':
      gathered.prepared.push({ files: step.files });
      return undefined;
    case 'counted':
      gathered.counts = step.counts;
      return undefined;
    default:
      return assertNever(step);
  }
}

function report(archive: Archive, { problems, problemCount, prepared, counts }: Gathered): ArchiveCheckReport {
  return {
    schema: 'compact/archive-check@1',
    archive: archive.path,
    result: problemCount === 0 ? 'sound' : 'damaged',
    ...counts,
    prepared,
    problems,
    moreProblems: problemCount - problems.length,
  };
}
