import type { Count } from '../../../core/units.ts';
import { assertNever, err, ok, type Result } from '../../../core/result.ts';
import type { AppDeps } from '../../contract/deps.ts';
import { attempt, carriedFailure, type Failure } from '../../contract/failure.ts';
import type { CompactReport } from '../../contract/reports.ts';
import { openSettled } from '../../write/settle.ts';
import { embedMissing, type EmbedOutcome } from './embed-missing.ts';
import { describeVectors, type EmbeddingService } from './embed-texts.ts';

/** What `archive embed` did. */
export type ArchiveEmbedReport = {
  readonly schema: 'compact/archive-embed@1';
  /** Null: there is none yet. */
  readonly archive: string | null;
  /** partial: `error` says what went wrong; the vectors made until then are kept. */
  readonly result: 'complete' | 'partial' | 'interrupted';
  readonly provider: string;
  readonly model: string;
  /** Numbers in a vector; null: there are no vectors. */
  readonly dimensions: Count | null;
  /** How many messages and batches without a vector got one now. */
  readonly embedded: Count;
  readonly missing: Count;
  /** How many vectors of another model were removed for them. */
  readonly dropped: Count;
  readonly error?: string;
};

/** No person waits for the result. */
const ARCHIVE_LIMITS = { timeoutMs: 120_000, maxRetries: 4 } as const;

type EmbedArchiveDeps = AppDeps & { readonly service: EmbeddingService };

/** Gives a vector to everything in the archive that has none; if all vectors are another model's, to everything. */
export async function embedArchive(deps: EmbedArchiveDeps): Promise<Result<ArchiveEmbedReport, Failure>> {
  const { provider, model } = deps.service;
  const base = { schema: 'compact/archive-embed@1', provider, model } as const;
  return attempt<ArchiveEmbedReport>({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openSettled(deps, 'existing');
    if (archive === null) {
      return ok({ ...base, archive: null, result: 'complete', dimensions: null, embedded: 0, missing: 0, dropped: 0 });
    }
    if (archive.isReadOnly) {
      const reason = 'it or its folder is read-only, so nothing can be stored in it';
      return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
    }
    const outcome = await embedMissing(
      { ...deps, archive },
      { sourceSha256: null, mayReplace: true, limits: ARCHIVE_LIMITS },
    );
    const { done, total, dropped, end } = outcome;
    return ok({
      ...base,
      archive: archive.path,
      result: end.kind === 'complete' || end.kind === 'interrupted' ? end.kind : 'partial',
      dimensions: (await archive.vectors.findModel())?.dimensions ?? null,
      embedded: done,
      missing: total - done,
      dropped,
      ...(end.kind === 'failed' ? { error: end.message } : {}),
      ...(end.kind === 'other-model' ? { error: 'another run makes vectors by another model' } : {}),
    });
  });
}

type EmbedCompactedDeps = AppDeps & {
  readonly service: EmbeddingService;
  /** After a failure the service is not called again in this run. */
  readonly run: { hasFailed: boolean };
};

/** The transcript is finished, and others are waiting. */
const RUN_LIMITS = { timeoutMs: 60_000, maxRetries: 2 } as const;

const FINISH = '`compact archive embed` finishes them';

/** Gives vectors to what a compaction has just archived. A problem becomes a note in its report, never a failure. */
export async function embedCompacted(deps: EmbedCompactedDeps, report: CompactReport): Promise<CompactReport> {
  if (report.result !== 'compacted') return report;
  const note = await embedAndDescribe(deps, report.sha256.before);
  return note === null ? report : { ...report, notes: [...report.notes, note] };
}

async function embedAndDescribe(deps: EmbedCompactedDeps, sourceSha256: string): Promise<string | null> {
  try {
    const opened = await deps.openArchive('existing');
    if (!opened.ok || opened.value === null) return `embeddings: none, the archive cannot be opened; ${FINISH}`;
    const archive = opened.value;
    if (deps.run.hasFailed) return `embeddings: none, the service has failed before in this run; ${FINISH}`;
    const outcome = await embedMissing({ ...deps, archive }, { sourceSha256, mayReplace: false, limits: RUN_LIMITS });
    deps.run.hasFailed ||= outcome.end.kind === 'failed';
    const known = await archive.vectors.findModel();
    return describe(outcome, known === null ? '' : describeVectors(known));
  } catch (error) {
    // Even a bug here must not make a compacted file look as if it had failed.
    const why = carriedFailure(error)?.kind ?? (error instanceof Error ? error.message : String(error));
    return `embeddings: not all (${why}); ${FINISH}`;
  } finally {
    deps.progress.finish();
  }
}

/** Null: there is nothing to report. */
function describe({ done, total, end }: EmbedOutcome, known: string): string | null {
  switch (end.kind) {
    case 'complete':
      return null;
    case 'other-model':
      return `embeddings: none, those in the archive are by ${known}; \`compact archive embed\` makes all of them anew`;
    case 'interrupted':
      return `embeddings: ${done} of ${total}, interrupted; ${FINISH}`;
    case 'failed':
      return `embeddings: ${done} of ${total}, ${end.message}; ${FINISH}`;
    default:
      return assertNever(end);
  }
}
