import { buildClipArchive } from '../../core/clip-archive.ts';
import { groupsOf, type PlanMessage, viewConversation } from '../../core/plan/view.ts';
import { err, type Result } from '../../core/result.ts';
import { isClipArchiveText } from '../../core/split.ts';
import type { Archive, StoredCompaction, StoredCycle, StoredLine } from '../../ports/archive.ts';
import type { Json } from '../../ports/codec.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, attemptDamaged, attemptStep, type Failure } from '../contract/failure.ts';
import type { VerifyProblem, VerifyReport } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { splitConversations } from '../read/conversations.ts';
import { createLineageCheck, insertedRecords } from '../read/lineage.ts';
import {
  findKnownClips,
  isOtherFormat,
  loadParent,
  locateCompaction,
  type Located,
  notFound,
  readBefore,
  restoringOf,
  type Revision,
  wasRewritten,
  withCompacted,
} from '../read/open-compacted.ts';
import { keptHashes } from '../read/records.ts';
import { attemptRestore, provenLines } from '../read/restored-lines.ts';
import { openUnsettled } from '../write/settle.ts';

/** Proves that a compacted file and the archive together contain the original, back to its first compaction, but for what was erased; otherwise reports what is wrong. */
export async function verifyFile(
  deps: AppDeps,
  { input }: { input: TranscriptInput },
): Promise<Result<VerifyReport, Failure>> {
  const verified = await withCompacted(deps, input, ({ revision, archive }) =>
    verifyRevisions(deps, { revision, archive, name: input.name }),
  );
  if (verified.ok || verified.error.kind !== 'not-a-transcript') return verified;
  const { looksLike } = verified.error;
  return attempt({ file: input.name }, async () => {
    const at = await (await openUnsettled(deps))?.runs.findOutput(deps.files.absolute(input.path));
    if (at === undefined || at === null) return verified;
    return err({ kind: 'overwritten', file: input.name, at: at.toISOString(), looksLike });
  });
}

/** A compaction that was proven to be reversible. */
export type ProvenStep = {
  readonly compaction: StoredCompaction;
  /** The transcript as it was before. */
  readonly before: Revision;
  /** The lines that left, without their bytes, by their number in `before`. */
  readonly left: ReadonlyMap<number, LeftLine>;
};

export type LeftLine = Pick<StoredLine, 'id' | 'outcome' | 'batchId'>;

/** Verifies a file, newest compaction first. `onStep` gets each compaction that is proven as a whole; the archive can be read until this is done. */
export async function verifyRevisions(
  deps: AppDeps,
  {
    revision: first,
    archive,
    name,
    onStep,
  }: { revision: Revision; archive: Archive; name: string; onStep?: (step: ProvenStep) => void },
): Promise<VerifyReport> {
  const found = await locateCompaction(deps, archive, first);
  if (
    found === null ||
    (isOtherFormat(found.compaction, first) && (await wasRewritten(deps, { archive, located: found, revision: first })))
  )
    return notFound(deps, { revision: first, file: name, archive });
  const newest = found.compaction;
  const keptLines = newest.kept.reduce((sum, run) => sum + run.lineCount, 0);
  const ownLines = newest.inserted.length;
  const counts = {
    archived: 0,
    cycles: 0,
    batches: newest.cycles.reduce((sum, { live }) => sum + live.length, 0),
  };
  let original = newest.source;
  let problems: readonly VerifyProblem[] = [];
  let revision: Revision | null = first;
  let previous: StoredCompaction | null = null;
  const erased = new Map<string, Erased>();
  const lineage = createLineageCheck(archive);
  let isStillCompacted = false;
  let isRewritten = false;
  while (revision !== null && problems.length === 0) {
    const located: Located | null =
      previous === null
        ? found
        : ((await locateCompaction(deps, archive, revision)) ?? (await loadParent(archive, previous)));
    if (located === null) {
      const rewritten = (await findKnownClips(deps, archive, revision)).filter(({ isPasted }) => !isPasted);
      await lineage.addFound(rewritten.map(({ cycle }) => cycle));
      isStillCompacted = rewritten.length > 0;
      problems = lineage.orphans().map(describeOrphan);
      break;
    }
    // Everything before the last compaction is proven by now, and this revision was not written by us.
    const { compaction, rewrite }: Located = located;
    if (
      previous !== null &&
      erased.size === 0 &&
      rewrite === null &&
      (await wasRewritten(deps, { archive, located, revision }))
    ) {
      isStillCompacted = true;
      break;
    }
    previous = compaction;
    isRewritten ||= rewrite !== null;
    await lineage.add(compaction);
    counts.cycles += 1;
    counts.archived += compaction.source.lineCount - compaction.kept.reduce((sum, run) => sum + run.lineCount, 0);
    original = compaction.source;
    const left = new Map<number, LeftLine>();
    const onLeft = onStep && (({ line, id, outcome, batchId }: StoredLine) => left.set(line, { id, outcome, batchId }));
    const before = await revisionBefore(deps, { revision, archive, name, located, onLeft, erased });
    problems = [
      ...before.problems,
      ...(before.revision === null ? [] : await checkBatches(deps, compaction, before.linesOf)),
    ];
    const isWhole = erased.size === 0;
    if (before.revision !== null) problems = [...problems, ...checkGroups(before.revision, compaction, isWhole)];
    revision = before.revision;
    if (revision !== null && problems.length === 0 && isWhole) onStep?.({ compaction, before: revision, left });
  }
  return {
    schema: 'compact/verify@1',
    file: name,
    format: first.codec.format.name,
    result: problems.length > 0 ? 'failed' : erased.size > 0 ? 'reduced' : 'verified',
    ...(erased.size > 0 && { erased: [...erased.values()] }),
    cycles: counts.cycles,
    lines: {
      kept: keptLines,
      archived: counts.archived,
      appended: Math.max(0, first.recordIndex.lineCount - keptLines - ownLines),
    },
    batches: counts.batches,
    original: { sha256: original.sha256, bytes: original.sizeBytes },
    archive: archive.path,
    problems,
    ...(isRewritten && { isRewritten }),
    ...(isStillCompacted && { isStillCompacted }),
  };
}

function describeOrphan({ conversationId, cycle }: StoredCycle): VerifyProblem {
  const message = `cycle ${cycle} of conversation ${conversationId} continues one that is not in the archive: what it was before cannot be had`;
  return { kind: 'missing-batch', message };
}

type Erased = NonNullable<VerifyReport['erased']>[number];

type RevisionBefore = {
  readonly revision: Revision | null;
  readonly problems: readonly VerifyProblem[];
  /** The number of summarized lines by the id of their batch. */
  readonly linesOf: ReadonlyMap<number | null, number>;
};

/** What the file was before a compaction, or why that cannot be restored. */
async function revisionBefore(
  deps: AppDeps,
  input: {
    readonly revision: Revision;
    readonly archive: Archive;
    readonly name: string;
    readonly located: Located;
    readonly onLeft?: ((line: StoredLine) => void) | undefined;
    /** What was erased of this and later revisions, by receipt. What is found is added. */
    readonly erased: Map<string, Erased>;
  },
): Promise<RevisionBefore> {
  const { revision, archive, located, name, onLeft, erased } = input;
  const { compaction, rewrite } = located;
  const linesOf = new Map<number | null, number>();
  const onArchived = (line: StoredLine): void => {
    const { outcome, batchId } = line;
    if (outcome === 'summarized') linesOf.set(batchId, (linesOf.get(batchId) ?? 0) + 1);
    onLeft?.(line);
  };
  const failed = (...problems: readonly VerifyProblem[]): RevisionBefore => ({ revision: null, problems, linesOf });
  if (rewrite !== null && rewrite.losses.length > 0)
    return failed(...rewrite.losses.map((message) => ({ kind: 'changed-message', message }) as const));
  const restore = await restoringOf(deps, { archive, located, revision });
  const note = ({ receipt, at }: ErasureMark, lines: number): void => {
    const known = erased.get(receipt)?.lines ?? 0;
    erased.set(receipt, { receipt, at: at.toISOString(), lines: known + lines });
  };
  if (compaction.erased !== null) note(compaction.erased, 0);
  const onErased = (mark: ErasureMark, isEarlier: boolean): void => note(mark, isEarlier ? 0 : 1);
  const later = new Map(erased);
  // Indexes, proves and counts in one pass: decompressing the archive is most of the work.
  const lines = (): ReturnType<typeof provenLines> => {
    for (const [receipt, counted] of later) erased.set(receipt, counted);
    return provenLines({ ...restore, onArchived, ...(later.size > 0 && { onErased }) });
  };
  const read = await attemptDamaged(() =>
    attemptRestore(() =>
      attemptStep(() =>
        readBefore(deps, { archive, located, revision, restore, lines, name, isReadAgain: onLeft !== undefined }),
      ),
    ),
  );
  if (!read.ok) return failed({ kind: 'damaged-archive', message: read.error.reason });
  if (!read.value.ok) {
    const { kind, message, line } = read.value.error;
    return failed({ kind, message, ...(line !== null && { line }) });
  }
  const before = read.value.value;
  if (!before.ok) return failed({ kind: 'wrong-hash', message: 'it could not be read' });
  return { revision: before.value, problems: [], linesOf };
}

/** Checks that no tool call was separated from its result, and that a chain of parents leads to the summary, where no line of it was erased. */
export function checkGroups(original: Revision, compaction: StoredCompaction, isWhole = true) {
  const { codec, session, recordIndex } = original;
  const hashOf = keptHashes(compaction);
  const isKept = (line: number): boolean => hashOf(line) !== undefined;
  const { conversations } = splitConversations({
    entries: recordIndex.entries.slice(0, compaction.source.lineCount),
    codec,
    session,
    conversation: '',
    hashLine: () => '',
    hashText: () => '',
  });
  return conversations.flatMap(({ entries, context, cutProblem }): readonly VerifyProblem[] => {
    const { messages } = viewConversation({ entries, ...context, carried: [], keepSystem: true });
    const firstKept = messages.find((message) => isKept(message.line));
    const hasLeft = !messages.every((message) => isKept(message.line));
    const mayBreak = codec.format.layout.links === 'parents' && hasLeft && isWhole;
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
  const groups = groupsOf(messages);
  const problems: VerifyProblem[] = [];
  for (const [index, message] of messages.entries()) {
    const first = messages[groups[index] ?? index] ?? message;
    if (first === message || isKept(first.line) === isKept(message.line)) continue;
    const lines = `lines ${first.line} and ${message.line} of the original`;
    problems.push({ kind: 'parted-group', message: `${lines} belong together, one is kept and one is not` });
  }
  return problems;
}

/**
 * Checks that every batch of a clip-archive exists and is unchanged, in the archive and in the file, and that no batch has more lines than
 * messages (it may have fewer: some were carried from an earlier clip-archive). `linesOf`: summarized lines by batch id.
 */
async function checkBatches(deps: AppDeps, compaction: StoredCompaction, linesOf: ReadonlyMap<number | null, number>) {
  const recordOf = await insertedRecords(deps, compaction);
  return compaction.cycles.flatMap((cycle) => [
    ...checkLive(cycle),
    ...checkContents(deps, compaction, cycle),
    ...(cycle.isErased ? [] : checkText(textOf(recordOf(cycle.clipSha256)), compaction, cycle)),
    ...cycle.made.flatMap((batch): readonly VerifyProblem[] => {
      const lines = linesOf.get(batch.id) ?? 0;
      if (lines <= batch.messageCount) return [];
      const message = `batch ${batch.label} counts ${batch.messageCount} messages but ${lines} lines belong to it`;
      return [{ kind: 'wrong-count', message }];
    }),
    ...checkOwned(cycle, linesOf),
  ]);
}

function checkLive(cycle: StoredCycle): readonly VerifyProblem[] {
  const counted = cycle.live.reduce((sum, { messageCount }) => sum + messageCount, 0);
  if (counted === cycle.messagesCompressed) return [];
  const message = `the batches of conversation ${cycle.conversationId} stand for ${counted} messages, ${cycle.messagesCompressed} were compressed: a batch is missing`;
  return [{ kind: 'missing-batch', message }];
}

/** Checks that every summarized line belongs to a batch that exists. */
function checkOwned(cycle: StoredCycle, linesOf: ReadonlyMap<number | null, number>): readonly VerifyProblem[] {
  const orphans = linesOf.get(null) ?? 0;
  if (orphans === 0 || cycle.made.length === 0) return [];
  const message = `${orphans} archived lines belong to no batch of conversation ${cycle.conversationId}`;
  return [{ kind: 'missing-batch', message }];
}

/** Checks batches that are not shown too: those in the middle, and the sources of merged ones. One that was erased has no text. */
function checkContents({ runtime }: AppDeps, { erased }: StoredCompaction, { live, made }: StoredCycle) {
  const changed = [...live, ...made].filter(
    ({ content, contentSha256 }) => runtime.sha256(content) !== contentSha256 && (erased === null || content !== ''),
  );
  return [...new Set(changed.map(({ label }) => label))].map((label): VerifyProblem => ({
    kind: 'changed-batch',
    message: `batch ${label} was changed in the archive since it was stored`,
  }));
}

/**
 * Checks that the clip-archive in the file has the first line and the batches that are stored. Sections of requests and rules may be between
 * them.
 */
function checkText(text: string | null, { settings }: StoredCompaction, cycle: StoredCycle): readonly VerifyProblem[] {
  const expected = buildClipArchive(cycle.live, readClipSizes(settings), cycle.messagesCompressed, cycle.cycle);
  const [head = '', ...batches] = expected.split('\n');
  const isWhole = text !== null && text.startsWith(`${head}\n`) && text.includes(`\n${batches.join('\n')}`);
  if (isWhole) return [];
  const message = `the clip-archive of conversation ${cycle.conversationId} does not say what its ${cycle.live.length} stored batches say: a batch is missing or was changed`;
  return [{ kind: 'missing-batch', message }];
}

/** The longest clip-archive text in a record: the summary's text, whatever the format calls its field. */
function textOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return isClipArchiveText(value) ? value : null;
  if (value === null || value === undefined || typeof value !== 'object') return null;
  const texts = Object.values(value).map((part) => textOf(part));
  return texts.reduce<string | null>(
    (best, text) => (text !== null && text.length > (best?.length ?? -1) ? text : best),
    null,
  );
}

function readClipSizes(settings: string): { readonly clipFirst: number; readonly clipLast: number } {
  const value: unknown = JSON.parse(settings);
  const read = (key: string): number => {
    const size: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    return typeof size === 'number' ? size : 0;
  };
  return { clipFirst: read('clipFirst'), clipLast: read('clipLast') };
}
