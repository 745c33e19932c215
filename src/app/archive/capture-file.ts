import { netBytesFreed } from '../../core/disk.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, FileMarks, CaptureOutline, CaptureWriter, StoredCapture } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { FileStamp, SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { CaptureReport } from '../contract/reports.ts';
import type { AppDeps, WritingDeps } from '../contract/deps.ts';
import { attempt, type Failure, attemptStep, must, stop, stopIfInterrupted } from '../contract/failure.ts';
import type { CaptureFileRequest } from '../contract/requests.ts';
import { openTranscript } from '../read/open-transcript.ts';
import { readPieces, readRecords } from '../read/records.ts';
import { openUnsettled } from '../write/settle.ts';
import { checkReadable, hashDisk } from './captured.ts';
import { addSessions } from './sessions.ts';

/** How often a file is read that another program changes meanwhile. */
const MAX_READS = 3;

/**
 * Stores what a file is now, unless the archive has it already. Only reads the file. A file that grows meanwhile is stored as it was when it
 * was opened; one that is rewritten or shortened meanwhile is read again.
 */
export async function captureFile(
  deps: Pick<WritingDeps, keyof AppDeps | 'reached'>,
  request: CaptureFileRequest,
): Promise<Result<CaptureReport, Failure>> {
  const file = request.input.name;
  const { remove } = request;
  return attempt({ file, progress: deps.progress }, async () => {
    if (remove !== undefined) {
      const { removeCaptured } = await import('./remove-captured.ts');
      return ok(await removeCaptured(deps, { ...request, remove }, () => captureStanding(deps, request)));
    }
    return ok(await captureStanding(deps, request));
  });
}

async function captureStanding(deps: AppDeps, request: CaptureFileRequest): Promise<CaptureReport> {
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    if (deps.signal.aborted) return stop({ kind: 'interrupted' });
    const done = await captureOnce(deps, request);
    if (done !== 'changed') return done;
  }
  return stop({ kind: 'source-changed', file: request.input.name });
}

async function captureOnce(deps: AppDeps, request: CaptureFileRequest): Promise<CaptureReport | 'changed'> {
  const existing = await openUnsettled(deps);
  const path = deps.files.absolute(request.input.path);
  const known = (await existing?.captures.find(path)) ?? null;
  if (known !== null && !request.rereads && (await isUntouched(deps, known))) return unchanged(request, known);
  const startedAt = deps.runtime.now();
  const opened = await open(deps, request, known);
  const { source } = opened;
  try {
    const captured = existing === null || known === null ? null : { archive: existing, known };
    const compared = await compare(deps, source, captured);
    const { mtimeNs, mode } = source.stamp;
    const marks = { mtimeNs: String(mtimeNs), mode };
    const read = { stamp: reliableStamp(source.stamp, startedAt), readAt: startedAt, marks };
    if (compared.change === 'same') {
      const { archive, known: same } = compared;
      const isNews =
        read.stamp !== same.stamp ||
        isDue(same, startedAt) ||
        read.marks.mode !== same.last.marks?.mode ||
        read.marks.mtimeNs !== same.last.marks.mtimeNs;
      if (isNews && !request.isDryRun && !archive.isReadOnly) await archive.captures.confirm(same, read);
      return unchanged(request, same);
    }
    const capture = { ...opened, ...compared, known, path, ...read };
    if (request.isDryRun) {
      const version = compared.change === 'grown' ? (known?.last.version ?? null) : null;
      const size = source.stamp.sizeBytes;
      return report(request, { ...capture, result: 'planned', version, size, sha256: null });
    }
    const archive = await openUnsettled(deps, 'create');
    return archive === null ? 'changed' : await store(deps, request, { ...capture, archive });
  } finally {
    source.close();
  }
}

type Opened = { readonly source: SourceFile; readonly codec: Codec | null; readonly format: string };

/** A file that was captured before is captured whatever it contains now: it may be damaged, or empty. */
async function open(deps: AppDeps, { input }: CaptureFileRequest, known: CapturedFile | null): Promise<Opened> {
  const transcript = await attemptStep(() => openTranscript(input, deps));
  if (transcript.ok) return { ...transcript.value, format: transcript.value.codec.format.name };
  if (known === null || transcript.error.kind === 'file') return must(transcript);
  const opened = await deps.files.open(input.path, { signal: deps.signal, refusesLinks: input.refusesLinks });
  if (!opened.ok) return stop({ kind: 'file', failure: { ...opened.error, path: input.name } });
  return { source: opened.value, codec: null, format: known.format };
}

type Capture = Opened & {
  readonly path: string;
  readonly known: CapturedFile | null;
  readonly change: Change;
  readonly hash: RunningHash;
  readonly stamp: string | null;
  readonly readAt: Date;
  readonly marks: FileMarks;
};

async function store(deps: AppDeps, request: CaptureFileRequest, capture: Capture & { readonly archive: Archive }) {
  const { archive, source, codec, path, format, known, change, hash, readAt, marks } = capture;
  const outline = { path, format, lastStateId: known?.last.id ?? null };
  const from = change === 'grown' && known !== null ? known.last.sizeBytes : 0;
  const sessions = new Set(known?.sessions);
  if (codec !== null) await addSessions(deps, { source, codec, from }, sessions);
  const writer = await archive.captures.begin({ ...outline, change: change === 'damaged' ? 'rewritten' : change });
  if (writer === null) return 'changed';
  try {
    const sizeBytes = await appendFrom(deps, writer, { ...capture, from });
    const sha256 = hash.digest();
    const state = await lookAgain(deps, source, { sizeBytes, sha256 });
    if (state === 'changed') return 'changed';
    const stamp = state === 'untouched' ? capture.stamp : null;
    const stored = await writer.commit({
      sizeBytes,
      sha256,
      stamp,
      marks,
      capturedAt: readAt,
      sessions: [...sessions].toSorted(),
    });
    const { version } = stored;
    return report(request, { ...capture, result: 'captured', version, size: sizeBytes, sha256, stored });
  } finally {
    await writer.abandon();
  }
}

const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_BATCH_PIECES = 1000;

/** Stores the bytes from an offset to the end and gives the size of the whole. */
async function appendFrom(
  deps: AppDeps,
  writer: CaptureWriter,
  { source, codec, hash, from }: Pick<Capture, 'source' | 'codec' | 'hash'> & { from: number },
): Promise<number> {
  let sizeBytes = from;
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  for (const piece of piecesOf(source, codec, from)) {
    hash.update(piece);
    batch.push(new Uint8Array(piece)); // its buffer is used again
    batchBytes += piece.length;
    sizeBytes += piece.length;
    if (batchBytes < MAX_BATCH_BYTES && batch.length < MAX_BATCH_PIECES) continue;
    await writer.append(batch);
    batch = [];
    batchBytes = 0;
    deps.progress.update('capturing', sizeBytes, source.stamp.sizeBytes);
    await stopIfInterrupted(deps);
  }
  await writer.append(batch);
  return sizeBytes;
}

/**
 * The bytes of the file on disk, in pieces that its other versions and its copies have too: lines, or the records of a document. A compressed
 * file is taken as it is, because compressing it again could give other bytes.
 */
function* piecesOf(source: SourceFile, codec: Codec | null, from: number): Generator<Uint8Array> {
  const { bomLength, compression, stamp } = source;
  if (compression !== 'none') {
    let start = from;
    for (const piece of source.onDisk()) {
      if (start < piece.length) yield piece.subarray(start);
      start = Math.max(0, start - piece.length);
    }
    return;
  }
  if (codec?.records !== undefined && from > 0) {
    yield* readPieces(source, { from, to: stamp.sizeBytes });
    return;
  }
  if (from === 0 && bomLength > 0) yield source.read(0, bomLength);
  const records = from === 0 && codec !== null ? readRecords(source, codec) : source.lines(Math.max(from, bomLength));
  for (const { bytes } of records) yield bytes;
}

type Outcome = Pick<CaptureReport, 'result' | 'change' | 'version' | 'sha256'> & {
  readonly format: string;
  readonly size: number;
  readonly stored?: StoredCapture;
};

function report({ input }: CaptureFileRequest, { format, size, stored, ...outcome }: Outcome): CaptureReport {
  const { result, change, version, sha256 } = outcome;
  const bytes = { size, new: stored?.newBytes ?? null, stored: stored?.storedBytes ?? null };
  const expected = result === 'planned' ? Math.round(size * ARCHIVE_SHARE) : 0;
  const netBytes = netBytesFreed({ before: 0, after: 0, archive: stored?.storedBytes ?? expected });
  return { schema: 'compact/capture@1', file: input.name, format, result, change, version, bytes, sha256, netBytes };
}

/** What captured lines take of their size, as measured on real sessions. */
const ARCHIVE_SHARE = 0.25;

function unchanged(request: CaptureFileRequest, { format, last }: CapturedFile): CaptureReport {
  const { version, sha256, sizeBytes: size } = last;
  return report(request, { format, result: 'unchanged', change: null, version, size, sha256 });
}

/** Damage that leaves size and times as they were is found by reading every file again from time to time. */
const MAX_UNREAD_MS = 7 * 24 * 60 * 60 * 1000;

function isDue({ readAt }: CapturedFile, now: Date): boolean {
  return !(now.getTime() - readAt.getTime() < MAX_UNREAD_MS);
}

async function isUntouched({ files, runtime }: AppDeps, known: CapturedFile): Promise<boolean> {
  if (known.stamp === null || isDue(known, runtime.now())) return false;
  const now = await files.stamp(known.path);
  return now.ok && describeStamp(now.value) === known.stamp;
}

function describeStamp({ sizeBytes, mtimeNs, changedNs, inode, device }: FileStamp): string {
  return [sizeBytes, mtimeNs, changedNs, inode, device].join(':');
}

/** File systems keep times in steps of up to two seconds: a file that was written twice in one step looks untouched. */
const TIME_STEP_MS = 2000;

/** The stamp that proves later that nothing was written since; null: the last write was too recent for that. */
function reliableStamp(stamp: FileStamp, startedAt: Date): string | null {
  const newestNs = stamp.mtimeNs > stamp.changedNs ? stamp.mtimeNs : stamp.changedNs;
  return Number(newestNs / 1_000_000n) + TIME_STEP_MS < startedAt.getTime() ? describeStamp(stamp) : null;
}

/** damaged: the archive cannot give back what it has of the file. */
type Change = CaptureOutline['change'] | 'damaged';
type Captured = { readonly archive: Archive; readonly known: CapturedFile };
type Compared =
  | (Captured & { readonly change: 'same' })
  /** `hash`: of all bytes before those that must be stored. */
  | { readonly change: Change; readonly hash: RunningHash };

/** Reads the file up to the size that was captured last, and what the archive has of it. */
async function compare({ runtime }: AppDeps, source: SourceFile, captured: Captured | null): Promise<Compared> {
  const fresh = runtime.createHash();
  if (captured === null) return { change: 'new', hash: fresh };
  const {
    archive,
    known: { last },
  } = captured;
  if (last.change === 'gone') return { change: 'returned', hash: fresh };
  const { sizeBytes } = source.stamp;
  if (sizeBytes < last.sizeBytes) return { change: 'shortened', hash: fresh };
  const hash = hashDisk(runtime.createHash(), source, last.sizeBytes);
  if (hash.copy().digest() !== last.sha256) return { change: 'rewritten', hash: fresh };
  // What was erased on purpose is not stored again.
  if ((await checkReadable(runtime, { archive, state: last })) === 'damaged') return { change: 'damaged', hash: fresh };
  return sizeBytes === last.sizeBytes ? { ...captured, change: 'same' } : { change: 'grown', hash };
}

/**
 * Whether what was read is what the file was at one moment. changed: it was not, or nobody knows. touched: it was, and the file has changed
 * since, as one that grows.
 */
async function lookAgain(
  { files, runtime }: AppDeps,
  source: SourceFile,
  read: { readonly sizeBytes: number; readonly sha256: string },
): Promise<'untouched' | 'touched' | 'changed'> {
  if (read.sizeBytes !== source.stamp.sizeBytes) return 'changed';
  const now = await files.stamp(source.path);
  if (now.ok && describeStamp(now.value) === describeStamp(source.stamp)) return 'untouched';
  const isSame = hashDisk(runtime.createHash(), source, read.sizeBytes).digest() === read.sha256;
  return isSame ? 'touched' : 'changed';
}
