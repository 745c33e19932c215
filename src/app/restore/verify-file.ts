import { groupFactsOf, type PlanMessage, viewConversation } from '../../core/plan/view.ts';
import { ok, type Result } from '../../core/result.ts';
import { findGroups } from '../../core/tool-groups.ts';
import type { Archive, StoredCompaction, StoredCycle, StoredLine } from '../../ports/archive.ts';
import { keptLineLookup } from '../compact/compose.ts';
import type { AppDeps } from '../contract/deps.ts';
import { carriedFailure, type Failure } from '../contract/failure.ts';
import type { VerifyProblem, VerifyReport } from '../contract/reports.ts';
import type { VerifyFileRequest } from '../contract/requests.ts';
import { splitConversations } from '../read/conversations.ts';
import { createLineageCheck, findRewrittenCycle } from '../read/find-cycles.ts';
import {
  codecBefore,
  findRewrittenKey,
  isOtherFormat,
  isWrittenAnew,
  locateCompaction,
  notFound,
  readStage,
  type Stage,
  summariesOf,
  withCompacted,
} from '../read/open-compacted.ts';
import { unitOf } from '../read/records.ts';
import { isLineEnd, provenLines, restoredLines, RestoreError } from '../read/restored-lines.ts';
import { checkBatches } from './verify-batches.ts';

/** Proves that a compacted file and the archive together hold the original, back to its first compaction; or says what is wrong. */
export async function verifyFile(deps: AppDeps, { input }: VerifyFileRequest): Promise<Result<VerifyReport, Failure>> {
  return withCompacted(deps, input, ({ stage, archive }) => verifyStages(deps, { stage, archive, name: input.name }));
}

async function verifyStages(
  deps: AppDeps,
  { stage: first, archive, name }: { readonly stage: Stage; readonly archive: Archive; readonly name: string },
): Promise<Result<VerifyReport, Failure>> {
  const newest = locateCompaction(deps, archive, first);
  if (
    newest === null ||
    (isOtherFormat(newest, first) && isWrittenAnew(deps, { archive, compaction: newest, stage: first }))
  )
    return notFound(deps, { stage: first, file: name, archive });
  const keptLines = newest.kept.reduce((sum, run) => sum + run.lineCount, 0);
  const ownLines = newest.inserted.filter((one) => !isLineEnd(one)).length;
  const counts = {
    archived: 0,
    cycles: 0,
    batches: newest.cycles.reduce((sum, { live }) => sum + live.length, 0),
  };
  let original = newest.source;
  let problems: readonly VerifyProblem[] = [];
  let stage: Stage | null = first;
  const lineage = createLineageCheck(archive);
  let isStillCompacted = false;
  while (stage !== null && problems.length === 0) {
    const compaction = locateCompaction(deps, archive, stage);
    if (compaction === null) {
      const rewritten = findRewrittenCycles(deps, archive, stage);
      lineage.addFound(rewritten);
      isStillCompacted = rewritten.length > 0 || findRewrittenKey(deps, archive, stage) !== null;
      problems = lineage.orphans().map(describeOrphan);
      break;
    }
    // What it was before the last compaction is proven by now; what stands there was not written by this program.
    if (stage !== first && isWrittenAnew(deps, { archive, compaction, stage })) {
      isStillCompacted = true;
      break;
    }
    lineage.add(compaction);
    counts.cycles += 1;
    counts.archived += compaction.source.lineCount - compaction.kept.reduce((sum, run) => sum + run.lineCount, 0);
    original = compaction.source;
    const before = await stageBefore(deps, { stage, archive, name, compaction });
    problems = [...before.problems, ...(before.stage === null ? [] : checkBatches(deps, compaction, before.linesOf))];
    if (before.stage !== null) problems = [...problems, ...checkGroups(before.stage, compaction)];
    stage = before.stage;
  }
  return ok({
    schema: 'compact/verify@1',
    file: name,
    format: first.codec.format.name,
    result: problems.length === 0 ? 'verified' : 'failed',
    cycles: counts.cycles,
    lines: {
      kept: keptLines,
      archived: counts.archived,
      appended: Math.max(0, first.scan.lineCount - keptLines - ownLines),
    },
    batches: counts.batches,
    original: { sha256: original.sha256, bytes: original.sizeBytes },
    archive: archive.path,
    problems,
    ...(isStillCompacted && { isStillCompacted }),
  });
}

function findRewrittenCycles(deps: AppDeps, archive: Archive, stage: Stage): readonly StoredCycle[] {
  return summariesOf(stage).flatMap(({ clip }) =>
    clip === undefined ? [] : (findRewrittenCycle(deps, archive, clip)?.cycle ?? []),
  );
}

function describeOrphan({ conversationId, cycle }: StoredCycle): VerifyProblem {
  const message = `cycle ${cycle} of conversation ${conversationId} continues one that is not in the archive: what it was before cannot be had`;
  return { kind: 'missing-batch', message };
}

type StageBefore = {
  readonly stage: Stage | null;
  readonly problems: readonly VerifyProblem[];
  /** Summarized lines, by the id of their batch. */
  readonly linesOf: ReadonlyMap<number | null, number>;
};

/** What the file was before a compaction, or why that cannot be had. */
async function stageBefore(
  deps: AppDeps,
  input: {
    readonly stage: Stage;
    readonly archive: Archive;
    readonly name: string;
    readonly compaction: StoredCompaction;
  },
): Promise<StageBefore> {
  const { stage, archive, compaction, name } = input;
  const { runtime } = deps;
  const { hasBom, sizeBytes: ownBytes } = compaction.source;
  const linesOf = new Map<number | null, number>();
  const count = ({ fate, batchId }: StoredLine): void => {
    if (fate === 'summarized') linesOf.set(batchId, (linesOf.get(batchId) ?? 0) + 1);
  };
  const restore = { compaction, archive, runtime, output: stage.lines, unit: unitOf(stage.codec) };
  // Read, proven and counted at one go: unpacking the archive is most of the work.
  const checkedLines = (): Iterable<Uint8Array> =>
    provenLines(runtime, restoredLines({ ...restore, onArchived: count }), compaction.source);
  const failed = (problem: VerifyProblem): StageBefore => ({ stage: null, problems: [problem], linesOf });
  try {
    const before = await readStage(deps, {
      lines: checkedLines,
      hasBom,
      ownBytes,
      codec: codecBefore(deps, compaction, stage),
      name,
    });
    if (!before.ok) return failed({ kind: 'wrong-hash', message: 'it could not be read' });
    return { stage: { ...before.value, lines: () => restoredLines(restore) }, problems: [], linesOf };
  } catch (error) {
    const problem = describeError(error);
    if (problem === null) throw error;
    return failed(problem);
  }
}

function describeError(error: unknown): VerifyProblem | null {
  if (error instanceof RestoreError) {
    return { kind: error.problem, message: error.message, ...(error.line === null ? {} : { line: error.line }) };
  }
  const failure = carriedFailure(error);
  return failure?.kind === 'damaged' ? { kind: 'damaged-archive', message: failure.reason } : null;
}

/** No call of the original stands on one side of the cut and its result on the other; a chain of parents leads to the summary. */
export function checkGroups(original: Stage, compaction: StoredCompaction): readonly VerifyProblem[] {
  const { codec, session, scan } = original;
  const isKept = keptLineLookup(compaction);
  const { conversations } = splitConversations({
    entries: scan.entries.slice(0, compaction.source.lineCount),
    codec,
    session,
    conversation: '',
    hashLine: () => '',
    hashText: () => '',
  });
  return conversations.flatMap(({ entries, context, cutProblem }): readonly VerifyProblem[] => {
    const { messages } = viewConversation({ entries, ...context, carried: [], keepSystem: true });
    const firstKept = messages.find((message) => isKept(message.line));
    const isWhole = messages.every((message) => isKept(message.line));
    const mayBreak = codec.format.isChain && !isWhole;
    const broken = mayBreak && firstKept !== undefined ? cutProblem(firstKept.line) : null;
    return [
      ...partedGroups(messages, isKept),
      ...(broken === null
        ? []
        : [{ kind: 'broken-chain', message: `the kept part begins at line ${firstKept?.line}: ${broken}` } as const]),
    ];
  });
}

function partedGroups(messages: readonly PlanMessage[], isKept: (line: number) => boolean): readonly VerifyProblem[] {
  const groups = findGroups(messages.map(groupFactsOf));
  return messages.flatMap((message, index): readonly VerifyProblem[] => {
    const first = messages[groups[index] ?? index];
    if (first === undefined || isKept(first.line) === isKept(message.line)) return [];
    return [
      {
        kind: 'parted-group',
        message: `lines ${first.line} and ${message.line} of the original belong together, one is kept and one is not`,
      },
    ];
  });
}
