import { parseClipArchiveHead } from '../../core/clip-archive.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import { isClipArchiveText } from '../../core/split.ts';
import { withPins } from '../compact/choices.ts';
import { forecast } from '../compact/plan-report.ts';
import { reportBatch, reportUnchanged, tokensNow, totalTokens } from '../compact/report.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { RawLine } from '../../ports/files.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { FileReport, PlacedOutcome, ReportedCycle } from '../contract/file-report.ts';
import type { VerifyReport } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { joinLines, withCompacted } from '../read/open-compacted.ts';
import { type IndexedTranscript, indexTranscript, type Prepared, prepareTranscript } from '../read/prepare.ts';
import { concat, CR, LF, UTF8_BOM } from '../read/records.ts';
import { type ProvenStep, verifyRevisions } from '../restore/verify-file.ts';
import { beginsWith, isOutputThere, openUnsettled } from '../write/settle.ts';
import { describeContents } from './report-contents.ts';
import { scoreRows } from './score-file.ts';

export type ReportFileRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  /** Show what the next compaction would do, instead of what was done. */
  readonly isPlan: boolean;
};

type ReportDeps = AppDeps & { readonly mask: Mask };

/**
 * Reads a compacted file with its original, or the file alone for a plan or if its archive is gone. An original leads to its
 * compacted file.
 */
export async function reportFile(deps: ReportDeps, request: ReportFileRequest): Promise<Result<FileReport, Failure>> {
  const { input, isPlan } = request;
  const report = await reportThis(deps, request);
  if (isPlan || report.ok || report.error.kind !== 'not-compacted') return report;
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const path = await findCompacted(deps, input);
    return path === null ? report : reportThis(deps, { ...request, input: { path, name: path, format: null } });
  });
}

async function reportThis(deps: ReportDeps, request: ReportFileRequest): Promise<Result<FileReport, Failure>> {
  const { input, isPlan } = request;
  const policy = isPlan ? request.policy : { ...request.policy, keepInvalid: true };
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const current = await prepareTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    try {
      if (isPlan) {
        const pinning = { input, policy, archive: await openUnsettled(deps), isStored: false };
        return ok(describePlan(await withPins(deps, current, pinning), request, deps.mask));
      }
      const proof = await withCompacted(deps, input, async ({ revision, archive }): Promise<Proof> => {
        const steps: ProvenStep[] = [];
        const { name } = input;
        const onStep = (step: ProvenStep): unknown => steps.push(step);
        const verified = await verifyRevisions(deps, { revision, archive, name, onStep });
        return { verified, steps, original: await readOriginal(deps, { steps, archive, name, policy }) };
      });
      if (!proof.ok && !isAboutArchive(proof.error)) return proof;
      return ok(describeCompacted(current, { ...request, policy }, { proof, mask: deps.mask }));
    } finally {
      current.source.close();
    }
  });
}

/** The newest compacted file of an original that is still as it was written, apart from lines added at its end; null: there is none. */
async function findCompacted(deps: AppDeps, { path }: TranscriptInput): Promise<string | null> {
  const opened = await deps.openArchive('existing');
  const archive = opened.ok ? opened.value : null;
  if (archive === null) return null;
  const source = deps.files.absolute(path);
  // The runs also know the outputs that were written from a stored compaction of another file with the same content.
  for (const { compactionId, outputPath, sourcePath } of (await archive.runs.list()).flatMap(({ files }) => files)) {
    if (outputPath === null || sourcePath !== source || outputPath === source) continue;
    const compaction = await archive.loadCompaction(compactionId);
    if (compaction === null || !(await isOutputThere(deps, compaction))) continue;
    if (await beginsWith(deps, path, compaction.source)) return outputPath;
  }
  return null;
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
  { proof, mask }: { proof: Result<Proof, Failure>; mask: Mask },
): FileReport {
  const clips = current.conversations.flatMap(({ view }) => {
    const text = view.prior === null ? '' : (current.readMessage(view.prior)?.content ?? '');
    return isClipArchiveText(text) ? [text] : [];
  });
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

/** A compacted transcript as if it had never been compacted. */
type Original = {
  readonly transcript: IndexedTranscript;
  readonly sizeBytes: number;
  readonly outcomeOf: (line: number) => PlacedOutcome;
};

type OriginalInput = Pick<Proof, 'steps'> & {
  readonly archive: Archive;
  readonly name: string;
  readonly policy: TranscriptPolicy;
};

/** Restores the original into memory and indexes it. */
async function readOriginal(deps: AppDeps, { steps, archive, name, policy }: OriginalInput): Promise<Original | null> {
  const first = steps.at(-1)?.before;
  if (first === undefined) return null;
  const pieces: Uint8Array[] = first.hasBom ? [UTF8_BOM] : [];
  for await (const batch of joinLines([first.lines, ...first.appended]))
    for (const bytes of batch) pieces.push(Uint8Array.from(bytes));
  const bomLength = first.hasBom ? UTF8_BOM.length : 0;
  const whole = concat(pieces);
  const read = (start: number, length: number): Uint8Array => whole.subarray(start, start + length);
  const source = { bomLength, sizeBytes: whole.length, read, lines: () => splitLines(whole, bomLength) };
  const transcript = await indexTranscript(deps, {
    source,
    codec: first.codec,
    name,
    isOneFormat: false,
    policy: { ...policy, keepInvalid: true },
    archive: async () => null,
  });
  const outcomeOf = followLines(steps.toReversed(), await quotedLines(archive, steps[0]?.compaction));
  return { transcript, sizeBytes: source.sizeBytes, outcomeOf };
}

function* splitLines(whole: Uint8Array, bomLength: number): Generator<RawLine> {
  let line = 0;
  for (let start = bomLength; start < whole.length;) {
    const found = whole.indexOf(LF, start);
    const end = found < 0 ? whole.length : found + 1;
    const eolLength = found < 0 ? 0 : found > start && whole[found - 1] === CR ? 2 : 1;
    line += 1;
    yield { line, start, bytes: whole.subarray(start, end), eolLength };
    start = end;
  }
}

/** The rows of the lines that the newest clip-archives quote word for word. */
async function quotedLines(archive: Archive, newest: StoredCompaction | undefined): Promise<ReadonlySet<number>> {
  const quoted = new Set<number>();
  for (const { id } of newest?.cycles ?? []) for (const line of await archive.readSurvivors(id)) quoted.add(line.id);
  return quoted;
}

const KEPT: PlacedOutcome = { outcome: 'kept', cycle: null, batch: null };

/** Follows a line of the original from compaction to compaction, oldest first, until it leaves. */
function followLines(steps: readonly ProvenStep[], quoted: ReadonlySet<number>): (line: number) => PlacedOutcome {
  const places = steps.map(({ compaction }) => createPlaceFinder(compaction));
  const labels = new Map(
    steps
      .flatMap(({ compaction }) => compaction.cycles.flatMap(({ made }) => made))
      .map(({ id, label }) => [id, label]),
  );
  return (original) => {
    let line = original;
    for (const [at, { left }] of steps.entries()) {
      const gone = left.get(line);
      if (gone !== undefined) {
        const batch = gone.batchId === null ? null : (labels.get(gone.batchId) ?? null);
        const isQuoted = gone.outcome === 'quoted' && quoted.has(gone.id);
        const summarized = gone.outcome === 'other' ? 'archived' : 'summarized';
        return { outcome: isQuoted ? 'quoted' : summarized, cycle: at + 1, batch };
      }
      line = places[at]?.(line) ?? line;
    }
    return KEPT;
  };
}

/** Where a line that stays, or that was appended, is in the output of a compaction. */
function createPlaceFinder({ kept, inserted, source }: StoredCompaction): (line: number) => number {
  const own = inserted.map(({ beforeLine }) => beforeLine);
  const ownBefore = (line: number): number => own.filter((beforeLine) => beforeLine <= line).length;
  const starts: number[] = [];
  let count = 0;
  for (const run of kept) {
    starts.push(count);
    count += run.lineCount;
  }
  return (line) => {
    if (line > source.lineCount) return count + own.length + line - source.lineCount;
    const at = kept.findLastIndex(({ firstLine }) => firstLine <= line);
    return (starts[at] ?? 0) + line - (kept[at]?.firstLine ?? line) + 1 + ownBefore(line);
  };
}
