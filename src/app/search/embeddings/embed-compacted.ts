import { assertNever } from '../../../core/result.ts';
import { carriedFailure } from '../../contract/archive-failure.ts';
import type { AppDeps } from '../../contract/deps.ts';
import type { CompactReport } from '../../contract/reports.ts';
import { embedMissing, type EmbedOutcome } from './embed-missing.ts';
import { describeVectors, type EmbeddingService } from './embedding-service.ts';

type EmbedCompactedDeps = AppDeps & {
  readonly service: EmbeddingService;
  /** Of a run over several transcripts: a service that has failed is left alone for the rest of it. */
  readonly run: { hasFailed: boolean };
};

/** The transcript is done, and others are waiting. */
const LIMITS = { timeoutMs: 60_000, maxRetries: 2 } as const;

const FINISH = '`compact archive embed` finishes them';

/** Gives vectors to what a compaction has just archived. Whatever is in the way of that is a note in its report, and no failure. */
export async function embedCompacted(deps: EmbedCompactedDeps, report: CompactReport): Promise<CompactReport> {
  if (report.result !== 'compacted') return report;
  const note = await embedAndTell(deps, report.sha256.before);
  return note === null ? report : { ...report, notes: [...report.notes, note] };
}

async function embedAndTell(deps: EmbedCompactedDeps, sourceSha256: string): Promise<string | null> {
  try {
    const opened = await deps.openArchive('existing');
    if (!opened.ok || opened.value === null) return `embeddings: none, the archive cannot be opened; ${FINISH}`;
    const archive = opened.value;
    if (deps.run.hasFailed) return `embeddings: none, the service has failed before in this run; ${FINISH}`;
    const outcome = await embedMissing({ ...deps, archive }, { sourceSha256, mayReplace: false, limits: LIMITS });
    deps.run.hasFailed ||= outcome.end.kind === 'failed';
    const known = archive.vectors.findModel();
    return describe(outcome, known === null ? '' : describeVectors(known));
  } catch (error) {
    // Even a bug in here must not make a file that is compacted look as if it were not.
    const why = carriedFailure(error)?.kind ?? (error instanceof Error ? error.message : String(error));
    return `embeddings: not all (${why}); ${FINISH}`;
  } finally {
    deps.progress.finish();
  }
}

/** Null: there is nothing to tell. */
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
