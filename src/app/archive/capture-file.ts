import { err, ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CaptureWriter } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { CaptureReport } from '../contract/capture-reports.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, attemptStep, type Failure } from '../contract/failure.ts';
import type { CaptureFileRequest } from '../contract/requests.ts';
import { openTranscript } from '../read/open-transcript.ts';
import { readPieces, readRecords } from '../read/records.ts';
import { type Change, compare, isDue, isUntouched, lookAgain, reliableStamp } from './compare-file.ts';
import { addSessions } from './sessions.ts';

/** How often a file is read that another program changes meanwhile. */
const MAX_READS = 3;

/**
 * Stores what a file is now, unless the archive has it already. Only reads the file. A file that grows meanwhile is stored as it was when it
 * was opened; one that is rewritten or shortened meanwhile is read again.
 */
export async function captureFile(deps: AppDeps, request: CaptureFileRequest): Promise<Result<CaptureReport, Failure>> {
  const file = request.input.name;
  return attempt({ file, progress: deps.progress }, async () => {
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      if (deps.signal.aborted) return err({ kind: 'interrupted' });
      const done = await captureOnce(deps, request);
      if (done !== 'changed') return done;
    }
    return err({ kind: 'source-changed', file });
  });
}

async function captureOnce(
  deps: AppDeps,
  request: CaptureFileRequest,
): Promise<Result<CaptureReport, Failure> | 'changed'> {
  const existing = await deps.openArchive('existing');
  if (!existing.ok) return err({ kind: 'archive', failure: existing.error });
  const path = deps.files.absolute(request.input.path);
  const known = (await existing.value?.captures.find(path)) ?? null;
  if (known !== null && !request.rereads && (await isUntouched(deps, known)))
    return ok(report(request, { known, change: null }));
  const startedAt = deps.runtime.now();
  const opened = await open(deps, request, known);
  if (!opened.ok) return opened;
  const { source } = opened.value;
  try {
    const captured = existing.value === null || known === null ? null : { archive: existing.value, known };
    const compared = await compare(deps, source, captured);
    const read = { stamp: reliableStamp(source.stamp, startedAt), readAt: startedAt };
    if (known !== null && compared.change === 'same') {
      const isNews = read.stamp !== known.stamp || isDue(known, startedAt);
      if (isNews && !request.isDryRun && existing.value?.isReadOnly === false)
        await existing.value.captures.confirm(known.id, read);
      return ok(report(request, { known, change: null }));
    }
    if (compared.change === 'same') throw new Error('a file that was never captured cannot be the same');
    const capture = { ...opened.value, change: compared.change, known, hash: compared.hash, path, ...read };
    if (request.isDryRun) return ok(report(request, capture));
    const archive = await deps.openArchive('create');
    if (!archive.ok) return err({ kind: 'archive', failure: archive.error });
    return archive.value === null ? 'changed' : await store(deps, request, { ...capture, archive: archive.value });
  } finally {
    source.close();
  }
}

type Opened = { readonly source: SourceFile; readonly codec: Codec | null; readonly format: string };

/** A file that was captured before is captured whatever it contains now: it may be damaged, or empty. */
async function open(
  deps: AppDeps,
  { input }: CaptureFileRequest,
  known: CapturedFile | null,
): Promise<Result<Opened, Failure>> {
  const transcript = await attemptStep(() => openTranscript(input, deps));
  if (transcript.ok) return ok({ ...transcript.value, format: transcript.value.codec.format.name });
  if (known === null || transcript.error.kind === 'file') return transcript;
  const opened = await deps.files.open(input.path, { signal: deps.signal, refusesLinks: input.refusesLinks });
  if (!opened.ok) return err({ kind: 'file', failure: { ...opened.error, path: input.name } });
  return ok({ source: opened.value, codec: null, format: known.format });
}

type Capture = Opened & {
  readonly path: string;
  readonly known: CapturedFile | null;
  readonly change: Change;
  readonly hash: RunningHash;
  readonly stamp: string | null;
  readonly readAt: Date;
};

async function store(
  deps: AppDeps,
  request: CaptureFileRequest,
  capture: Capture & { readonly archive: Archive },
): Promise<Result<CaptureReport, Failure> | 'changed'> {
  const { archive, source, codec, path, format, known, change, hash, readAt } = capture;
  const outline = { path, format, lastStateId: known?.last.id ?? null };
  const from = change === 'grown' && known !== null ? known.last.sizeBytes : 0;
  const sessions = new Set(known?.sessions);
  const isRead = codec === null || (await addSessions(deps, { source, codec, from }, sessions));
  if (!isRead) return err({ kind: 'interrupted' });
  const writer = await archive.captures.begin({ ...outline, change: change === 'damaged' ? 'rewritten' : change });
  if (writer === null) return 'changed';
  try {
    const sizeBytes = await appendFrom(deps, writer, { ...capture, from });
    if (sizeBytes === null) return err({ kind: 'interrupted' });
    const sha256 = hash.digest();
    const state = await lookAgain(deps, source, { sizeBytes, sha256 });
    if (state === 'changed') return 'changed';
    const stamp = state === 'untouched' ? capture.stamp : null;
    const stored = await writer.commit({
      sizeBytes,
      sha256,
      stamp,
      capturedAt: readAt,
      sessions: [...sessions].toSorted(),
    });
    return ok(report(request, { ...capture, stored: { ...stored, sizeBytes, sha256 } }));
  } finally {
    await writer.abandon();
  }
}

const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_BATCH_PIECES = 1000;

/** Stores the bytes from an offset to the end and gives the size of the whole; null: interrupted. */
async function appendFrom(
  deps: AppDeps,
  writer: CaptureWriter,
  { source, codec, hash, from }: Pick<Capture, 'source' | 'codec' | 'hash'> & { readonly from: number },
): Promise<number | null> {
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
    if (await isInterrupted(deps)) return null;
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

type Outcome = Partial<Pick<Capture, 'source' | 'format'>> & {
  readonly known: CapturedFile | null;
  /** Null: nothing was new. */
  readonly change: Change | null;
  readonly stored?: {
    readonly version: number;
    readonly sizeBytes: number;
    readonly sha256: string;
    readonly newBytes: number;
    readonly storedBytes: number;
  };
};

function report({ input }: CaptureFileRequest, outcome: Outcome): CaptureReport {
  const { known, change, stored } = outcome;
  return {
    schema: 'compact/capture@1',
    file: input.name,
    format: outcome.format ?? known?.format ?? null,
    result: change === null ? 'unchanged' : stored === undefined ? 'planned' : 'captured',
    change,
    version: stored?.version ?? (change === null || change === 'grown' ? (known?.last.version ?? null) : null),
    bytes: {
      size: stored?.sizeBytes ?? outcome.source?.stamp.sizeBytes ?? known?.last.sizeBytes ?? 0,
      new: stored?.newBytes ?? null,
      stored: stored?.storedBytes ?? null,
    },
    sha256: stored?.sha256 ?? (change === null ? (known?.last.sha256 ?? null) : null),
  };
}
