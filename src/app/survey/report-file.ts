import { parseClipArchiveHead } from '../../core/clip-archive.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import { isClipArchiveText } from '../../core/split.ts';
import { forecast } from '../compact/plan-report.ts';
import { reportBatch, reportUnchanged, totalTokens } from '../compact/report.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { FileReport, PlacedOutcome, ReportedCycle } from '../contract/file-report.ts';
import type { VerifyReport } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { withCompacted } from '../read/open-compacted.ts';
import { type IndexedTranscript, type Prepared, prepareTranscript } from '../read/prepare.ts';
import { type ProvenStep, verifyRevisions } from '../restore/verify-file.ts';
import { openUnsettled } from '../write/settle.ts';
import { KEPT, type Original, readOriginal } from './original.ts';
import { describeContents } from './report-contents.ts';
import { scoreRows } from './score-file.ts';

export type ReportFileRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  /** Show what the next compaction would do, instead of what was done. */
  readonly isPlan: boolean;
};

/** Reads a compacted file with its original, or the file alone for a plan or if its archive is gone. */
export async function reportFile(
  deps: AppDeps & { readonly mask: Mask },
  request: ReportFileRequest,
): Promise<Result<FileReport, Failure>> {
  const { input, isPlan } = request;
  const policy = isPlan ? request.policy : { ...request.policy, keepInvalid: true };
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const current = await prepareTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    try {
      if (isPlan) return ok(describePlan(current, request, deps.mask));
      const proof = await proveFile(deps, { input, policy });
      if (!proof.ok && !isAboutArchive(proof.error)) return proof;
      return ok(describeCompacted(current, { ...request, policy }, { proof, mask: deps.mask }));
    } finally {
      current.source.close();
    }
  });
}

type Mask = (text: string, before?: string) => string;

/** Failures after which the transcript itself can still be shown. */
function isAboutArchive({ kind }: Failure): boolean {
  return kind === 'not-in-archive' || kind === 'rewritten' || kind === 'altered' || kind === 'archive';
}

type Proof = {
  readonly verified: VerifyReport;
  /** Newest first. */
  readonly steps: readonly ProvenStep[];
  readonly original: Original | null;
};

async function proveFile(
  deps: AppDeps,
  { input, policy }: Pick<ReportFileRequest, 'input' | 'policy'>,
): Promise<Result<Proof, Failure>> {
  return withCompacted(deps, input, async ({ revision, archive }) => {
    const steps: ProvenStep[] = [];
    const { name } = input;
    const onStep = (step: ProvenStep): unknown => steps.push(step);
    const verified = await verifyRevisions(deps, { revision, archive, name, onStep });
    return { verified, steps, original: await readOriginal(deps, { steps, archive, name, policy }) };
  });
}

function describePlan(transcript: Prepared, { input, policy }: ReportFileRequest, mask: Mask): FileReport {
  const planned = forecast(transcript, policy);
  const conversations = planned.kind === 'skip' ? transcript.conversations.map(reportUnchanged) : planned.conversations;
  const outcomes = new Map(scoreRows(transcript, { policy }).map(({ line, outcome }) => [line, outcome]));
  const outcomeOf = (line: number): PlacedOutcome => ({
    outcome: outcomes.get(line) ?? 'kept',
    cycle: null,
    batch: null,
  });
  return {
    file: input.name,
    format: transcript.codec.format.name,
    state: { kind: 'planned', reason: planned.kind === 'skip' ? planned.reason : null },
    bytes: { before: transcript.source.sizeBytes, after: null },
    tokens: { ...totalTokens(conversations), by: TOKEN_MEASURE },
    ...describeContents(transcript, { policy, outcomeOf, clips: [], isOriginal: true, mask }),
  };
}

function describeCompacted(
  current: Prepared,
  { input, policy }: ReportFileRequest,
  { proof, mask }: { readonly proof: Result<Proof, Failure>; readonly mask: Mask },
): FileReport {
  const clips = clipTexts(current);
  const original = proof.ok ? proof.value.original : null;
  const transcript = original?.transcript ?? current;
  return {
    file: input.name,
    format: transcript.codec.format.name,
    state: proof.ok
      ? { kind: 'compacted', verified: proof.value.verified, cycles: proof.value.steps.toReversed().map(reportCycle) }
      : { kind: 'unproven', failure: proof.error, claims: parseClipArchiveHead(clips[0] ?? '') },
    bytes: { before: original?.sizeBytes ?? null, after: current.source.sizeBytes },
    tokens: {
      before: original === null ? null : tokensNow(original.transcript),
      after: tokensNow(current),
      by: TOKEN_MEASURE,
    },
    ...describeContents(transcript, {
      policy,
      outcomeOf: original?.outcomeOf ?? (() => KEPT),
      clips,
      isOriginal: original !== null,
      mask,
    }),
  };
}

function tokensNow({ conversations }: IndexedTranscript): number {
  return totalTokens(conversations.map(reportUnchanged)).before;
}

/** The texts of the clip-archives in a transcript. */
function clipTexts({ conversations, readMessage }: IndexedTranscript): readonly string[] {
  return conversations.flatMap(({ view }) => {
    const text = view.prior === null ? '' : (readMessage(view.prior)?.content ?? '');
    return isClipArchiveText(text) ? [text] : [];
  });
}

function reportCycle({ compaction, left }: ProvenStep): ReportedCycle {
  const { source, output, kept, cycles, createdAt } = compaction;
  return {
    at: createdAt.toISOString(),
    source: { sha256: source.sha256, bytes: source.sizeBytes, lines: source.lineCount },
    output: { sha256: output.sha256, bytes: output.sizeBytes },
    keptLines: kept.reduce((sum, { lineCount }) => sum + lineCount, 0),
    archivedLines: left.size,
    made: cycles.flatMap(({ made }) =>
      made.map((batch) => ({ ...reportBatch(batch), id: batch.id, sources: batch.sources })),
    ),
    live: cycles.flatMap(({ live }) => live.map((batch) => ({ ...reportBatch(batch), id: batch.id }))),
  };
}
