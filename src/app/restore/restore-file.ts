import { formatTime } from '../../core/batch.ts';
import type { Result } from '../../core/result.ts';
import type { Entry } from '../../core/transcript.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { FileStamp } from '../../ports/files.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { AppDeps, WritingDeps } from '../contract/deps.ts';
import { againWhileChanging, type Failure, stop } from '../contract/failure.ts';
import type { RestoreReport } from '../contract/reports.ts';
import type { RestoreFileRequest } from '../contract/requests.ts';
import { createLineageCheck } from '../read/lineage.ts';
import {
  findKnownClips,
  isOtherFormat,
  joinLines,
  loadParent,
  locateCompaction,
  type Located,
  notFound,
  readBefore,
  restoringOf,
  type Revision,
  summariesOf,
  wasRewritten,
  withCompacted,
} from '../read/open-compacted.ts';
import { concat, hashPrefix, UTF8_BOM } from '../read/records.ts';
import { hashStart, provenLines, type RestoredLines, restoredLines } from '../read/restored-lines.ts';
import { describeRewrites, type Rewrite } from '../read/rewritten-document.ts';
import { deliver, describeWritten, targetPath, withTargetLock } from '../write/deliver.ts';

/** Restores what a file was before its last compaction, or before its first (`all`). Nothing is written unless every byte is proven. */
export async function restoreFile(
  deps: WritingDeps,
  request: RestoreFileRequest,
): Promise<Result<RestoreReport, Failure>> {
  return againWhileChanging(() =>
    withCompacted(deps, request.input, async ({ revision, archive, source, sha256 }) => {
      const undone = await undo(deps, { revision, archive, request });
      const compacted = { source, codec: revision.codec, recordIndex: { sha256 } };
      return write(deps, request, { ...undone, compacted });
    }),
  );
}

type Undone = {
  /** The lines prove themselves while they are read: a RestoreError at the end means that they are not the original's. */
  readonly lines: RestoredLines;
  readonly source: StoredCompaction['source'];
  readonly cycles: number;
  readonly erased: ErasedLines;
  /** What its program did when it wrote the document anew after a compaction, newest first. */
  readonly rewrites: readonly Rewrite[];
  readonly isStillCompacted?: true;
};

/** The lines that were left out when `lines` was last read to its end. */
type ErasedLines = { count: number; mark: ErasureMark | null };

async function undo(
  deps: WritingDeps,
  { revision: first, archive, request }: { revision: Revision; archive: Archive; request: RestoreFileRequest },
): Promise<Undone> {
  const { name } = request.input;
  let undone: Undone | null = null;
  let cycles = 0;
  const rewrites: Rewrite[] = [];
  const lineage = createLineageCheck(archive);
  let revision = first;
  let previous: StoredCompaction | null = null;
  for (;;) {
    const located: Located | null =
      (await locateCompaction(deps, archive, revision, request.compactionId)) ??
      (request.partial === true && previous !== null ? await loadParent(archive, previous) : null);
    if (located === null) break;
    const { compaction, rewrite }: Located = located;
    previous = compaction;
    if (request.compactionId !== undefined && compaction.id !== request.compactionId)
      stop({ kind: 'cannot-undo', file: name, why: 'compacted-again', original: name });
    const losses = rewrite?.losses ?? [];
    const isPartial = request.partial === true && (compaction.erased !== null || losses.length > 0);
    const mayBeRewritten = !isPartial && (undone !== null || isOtherFormat(compaction, revision));
    if (mayBeRewritten && (await wasRewritten(deps, { archive, located, revision }))) break;
    await lineage.add(compaction);
    const { source } = compaction;
    const restore = await restoringOf(deps, { archive, located, revision });
    const erased: ErasedLines = { count: 0, mark: null };
    const lines: RestoredLines = () => {
      if (!isPartial) return provenLines(restore);
      erased.count = 0;
      const onErased = (mark: ErasureMark): void => {
        erased.count += 1;
        erased.mark = mark;
      };
      return restoredLines({ ...restore, onErased });
    };
    if (rewrite !== null) rewrites.push(rewrite);
    const { appended } = revision;
    cycles += 1;
    const whole: RestoredLines = () => joinLines([lines, ...appended]);
    undone = { lines: whole, source, cycles, erased, rewrites: [...rewrites] };
    if (!request.all) break;
    revision = await readBefore(deps, { archive, located, revision, restore, lines, name, isReadAgain: false });
  }
  if (undone === null) return notFound(deps, { revision, file: name, archive });
  // With `all`, an earlier state that is not the first is not what was requested.
  if (request.all) {
    const known = await findKnownClips(deps, archive, revision);
    const key = known.find(({ isPasted }) => !isPasted)?.key ?? null;
    if (key !== null) stop({ kind: 'rewritten', file: name, archive: archive.path, key, canUndoLast: true });
    const pasted = new Set(known.map((clip) => clip.key));
    const isLeft = ({ clip, isUnmarked }: Entry): boolean =>
      (clip?.key ?? null) !== null &&
      !pasted.has(clip?.key ?? null) &&
      !(request.partial === true && isUnmarked === true);
    const isLost = lineage.orphans().length > 0 || summariesOf(revision).some(isLeft);
    if (isLost) stop({ kind: 'not-in-archive', file: name, archive: archive.path, canUndoLast: true });
  }
  // A summary without a key was written by another program, and an unmarked one may have been pasted: as far as we know, the conversation
  // began with it.
  const isStillCompacted = request.all && summariesOf(revision).length > 0;
  return { ...undone, ...(isStillCompacted && { isStillCompacted }) };
}

async function write(
  deps: WritingDeps,
  request: RestoreFileRequest,
  undone: Undone & { readonly compacted: Parameters<typeof deliver>[1]['transcript'] },
): Promise<RestoreReport> {
  const { lines, source, cycles, erased, rewrites, isStillCompacted, compacted } = undone;
  const { input, output } = request;
  if (output.kind === 'stdout' && compacted.source.compression === 'eval')
    stop({ kind: 'zip-on-stdout', file: input.name });
  let sizeBytes = 0;
  let hash = deps.runtime.createHash();
  const count = (bytes: Uint8Array): Uint8Array => {
    sizeBytes += bytes.length;
    hash.update(bytes);
    return bytes;
  };
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    sizeBytes = 0;
    hash = deps.runtime.createHash();
    if (source.hasBom) yield count(UTF8_BOM);
    for await (const batch of lines()) {
      // Nobody reads on, or the user has ended the run.
      if (deps.signal.aborted) stop({ kind: 'interrupted' });
      yield count(concat([...batch])); // its lines are in memory together, so joining them costs little
    }
    if (deps.signal.aborted) stop({ kind: 'interrupted' });
  };
  const path = targetPath(request);
  const written = await withTargetLock(deps, path, async (lock) => {
    // Standard output cannot be taken back, so the lines are proven before they are written.
    if (output.kind === 'stdout') for await (const batch of lines()) void batch;
    const replaceable = output.kind === 'file' ? await checkExpendable(deps, request, pieces()) : null;
    if (output.kind !== 'none')
      return deliver(deps, { request, transcript: compacted, pieces: pieces(), lock, replaceable });
    for await (const piece of pieces()) void piece;
    return { carriedBytes: 0, notes: [] };
  });
  const file = await describeWritten(deps, { request, planned: { sha256: hash.digest(), sizeBytes }, ...written });
  const losses = rewrites.flatMap((rewrite) => rewrite.losses);
  const isOtherwise = rewrites.length > 0 && file.sha256 !== source.sha256;
  const notes = [...written.notes, ...(isOtherwise ? [describeRewrites(rewrites), ...losses] : [])];
  return {
    schema: 'compact/restore@1',
    file: input.name,
    result: erased.mark === null && losses.length === 0 ? 'restored' : 'partial',
    output: output.kind === 'stdout' ? '-' : output.kind === 'file' ? output.path : input.name,
    cycles,
    bytes: file.sizeBytes,
    sha256: file.sha256,
    original: { sha256: source.sha256, bytes: source.sizeBytes },
    appendedBytes: rewrites.length > 0 ? 0 : Math.max(0, file.sizeBytes - source.sizeBytes),
    ...(erased.mark !== null && {
      erased: { lines: erased.count, receipt: erased.mark.receipt, at: formatTime(erased.mark.at) ?? '' },
    }),
    ...(notes.length > 0 && { notes }),
    ...(isStillCompacted === true && { isStillCompacted }),
  };
}

/**
 * Checks that a file may be overwritten: it is empty, or it holds the beginning of what will be written. Gives its stamp; null: there is no
 * file.
 */
async function checkExpendable(
  { files, runtime }: AppDeps,
  request: RestoreFileRequest,
  pieces: AsyncIterable<Uint8Array>,
): Promise<FileStamp | null> {
  const path = targetPath(request) ?? '';
  const opened = await files.open(path);
  if (!opened.ok && opened.error.kind === 'not-found') return null;
  const precious: Failure = { kind: 'output-exists', file: request.input.name, output: path };
  if (!opened.ok) return stop(precious);
  const { stamp, sizeBytes } = opened.value;
  try {
    const start = hashStart(runtime, { sizeBytes });
    for await (const piece of pieces) {
      if (start.isFull()) break;
      start.add(piece);
    }
    const isBeginning = start.isFull() && hashPrefix(runtime, opened.value, sizeBytes) === start.digest();
    return isBeginning ? stamp : stop(precious);
  } finally {
    opened.value.close();
  }
}
