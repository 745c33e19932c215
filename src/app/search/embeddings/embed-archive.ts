import { err, ok, type Result } from '../../../core/result.ts';
import { toFailure } from '../../contract/archive-failure.ts';
import type { AppDeps } from '../../contract/deps.ts';
import type { Failure } from '../../contract/failure.ts';
import { openSettled } from '../../write/settle.ts';
import { embedMissing } from './embed-missing.ts';
import type { EmbeddingService } from './embedding-service.ts';

/** What `archive embed` did. */
export type ArchiveEmbedReport = {
  readonly schema: 'compact/archive-embed@1';
  /** Null: there is none yet. */
  readonly archive: string | null;
  /** partial: `error` says what was in the way; what came until then is kept. */
  readonly result: 'complete' | 'partial' | 'interrupted';
  readonly provider: string;
  readonly model: string;
  /** Numbers in a vector; null: there is none. */
  readonly dimensions: number | null;
  /** Messages and batches that got theirs now, of those that had none. */
  readonly embedded: number;
  readonly missing: number;
  /** Vectors of another model that were dropped for them. */
  readonly dropped: number;
  readonly error?: string;
};

/** Nobody waits for it. */
const LIMITS = { timeoutMs: 120_000, maxRetries: 4 } as const;

type EmbedArchiveDeps = AppDeps & { readonly service: EmbeddingService };

/** Gives a vector to everything archived that has none; where all are another model's, to everything. */
export async function embedArchive(deps: EmbedArchiveDeps): Promise<Result<ArchiveEmbedReport, Failure>> {
  const { provider, model } = deps.service;
  const base = { schema: 'compact/archive-embed@1', provider, model } as const;
  try {
    const opened = await openSettled(deps, 'existing');
    if (!opened.ok) return opened;
    const archive = opened.value;
    if (archive === null) {
      return ok({ ...base, archive: null, result: 'complete', dimensions: null, embedded: 0, missing: 0, dropped: 0 });
    }
    if (archive.isReadOnly) {
      const reason = 'it or its folder is read-only, so nothing can be stored in it';
      return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
    }
    const outcome = await embedMissing({ ...deps, archive }, { sourceSha256: null, mayReplace: true, limits: LIMITS });
    const { done, total, dropped, end } = outcome;
    return ok({
      ...base,
      archive: archive.path,
      result: end.kind === 'complete' || end.kind === 'interrupted' ? end.kind : 'partial',
      dimensions: archive.vectors.findModel()?.dimensions ?? null,
      embedded: done,
      missing: total - done,
      dropped,
      ...(end.kind === 'failed' ? { error: end.message } : {}),
      ...(end.kind === 'other-model' ? { error: 'another run makes vectors by another model' } : {}),
    });
  } catch (error) {
    return err(toFailure(error, deps.archivePath));
  } finally {
    deps.progress.finish();
  }
}
