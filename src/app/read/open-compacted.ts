import { err, type Result } from '../../core/result.ts';
import type { Entry } from '../../core/transcript.ts';
import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure, mustFile, stop } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { openSettled } from '../write/settle.ts';
import { asRecordSource, indexRecords, type LineStream, type RecordIndex } from './index-records.ts';
import { findRewrittenCycle, findRewrittenCycles } from './lineage.ts';
import { openTranscript } from './open-transcript.ts';
import { LF, readRecords } from './records.ts';
import {
  attemptRestore,
  findRestoreProblem,
  hashStart,
  type RestoredLines,
  type RestoreInput,
} from './restored-lines.ts';
import { findRewrite, type Rewrite } from './rewritten-document.ts';

type OpenCompacted = {
  readonly revision: Revision;
  readonly archive: Archive;
  readonly source: SourceFile;
  /** Of the whole file, in hex. */
  readonly sha256: string;
};

/** Opens a file that may have been compacted, indexes it, and passes it to `work` together with the archive. */
export async function withCompacted<T>(
  deps: AppDeps,
  input: TranscriptInput,
  work: (opened: OpenCompacted) => Promise<T>,
): Promise<Result<T, Failure>> {
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const done = await attemptRestore(() => openAndWork(deps, input, work));
    if (done.ok) return done;
    if (done.error.kind === 'erased') return err({ kind: 'erased', file: input.name, ...done.error.mark });
    return err({ kind: 'altered', file: input.name, line: done.error.line, problem: done.error.message });
  });
}

async function openAndWork<T>(deps: AppDeps, input: TranscriptInput, work: (opened: OpenCompacted) => Promise<T>) {
  const archive = await openSettled(deps, 'existing');
  mustFile(await deps.files.clearLeftovers(input.path));
  const { source, codec } = await openTranscript(input, deps);
  try {
    const lines = async function* (): AsyncGenerator<Iterable<Uint8Array>> {
      yield readLineBytes(source, codec);
    };
    const hash = deps.runtime.createHash();
    const own = { lines, appended: [], heldBytes: 0, ownLines: Number.POSITIVE_INFINITY };
    const revision = await readRevision(deps, { ...own, hash, hasBom: source.bomLength > 0, codec, name: input.name });
    if (archive === null) return await notFound(deps, { revision, file: input.name, archive });
    return await work({ revision, archive, source, sha256: hash.digest() });
  } finally {
    source.close();
  }
}

function* readLineBytes(source: SourceFile, codec: Codec): Generator<Uint8Array> {
  for (const { bytes } of readRecords(source, codec)) yield bytes;
}

/** A revision of a transcript: the file, or what it was before one or more compactions. */
export type Revision = {
  /** As it was when it was compacted; of the file, and of a document that its program wrote anew, all of it. */
  readonly lines: LineStream;
  /** What was appended since, to each later revision. */
  readonly appended: readonly RestoredLines[];
  /** What this and later revisions hold in memory of their lines. */
  readonly heldBytes: number;
  readonly hasBom: boolean;
  readonly codec: Codec;
  /** The session that indexed it. */
  readonly session: CodecSession;
  readonly recordIndex: RecordIndex;
  /** Records after these were added after a later compaction: summaries in them do not matter for earlier revisions. */
  readonly ownLines: number;
};

/** Indexes a revision; invalid lines are allowed. */
export async function readRevision(
  deps: AppDeps,
  { name, hash, ...file }: Omit<Revision, 'session' | 'recordIndex'> & { name: string; hash?: RunningHash },
): Promise<Revision> {
  const { lines, hasBom, codec } = file;
  const session = codec.open();
  const source = asRecordSource(lines, hasBom, codec);
  const allowed = { keepInvalid: true, isOneFormat: false };
  const recordIndex = await indexRecords(deps, { source, codec, session, name, hash, ...allowed });
  return { ...file, session, recordIndex };
}

/** The summaries in a revision: one of these lines may be the clip-archive of a compaction. */
export function summariesOf({ recordIndex, ownLines }: Revision): readonly Entry[] {
  return recordIndex.entries.filter((entry) => entry.sha256 !== undefined && entry.line <= ownLines);
}

/** A compaction that wrote a revision. `rewrite`: its program has written the document anew since; null: the bytes count. */
export type Located = { readonly compaction: StoredCompaction; readonly rewrite: Rewrite | null };

/**
 * The latest compaction that wrote a revision, found by the sha256 of its clip-archives' lines, in documents also by their text; null: this
 * archive has none. If several rows have the same line (copies of one file), it is the one whose whole output is there (`preferredId` before
 * others), otherwise the newest, whose output was changed since.
 */
export async function locateCompaction(
  deps: AppDeps,
  archive: Archive,
  revision: Revision,
  preferredId?: number,
): Promise<Located | null> {
  // Lists may contain a conversation several times: each of its summaries leads to the cycles of all.
  const clips = new Set(summariesOf(revision).map(({ sha256 }) => sha256 ?? ''));
  const found = new Set<number>();
  for (const clip of clips) for (const { compactionId } of await archive.findCycles(clip)) found.add(compactionId);
  const rank = (id: number): number => (id === preferredId ? Number.POSITIVE_INFINITY : id);
  const newestFirst = (ids: Iterable<number>): readonly number[] => [...ids].sort((a, b) => rank(b) - rank(a));
  let newest: StoredCompaction | null = null;
  for (const id of newestFirst(found)) {
    const candidate = await archive.loadCompaction(id);
    if (candidate !== null && (await isIntact(deps, candidate, revision)))
      return { compaction: candidate, rewrite: null };
    newest ??= candidate;
  }
  if (newest !== null) return { compaction: newest, rewrite: await rewriteOf(deps, newest, revision) };
  if (revision.codec.format.layout.kind !== 'document') return null;
  for (const { clip } of summariesOf(revision)) {
    if (clip === undefined) continue;
    for await (const { cycle } of findRewrittenCycles(deps, archive, clip)) found.add(cycle.compactionId);
  }
  for (const id of newestFirst(found)) {
    const compaction = await archive.loadCompaction(id);
    const rewrite = compaction === null ? null : await rewriteOf(deps, compaction, revision);
    if (compaction !== null && rewrite !== null) return { compaction, rewrite };
  }
  return null;
}

/** The compaction that another one continues, if the summary that leads to it was erased. */
export async function loadParent(archive: Archive, { erased, cycles }: StoredCompaction): Promise<Located | null> {
  const [parentId] = erased === null ? [] : cycles.flatMap(({ parentCompactionId }) => parentCompactionId ?? []);
  const compaction = parentId === undefined ? null : await archive.loadCompaction(parentId);
  return compaction === null ? null : { compaction, rewrite: null };
}

function rewriteOf(deps: AppDeps, compaction: StoredCompaction, { codec, recordIndex, lines }: Revision) {
  return findRewrite(deps, { compaction, codec, entries: recordIndex.entries, lines: lines() });
}

/** Whether a compaction's output is unchanged; appended lines do not matter. */
async function isIntact(deps: AppDeps, { output }: StoredCompaction, { lines, hasBom }: Revision): Promise<boolean> {
  const start = hashStart(deps.runtime, { sizeBytes: output.sizeBytes, hasBom });
  for await (const batch of lines()) for (const bytes of batch) start.add(bytes);
  return start.isFull() && start.digest() === output.sha256;
}

/** What restoring the revision before a compaction needs. */
export async function restoringOf(deps: AppDeps, { archive, located, revision }: WrittenBy): Promise<RestoreInput> {
  // The codec that read the original: what remains of it might be detected as another format.
  const codec = (await deps.formats.load(located.compaction.format)) ?? revision.codec;
  return { ...located, archive, runtime: deps.runtime, output: revision.lines, codec };
}

/** A revision, and the compaction that wrote it. */
type WrittenBy = { readonly archive: Archive; readonly located: Located; readonly revision: Revision };

/**
 * Indexes the revision before a compaction. `lines`: its own, followed by those of `revision` that were appended to the compaction's output.
 * `isReadAgain`: the caller reads them again. Otherwise nobody does, unless an earlier compaction made them.
 */
export async function readBefore(
  deps: AppDeps,
  input: WrittenBy & {
    readonly restore: RestoreInput;
    readonly lines: RestoredLines;
    readonly name: string;
    readonly isReadAgain: boolean;
  },
): Promise<Revision> {
  const { located, revision, restore, name } = input;
  const isFirst = located.compaction.cycles.every(({ parentCycleId }) => parentCycleId === null);
  const { hasBom, lineCount } = located.compaction.source;
  // A document's last record is the text after its list.
  const ownLines = located.rewrite === null ? lineCount : lineCount - 1;
  const file = { hasBom, ownLines, codec: restore.codec, name };
  if (located.rewrite !== null)
    return readRevision(deps, { ...file, lines: input.lines, appended: [], heldBytes: revision.heldBytes });
  const alreadyHeldBytes = isFirst && !input.isReadAgain ? Number.POSITIVE_INFINITY : revision.heldBytes;
  const { lines, rest, heldBytes } = splitLines(input.lines, lineCount, alreadyHeldBytes);
  const appended = [rest, ...revision.appended];
  const before = await readRevision(deps, { ...file, lines, appended, heldBytes: 0 });
  return { ...before, heldBytes: heldBytes() };
}

/** Parts of a file, one after the other. Appended lines start on a new line even if those before them have no ending. */
export async function* joinLines(parts: readonly LineStream[]): ReturnType<RestoredLines> {
  let last: Uint8Array = EMPTY;
  for (const part of parts) {
    let before = last;
    for await (const batch of part()) {
      const lines = [...batch];
      const first = lines.find(({ length }) => length > 0);
      if (before.length > 0 && first !== undefined && before.at(-1) !== LF && first.at(0) !== LF)
        yield [Uint8Array.of(LF)];
      if (first !== undefined) before = EMPTY;
      last = lines.findLast(({ length }) => length > 0) ?? last;
      yield lines;
    }
  }
}

const EMPTY = new Uint8Array();

/** Revisions hold this much in memory. One that does not fit is restored anew whenever it is read, from the one after it. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** The first `count` lines of a stream, and those that follow. Reading the first ones reads all, and holds what fits. */
function splitLines(all: RestoredLines, count: number, alreadyHeldBytes: number) {
  const own = holdLines(() => partsOf(all, 0, count));
  const rest = holdLines(() => partsOf(all, count, Number.POSITIVE_INFINITY));
  let source: RestoredLines | null = all;
  let heldBytes = alreadyHeldBytes;
  const lines: RestoredLines = async function* () {
    if (source === null) {
      yield* own.lines();
      return;
    }
    const found = [[] as Uint8Array[], [] as Uint8Array[]] as const;
    const sizes = [0, 0] as [number, number];
    let left = count;
    const fits = (): boolean => alreadyHeldBytes + sizes[0] + sizes[1] <= MAX_HELD_BYTES;
    for await (const batch of source()) {
      for (const [at, bytes] of fits() ? batch.entries() : []) {
        const part = at < left ? 0 : 1;
        sizes[part] += bytes.length;
        // Copied, because a line may be a small part of a large block.
        found[part].push(Uint8Array.from(bytes));
      }
      if (!fits()) for (const held of found) held.length = 0;
      yield batch.slice(0, left);
      left -= Math.min(left, batch.length);
    }
    if (!fits()) return;
    own.hold(found[0]);
    rest.hold(found[1]);
    source = null; // which holds the lines of all later revisions
    heldBytes += sizes[1];
  };
  return { lines, rest: rest.lines, heldBytes: () => heldBytes };
}

async function* partsOf(all: RestoredLines, from: number, to: number): ReturnType<RestoredLines> {
  let at = 0;
  for await (const batch of all()) {
    yield batch.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += batch.length;
  }
}

/** Reads lines, until they are given to hold. */
function holdLines(read: RestoredLines) {
  let lines = read;
  const hold = (held: readonly Uint8Array[]): void => {
    lines = async function* () {
      yield held;
    };
  };
  return { lines: (): ReturnType<RestoredLines> => lines(), hold };
}

/** Whether the producer converted a compacted file to another format. */
export function isOtherFormat({ format }: StoredCompaction, { codec }: Revision): boolean {
  return format !== codec.format.name;
}

/**
 * Whether the producer rewrote a list of messages, or a document in such a way that the original cannot be restored from it. `located` wrote
 * this revision.
 */
export async function wasRewritten(deps: AppDeps, written: WrittenBy): Promise<boolean> {
  const { revision, located } = written;
  const { compaction } = located;
  if (revision.codec.format.layout.kind === 'lines' && !isOtherFormat(compaction, revision)) return false;
  if (await isIntact(deps, compaction, revision)) return false;
  // Appended lines do not matter.
  const problem = await findRestoreProblem(await restoringOf(deps, written), compaction.source);
  return problem !== null && problem.kind !== 'erased';
}

/** The clip-archives that are in the archive, in records that another program wrote. */
export async function findKnownClips(deps: AppDeps, archive: Archive, revision: Revision) {
  const conversation = revision.recordIndex.entries.find((entry) => entry.conversation !== undefined)?.conversation;
  const known: { readonly cycle: StoredCycle; readonly key: string | null; readonly isPasted: boolean }[] = [];
  for (const { clip, isUnmarked } of summariesOf(revision)) {
    const found = clip === undefined ? null : await findRewrittenCycle(deps, archive, clip);
    if (clip === undefined || found === null) continue;
    // A person pasted the summary of another conversation; otherwise the producer rewrote the record.
    const isPasted = isUnmarked === true && found.cycle.conversationId !== conversation;
    known.push({ cycle: found.cycle, key: clip.key, isPasted });
  }
  return known;
}

/** Why no compaction can be undone. A null `archive` means that there is none. */
export async function notFound(
  deps: AppDeps,
  { revision, file, archive }: { revision: Revision; file: string; archive: Archive | null },
): Promise<never> {
  if (summariesOf(revision).length === 0) stop({ kind: 'not-compacted', file });
  const known = archive === null ? [] : await findKnownClips(deps, archive, revision);
  const key = known.find(({ isPasted }) => !isPasted)?.key ?? null;
  if (archive === null || key === null)
    return stop({ kind: 'not-in-archive', file, archive: deps.archivePath, isNone: archive === null });
  return stop({ kind: 'rewritten', file, archive: archive.path, key, canUndoLast: false });
}
