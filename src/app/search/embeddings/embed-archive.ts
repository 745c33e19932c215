import type { Count } from '../../../core/units.ts';
import { assertNever, ok, type Result } from '../../../core/result.ts';
import type { Archive } from '../../../ports/archive.ts';
import type { Redactor } from '../../../ports/model.ts';
import type { Progress, Runtime } from '../../../ports/runtime.ts';
import type { MissingScope, MissingVector, VectorCursor, VectorDraft } from '../../../ports/archive-lookup.ts';
import { type AppDeps, isInterrupted } from '../../contract/deps.ts';
import { attempt, carriedFailure, type Failure } from '../../contract/failure.ts';
import type { CompactReport, UsageReport } from '../../contract/reports.ts';
import { openSettled, refuseReadOnly } from '../../write/settle.ts';
import { redactTexts } from '../../summarize/redacting-model.ts';
import { addPriced, createMeter, type Meter, priced } from '../../summarize/usage.ts';
import { createTextReader } from '../find-archived.ts';
import {
  describeVectors,
  type EmbeddingService,
  type EmbedOptions,
  embedTexts,
  isOfService,
  sendable,
} from './embed-texts.ts';

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
  readonly usage?: UsageReport;
  readonly error?: string;
};

/** No person waits for the result. */
const ARCHIVE_LIMITS = { timeoutMs: 120_000, maxRetries: 4 } as const;

/** Gives a vector to everything in the archive that has none; if all vectors are another model's, to everything. */
export async function embedArchive(
  deps: AppDeps & { readonly service: EmbeddingService },
): Promise<Result<ArchiveEmbedReport, Failure>> {
  const { provider, model } = deps.service;
  const base = { schema: 'compact/archive-embed@1', provider, model } as const;
  return attempt<ArchiveEmbedReport>({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openSettled(deps, 'existing');
    if (archive === null) {
      return ok({ ...base, archive: null, result: 'complete', dimensions: null, embedded: 0, missing: 0, dropped: 0 });
    }
    refuseReadOnly(archive);
    const meter = createMeter();
    const outcome = await embedMissing(
      { ...deps, archive, meter },
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
      usage: priced(meter.total(), await deps.service.findPrice?.()),
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
  const meter = createMeter();
  const note = await embedAndDescribe({ ...deps, meter }, report.sha256.before);
  const noted = note === null ? report : { ...report, notes: [...report.notes, note] };
  if (meter.total().calls === 0) return noted;
  // Summaries that were made on this machine took no tokens.
  const summaries = report.usage?.inputTokens === 0 ? undefined : report.usage;
  return { ...noted, usage: addPriced(summaries, priced(meter.total(), await deps.service.findPrice?.())) };
}

async function embedAndDescribe(deps: EmbedCompactedDeps & { readonly meter: Meter }, sourceSha256: string) {
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

type EmbedMissingDeps = Pick<AppDeps, 'formats' | 'signal'> & {
  readonly service: EmbeddingService;
  readonly archive: Archive;
  readonly runtime: Pick<Runtime, 'sleep' | 'random' | 'yieldToEvents'>;
  readonly progress: Pick<Progress, 'update'>;
  readonly meter?: Meter;
};

export type EmbedScope = {
  /** Only what was archived from this source (sha256, hex); null: everything. */
  readonly sourceSha256: string | null;
  /** Replace vectors of another model; false: do nothing if there are any. */
  readonly mayReplace: boolean;
  readonly limits: EmbedOptions;
};

/** `done` of the `total` that had no vector have one now. */
export type EmbedOutcome = {
  readonly done: number;
  readonly total: number;
  /** Vectors of another model that were dropped. */
  readonly dropped: number;
  readonly end:
    | { readonly kind: 'complete' | 'interrupted' | 'other-model' }
    | { readonly kind: 'failed'; readonly message: string };
};

const START: VectorCursor = { lineId: 0, batchId: 0 };

/** Gives vectors to everything without one, one request at a time. Whatever stops it, the vectors made until then are kept. */
export async function embedMissing(deps: EmbedMissingDeps, { sourceSha256, mayReplace, limits }: EmbedScope) {
  const { service, progress, archive } = deps;
  const { vectors } = archive;
  const known = await vectors.findModel();
  const isRemade = known !== null && !isOfService(known, service);
  const redactor = service.createRedactor?.() ?? null;
  const scopeOf = (isAll: boolean): MissingScope => ({ sourceSha256, isRemade: isAll });
  const state = { scope: scopeOf(isRemade), done: 0, dropped: 0, total: 0, after: START, hasKept: false };
  state.total = await vectors.countMissing(state.scope);
  const ended = (end: EmbedOutcome['end']): EmbedOutcome => {
    const { done, total, dropped } = state;
    return { done, total, dropped, end };
  };
  if (isRemade && !mayReplace) return ended({ kind: 'other-model' });
  const had = mayReplace ? (await vectors.count()).done : 0;
  for (;;) {
    progress.update('embedding', state.done, state.total);
    if (await isInterrupted(deps)) return ended({ kind: 'interrupted' });
    const missing = await readMissingTexts({ ...deps, redactor }, state.scope, state.after);
    if (missing.length === 0) return ended({ kind: 'complete' });
    const embedded = await embedOnce(deps, missing, limits);
    if (!embedded.ok) {
      return ended(deps.signal.aborted ? { kind: 'interrupted' } : { kind: 'failed', message: embedded.error.message });
    }
    const kept = await keep(deps, embedded.value, mayReplace && !state.hasKept);
    if (kept === 'other-model') {
      const message = `${service.model} gives vectors of several lengths: name another model`;
      return ended(state.hasKept ? { kind: 'failed', message } : { kind: 'other-model' });
    }
    if (kept === 'replaced') {
      // All vectors were removed: start again from the beginning.
      Object.assign(state, { scope: scopeOf(false), done: 0, dropped: had, after: START });
      state.total = (await vectors.countMissing(state.scope)) + missing.length;
    } else
      state.after = missing.reduce<VectorCursor>(
        (after, { of }) =>
          of.kind === 'message' ? { ...after, lineId: of.lineId } : { ...after, batchId: of.batchId },
        state.after,
      );
    state.hasKept ||= embedded.value.some(({ vector }) => vector !== null);
    state.done += missing.length;
  }
}

/** Sends equal texts once and empty ones never. */
async function embedOnce(deps: EmbedMissingDeps, missing: readonly MissingText[], limits: EmbedOptions) {
  const texts = [...new Set(missing.flatMap(({ text }) => (text === '' ? [] : [text])))];
  const embedded = texts.length === 0 ? ok([]) : await embedTexts({ ...deps, ...deps.service }, texts, limits);
  if (!embedded.ok) return embedded;
  const vectorOf = new Map(texts.map((text, at) => [text, embedded.value[at] ?? null]));
  return ok(
    missing.map(({ of, text }): VectorDraft => {
      const vector = vectorOf.get(text) ?? null;
      return of.kind === 'message'
        ? { kind: 'message', id: of.lineId, vector }
        : { kind: 'batch', id: of.batchId, vector };
    }),
  );
}

async function keep(
  { service, archive: { vectors } }: EmbedMissingDeps,
  drafts: readonly VectorDraft[],
  mayReplace: boolean,
): ReturnType<typeof vectors.keep> {
  const known = await vectors.findModel();
  const own = known !== null && isOfService(known, service) ? known.dimensions : undefined;
  const dimensions = drafts.find(({ vector }) => vector !== null)?.vector?.length ?? own;
  const { provider, model } = service;
  // All texts are empty and there are no vectors yet, so their length is unknown.
  return dimensions === undefined ? 'kept' : vectors.keep({ provider, model, dimensions }, drafts, { mayReplace });
}

/** Something without a vector, and the text to send for it (may be empty). */
type MissingText = { readonly of: MissingVector; readonly text: string };

/** A small machine answers a request of this size in time. */
const MAX_TEXTS = 64;
const MAX_REQUEST_CHARS = 100_000;

/** The next texts without vectors that fit into one request. */
async function readMissingTexts(
  { archive, formats, redactor }: Pick<EmbedMissingDeps, 'archive' | 'formats'> & { redactor: Redactor | null },
  scope: MissingScope,
  after: VectorCursor,
): Promise<readonly MissingText[]> {
  const missing = await archive.vectors.listMissing(scope, { after, limit: MAX_TEXTS });
  const reader = createTextReader(archive, formats);
  await reader.load(missing.flatMap((one) => (one.kind === 'message' ? [one] : [])));
  const said = missing.map((one) => (one.kind === 'message' ? reader.textOf(one) : one.content));
  const texts = (redactor === null ? said : redactTexts(said, redactor)).map(sendable);
  let chars = 0;
  const isRoom = (text: string): boolean => {
    chars += text.length;
    return chars <= MAX_REQUEST_CHARS;
  };
  const firstLeft = texts.findIndex((text) => !isRoom(text));
  return missing
    .slice(0, firstLeft < 0 ? undefined : Math.max(1, firstLeft))
    .map((of, at) => ({ of, text: texts[at] ?? '' }));
}
