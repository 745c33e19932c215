import { formatTime } from '../../core/batch.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Entry } from '../../core/transcript.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { FileStamp, SourceFile } from '../../ports/files.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import { type AppDeps, isInterrupted, type WritingDeps } from '../contract/deps.ts';
import { type Failure, stop } from '../contract/failure.ts';
import type { RestoreReport } from '../contract/reports.ts';
import type { RestoreFileRequest } from '../contract/requests.ts';
import { createLineageCheck } from '../read/find-cycles.ts';
import {
  codecBefore,
  findKnownClips,
  isOtherFormat,
  wasRewritten,
  locateCompaction,
  type Located,
  notFound,
  ownLinesOf,
  readRevision,
  type Revision,
  summariesOf,
  withCompacted,
} from '../read/open-compacted.ts';
import { hashContent, hashPrefix, UTF8_BOM } from '../read/records.ts';
import type { LineStream } from '../read/restore-input.ts';
import { archiveFor, provenLines, restoredLines } from '../read/restored-lines.ts';
import { describeRewrites, type Rewrite } from '../read/rewritten-document.ts';
import { outputCompression, toWriteFailure } from '../write/deliver.ts';
import { againWhileChanging } from '../write/look-again.ts';
import { withFileLock } from '../write/target.ts';
import { writeOutput } from '../write/write-output.ts';

/** Restores what a file was before its last compaction, or before its first (`all`). Nothing is written unless every byte is proven. */
export async function restoreFile(
  deps: WritingDeps,
  request: RestoreFileRequest,
): Promise<Result<RestoreReport, Failure>> {
  return againWhileChanging(() =>
    withCompacted(deps, request.input, async ({ revision, archive, source, sha256 }) => {
      const undone = await undo(deps, { revision, archive, request });
      const { name, layout } = revision.codec.format;
      const compacted = { file: source, sha256, format: name, isDocument: layout.kind === 'document' };
      return undone.ok ? write(deps, request, { ...undone.value, compacted }) : undone;
    }),
  );
}

type Undone = {
  /** The lines prove themselves while they are read: a RestoreError at the end means that they are not the original's. */
  readonly lines: LineStream;
  readonly source: StoredCompaction['source'];
  readonly cycles: number;
  readonly erased: ErasedLines;
  /** What its program did when it wrote the document anew after a compaction, newest first. */
  readonly rewrites: readonly Rewrite[];
  readonly isStillCompacted?: true;
};

type Compacted = {
  readonly file: SourceFile;
  readonly sha256: string;
  readonly format: string;
  readonly isDocument: boolean;
};

/** The lines that were left out when `lines` was last read to its end. */
type ErasedLines = { count: number; mark: ErasureMark | null };

/** Undoes one compaction, or all of them. */
async function undo(
  deps: WritingDeps,
  {
    revision: first,
    archive,
    request,
  }: { readonly revision: Revision; readonly archive: Archive; readonly request: RestoreFileRequest },
): Promise<Result<Undone, Failure>> {
  const { name } = request.input;
  const done: Undone[] = [];
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
      return err({ kind: 'cannot-undo', file: name, why: 'compacted-again', original: name });
    const losses = rewrite?.losses ?? [];
    const isPartial = request.partial === true && (compaction.erased !== null || losses.length > 0);
    const mayBeRewritten = !isPartial && (done.length > 0 || isOtherFormat(compaction, revision));
    if (mayBeRewritten && (await wasRewritten(deps, { archive, located, revision }))) break;
    await lineage.add(compaction);
    const { source } = compaction;
    const codec = codecBefore(deps, compaction, revision);
    const reader = await archiveFor(deps, archive, compaction);
    const restore = { compaction, archive: reader, runtime: deps.runtime, output: revision.lines, codec, rewrite };
    const erased: ErasedLines = { count: 0, mark: null };
    const lines: LineStream = () => {
      if (!isPartial) return provenLines(restore);
      erased.count = 0;
      const onErased = (mark: ErasureMark): void => {
        erased.count += 1;
        erased.mark = mark;
      };
      return restoredLines({ ...restore, onErased });
    };
    if (rewrite !== null) rewrites.push(rewrite);
    done.push({ lines, source, cycles: done.length + 1, erased, rewrites: [...rewrites] });
    if (!request.all) break;
    const before = await readRevision(deps, {
      lines,
      hasBom: source.hasBom,
      ownLines: ownLinesOf(located),
      codec,
      name,
    });
    if (!before.ok) return before;
    revision = before.value;
  }
  const undone = done.at(-1);
  if (undone === undefined) return notFound(deps, { revision, file: name, archive });
  // With `all`, an earlier state that is not the first is not what was requested.
  if (request.all) {
    const known = await findKnownClips(deps, archive, revision);
    const key = known.find(({ isPasted }) => !isPasted)?.key ?? null;
    if (key !== null) return err({ kind: 'rewritten', file: name, archive: archive.path, key, canUndoLast: true });
    const pasted = new Set(known.map((clip) => clip.key));
    const isLeft = ({ clip, isUnmarked }: Entry): boolean =>
      (clip?.key ?? null) !== null &&
      !pasted.has(clip?.key ?? null) &&
      !(request.partial === true && isUnmarked === true);
    const isLost = lineage.orphans().length > 0 || summariesOf(revision).some(isLeft);
    if (isLost) return err({ kind: 'not-in-archive', file: name, archive: archive.path, canUndoLast: true });
  }
  // A summary without a key was written by another program, and an unmarked one may have been pasted: as far as we know, the conversation
  // began with it.
  const isStillCompacted = request.all && summariesOf(revision).length > 0;
  return ok({ ...undone, ...(isStillCompacted && { isStillCompacted }) });
}

/** The compaction that another one continues, if the summary that leads to it was erased. */
async function loadParent(archive: Archive, { erased, cycles }: StoredCompaction): Promise<Located | null> {
  const [parentId] = erased === null ? [] : cycles.flatMap(({ parentCompactionId }) => parentCompactionId ?? []);
  const compaction = parentId === undefined ? null : await archive.loadCompaction(parentId);
  return compaction === null ? null : { compaction, rewrite: null };
}

async function write(
  deps: WritingDeps,
  { input, output }: RestoreFileRequest,
  { lines, source, cycles, erased, rewrites, isStillCompacted, compacted }: Undone & { readonly compacted: Compacted },
): Promise<Result<RestoreReport, Failure>> {
  if (output.kind === 'stdout' && compacted.file.compression === 'eval')
    return err({ kind: 'zip-on-stdout', file: input.name });
  let written = 0;
  let hash = deps.runtime.createHash();
  /** Of a file to which lines were appended while it was restored; null: it is no longer as it was written. */
  let withAppended: string | null = null;
  let notes: readonly string[] = [];
  const count = (bytes: Uint8Array): Uint8Array => {
    written += bytes.length;
    hash.update(bytes);
    return bytes;
  };
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    written = 0;
    hash = deps.runtime.createHash();
    if (source.hasBom) yield count(UTF8_BOM);
    for await (const batch of lines()) yield count(joinLines(batch));
  };
  if (output.kind === 'stdout') {
    // Standard output cannot be taken back, so the lines are proven before they are written.
    for await (const batch of lines()) void batch;
    for await (const piece of pieces()) {
      deps.stdout(piece);
      // Nobody reads on, or the user has ended the run.
      if (deps.signal.aborted) return err({ kind: 'interrupted' });
    }
  } else if (output.kind === 'none') {
    for await (const piece of pieces()) void piece;
  } else {
    const path = output.kind === 'in-place' ? input.path : output.path;
    const { file, sha256, format, isDocument } = compacted;
    const done = await withFileLock(deps, path, async (lock) => {
      const target = output.kind === 'in-place' ? ok(null) : await checkExpendable(deps, path, pieces());
      if (!target.ok) return stop({ kind: 'output-exists', file: input.name, output: path });
      const restored = await writeOutput(deps, {
        lock,
        format,
        like: input.path,
        compression: outputCompression(deps, { source: file, path: output.kind === 'in-place' ? null : path }),
        pieces: pieces(),
        source: file,
        known: { stamp: file.stamp, sizeBytes: file.sizeBytes, sha256, isDocument },
        target: { path, stamp: target.value },
        replacesSource: output.kind === 'in-place',
        isInterrupted: () => isInterrupted(deps),
      });
      return restored.ok ? restored.value : stop(toWriteFailure(restored.error, { file: input.name, output: path }));
    });
    const { carriedBytes } = done;
    written += carriedBytes;
    ({ notes } = done);
    if (carriedBytes > 0) withAppended = await hashContent(deps, path, written);
  }
  const sha256 = withAppended ?? hash.digest();
  const isSame = sha256 === source.sha256;
  const losses = rewrites.flatMap((rewrite) => rewrite.losses);
  if (rewrites.length > 0 && !isSame) notes = [...notes, describeRewrites(rewrites), ...losses];
  const target = output.kind === 'stdout' ? '-' : output.kind === 'file' ? output.path : input.name;
  return ok({
    schema: 'compact/restore@1',
    file: input.name,
    result: erased.mark === null && losses.length === 0 ? 'restored' : 'partial',
    output: target,
    cycles,
    bytes: written,
    sha256,
    original: { sha256: source.sha256, bytes: source.sizeBytes },
    appendedBytes: rewrites.length > 0 ? 0 : Math.max(0, written - source.sizeBytes),
    ...(erased.mark !== null && {
      erased: { lines: erased.count, receipt: erased.mark.receipt, at: formatTime(erased.mark.at) ?? '' },
    }),
    ...(notes.length > 0 && { notes }),
    ...(isStillCompacted === true && { isStillCompacted }),
  });
}

/** Several lines as one piece. They arrive in memory together, so joining them costs little. */
function joinLines(lines: Iterable<Uint8Array>): Uint8Array {
  const all = [...lines];
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const bytes of all) {
    joined.set(bytes, end);
    end += bytes.length;
  }
  return joined;
}

/**
 * Checks that a file may be overwritten: it is empty, or it holds the beginning of what will be written. Gives its stamp; null: there is no
 * file.
 */
async function checkExpendable(
  { files, runtime }: AppDeps,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Result<FileStamp | null, 'precious'>> {
  const opened = await files.open(path);
  if (!opened.ok) return opened.error.kind === 'not-found' ? ok(null) : err('precious');
  const { stamp, sizeBytes } = opened.value;
  try {
    const hash = runtime.createHash();
    let left = sizeBytes;
    for await (const piece of pieces) {
      if (left === 0) break;
      const part = piece.subarray(0, left);
      hash.update(part);
      left -= part.length;
    }
    const isBeginning = left === 0 && hashPrefix(runtime, opened.value, sizeBytes) === hash.digest();
    return isBeginning ? ok(stamp) : err('precious');
  } finally {
    opened.value.close();
  }
}
