import { err, ok, type Result } from '../../core/result.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { Codec } from '../../ports/codec.ts';
import type { RawRecord, RecordSplitter } from '../../ports/records.ts';
import type { RunningHash, Runtime } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import { describeErasure } from '../../core/erasure.ts';
import { createCursor, createLineBatch, type Cursor } from './batches.ts';
import type { RecordSource } from './index-records.ts';
import { closingOf, hashesByLine } from './inserted-lines.ts';
import { UTF8_BOM } from './records.ts';

/**
 * The lines of a file with their line endings, in batches, so that they do not wait for each other one by one. Can be iterated more than
 * once. A line's bytes are valid only until the next line is requested.
 */
export type LineStream = () => AsyncIterable<Iterable<Uint8Array>>;

/** Why the original cannot be restored; `line`: the line of the compacted file (from 1) that is the reason, where one is. */
export type RestoreProblem = { readonly message: string; readonly line: number | null } & (
  | { readonly kind: 'changed-line' | 'hole' | 'wrong-hash' }
  | { readonly kind: 'erased'; readonly mark: ErasureMark }
);

/**
 * Ends a stream of restored lines. It is thrown because the code that indexes or writes the stream must not mistake a part for the whole;
 * `attemptRestore` and `findRestoreProblem` turn it into a value.
 */
class RestoreError extends Error {
  readonly problem: RestoreProblem;

  constructor(problem: RestoreProblem) {
    super(problem.message);
    this.name = 'RestoreError';
    this.problem = problem;
  }
}

/** The result of work on restored lines, or the problem that ended it. */
export async function attemptRestore<T>(work: () => Promise<T>): Promise<Result<T, RestoreProblem>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof RestoreError) return err(error.problem);
    throw error;
  }
}

/** Restores everything and compares it with the original; null: every byte comes back. */
export async function findRestoreProblem(
  input: RestoreInput,
  original: StoredCompaction['source'],
): Promise<RestoreProblem | null> {
  try {
    for await (const batch of provenLines(input.runtime, restoredLines(input), original)) void batch;
    return null;
  } catch (error) {
    if (error instanceof RestoreError) return error.problem;
    throw error;
  }
}

/** The archive from which to read the lines of a compaction: one with its own thread if there are many. */
export async function archiveFor(
  { openArchiveAside }: Pick<AppDeps, 'openArchiveAside'>,
  archive: Archive,
  { source }: StoredCompaction,
): Promise<Archive> {
  const aside = await openArchiveAside?.(source.sizeBytes);
  return aside?.ok === true ? (aside.value ?? archive) : archive;
}

type RestoreInput = {
  readonly compaction: StoredCompaction;
  readonly archive: Archive;
  readonly runtime: Runtime;
  /** The compacted file with everything appended since. */
  readonly output: LineStream;
  /** record: the parts are not lines of the file, so their numbers mean nothing to people. */
  readonly unit: 'line' | 'record';
  /** Called for every line that comes from the archive. */
  readonly onArchived?: (line: StoredLine) => void;
  /** Erased lines come without bytes instead of being a problem; called for each. `output` may have such lines too. */
  readonly onErased?: (mark: ErasureMark) => void;
};

/**
 * The lines of the original: kept ones from the compacted file, the others from the archive, then whatever was appended since. Every line is
 * checked against its hash; a changed or missing line throws a RestoreError.
 */
export async function* restoredLines(input: RestoreInput): AsyncGenerator<readonly Uint8Array[]> {
  const archived = createCursor(input.archive.readLines(input.compaction.id));
  const output = createCursor(input.output());
  try {
    yield* mergeLines(input, archived, output);
  } finally {
    await archived.close();
    await output.close();
  }
}

async function* mergeLines(
  { compaction, runtime, unit, onArchived, onErased }: RestoreInput,
  archived: Cursor<StoredLine>,
  output: Cursor<Uint8Array>,
): AsyncGenerator<readonly Uint8Array[]> {
  const check = createOutputCheck({
    runtime,
    unit,
    sizeBytes: compaction.output.sizeBytes,
    closing: closingOf(compaction),
  });
  const ownBefore = hashesByLine(compaction, runtime);
  const keptHash = createHashFinder(compaction);
  const mayBeErased = onErased !== undefined;
  const checkOwn = async (line: number): Promise<void> => {
    for (const sha256 of ownBefore.get(line) ?? []) {
      const bytes = await output.next();
      if (!mayBeErased || bytes?.length !== 0) check(bytes, sha256);
    }
  };
  const batch = createLineBatch();
  let pending = await archived.next();
  let endsOpen = false;
  for (let line = 1; line <= compaction.source.lineCount; line += 1) {
    await checkOwn(line);
    const sha256 = keptHash(line);
    let bytes: Uint8Array;
    const mark = sha256 === undefined ? erasureOf(compaction, pending?.line === line ? pending : null) : null;
    if (mark !== null) {
      const message = `${unit} ${line} of the original was ${describeErasure(mark)}`;
      if (onErased === undefined) throw new RestoreError({ kind: 'erased', message, mark, line: null });
      onErased(mark);
      if (batch.add(ERASED)) yield batch.take();
      if (pending?.line === line) pending = archived.now() ?? (await archived.next());
      continue;
    }
    if (sha256 !== undefined) {
      const kept = output.now() ?? (await output.next());
      const isErased = mayBeErased && kept?.length === 0;
      if (isErased && compaction.erased !== null) onErased(compaction.erased);
      bytes = isErased ? kept : Uint8Array.from(check(kept, sha256));
    } else if (pending?.line === line) {
      ({ bytes } = pending);
      onArchived?.(pending);
      pending = archived.now() ?? (await archived.next());
    } else {
      const message = `${unit} ${line} of the original is neither kept nor archived`;
      throw new RestoreError({ kind: 'hole', message, line: null });
    }
    endsOpen = bytes.at(-1) !== LF;
    if (batch.add(bytes)) yield batch.take();
  }
  // The archive checks that all its lines were read.
  while (pending !== null) pending = await archived.next();
  await checkOwn(compaction.source.lineCount + 1);
  // Lines that a producer appended after the compaction start on a new line even if the original's last line had no ending.
  for (let bytes = await output.next(); bytes !== null; bytes = output.now() ?? (await output.next())) {
    if (endsOpen && bytes.at(0) !== LF) batch.add(Uint8Array.of(LF));
    endsOpen = false;
    if (batch.add(Uint8Array.from(bytes))) yield batch.take();
  }
  yield batch.take();
}

/** Stands in for an erased line: a line that is there has a byte at least. */
const ERASED = new Uint8Array();

const LF = 0x0a;
const CR = 0x0d;

/**
 * Checks the lines of the output in order and gives them as they were. Each must be there and have its hash. If the last line had no ending,
 * a producer may have continued it.
 */
function createOutputCheck({
  runtime,
  unit,
  sizeBytes,
  closing,
}: Pick<RestoreInput, 'runtime' | 'unit'> & {
  readonly sizeBytes: number;
  readonly closing: Uint8Array | null;
}): (bytes: Uint8Array | null, sha256: string) => Uint8Array {
  let line = 0;
  let left = sizeBytes - (closing?.length ?? 0);
  const changed = (message: string): RestoreError =>
    new RestoreError({ kind: 'changed-line', message, line: unit === 'line' ? line : null });
  return (bytes, sha256) => {
    line += 1;
    if (bytes === null) throw changed(`${unit} ${line} is missing: the file was cut off`);
    const own = bytes.subarray(0, left);
    const isSame = runtime.sha256(own) === sha256;
    left -= own.length;
    if (!isSame) throw changed(`${unit} ${line} was changed since the compaction`);
    const isClosed = closing !== null && left === 0 && isEqual(bytes.subarray(own.length), closing);
    return isClosed ? own : bytes;
  };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** The erasure that removed a line that was not kept; null: it is there, or missing without a reason. */
function erasureOf({ status, erased }: StoredCompaction, stored: StoredLine | null): ErasureMark | null {
  return stored === null && status === 'erased' ? erased : (stored?.erased ?? null);
}

/** The hash of a kept line; undefined: it was not kept. Must be called for lines in ascending order. */
function createHashFinder({ kept }: StoredCompaction): (line: number) => string | undefined {
  let at = 0;
  return (line) => {
    for (; at < kept.length; at += 1) {
      const run = kept[at];
      if (run !== undefined && line < run.firstLine + run.lineCount)
        return line < run.firstLine ? undefined : run.lineSha256[line - run.firstLine];
    }
    return undefined;
  };
}

/** Passes lines on and proves that they begin with the original; throws a RestoreError at the end if they do not. */
export async function* provenLines<Batch extends Iterable<Uint8Array>>(
  runtime: Runtime,
  lines: AsyncIterable<Batch>,
  { sizeBytes, sha256, hasBom }: StoredCompaction['source'],
): AsyncGenerator<Batch> {
  const hash = runtime.createHash();
  let left = sizeBytes;
  const add = (bytes: Uint8Array): void => {
    if (left > 0) hash.update(left < bytes.length ? bytes.subarray(0, left) : bytes);
    left -= Math.min(left, bytes.length);
  };
  if (hasBom) add(UTF8_BOM);
  for await (const batch of lines) {
    for (const bytes of batch) add(bytes);
    yield batch;
  }
  if (hash.digest() === sha256) return;
  const message = `what comes out has another sha256 than the original (${sha256.slice(0, 12)}…)`;
  throw new RestoreError({ kind: 'wrong-hash', message, line: null });
}

/** Makes a restored file readable for the first pass. Its size is not known beforehand: 0. */
export function asRecordSource(lines: LineStream, hasBom: boolean, { records }: Pick<Codec, 'records'>): RecordSource {
  const bomLength = hasBom ? UTF8_BOM.length : 0;
  const splitter = (): RecordSplitter => records?.open(bomLength) ?? createLineNumbers(bomLength);
  return { bomLength, sizeBytes: 0, records: () => splitBatches(lines(), splitter()) };
}

async function* splitBatches(
  batches: AsyncIterable<Iterable<Uint8Array>>,
  { add, end }: RecordSplitter,
): AsyncGenerator<Iterable<RawRecord>> {
  for await (const batch of batches) yield splitAll(batch, add);
  yield end();
}

function* splitAll(pieces: Iterable<Uint8Array>, add: RecordSplitter['add']): Generator<RawRecord> {
  for (const piece of pieces) yield* add(piece);
}

/** Each piece is a line. */
function createLineNumbers(bomLength: number): RecordSplitter {
  let start = bomLength;
  let line = 0;
  return {
    add: (bytes) => {
      line += 1;
      const eolLength = bytes.at(-1) !== LF ? 0 : bytes.at(-2) === CR ? 2 : 1;
      const record = { line, start, bytes, eolLength };
      start += bytes.length;
      return [record];
    },
    end: () => [],
  };
}

/** Feeds a hash with the first `sizeBytes` bytes of what passes through it. */
export async function hashLines(
  hash: RunningHash,
  lines: AsyncIterable<Iterable<Uint8Array>>,
  limit: { readonly sizeBytes: number; readonly hasBom: boolean },
): Promise<{ readonly total: number; readonly sha256: string }> {
  let total = 0;
  const add = (bytes: Uint8Array): void => {
    if (total < limit.sizeBytes) hash.update(bytes.subarray(0, limit.sizeBytes - total));
    total += bytes.length;
  };
  if (limit.hasBom) add(UTF8_BOM);
  for await (const batch of lines) for (const bytes of batch) add(bytes);
  return { total, sha256: hash.digest() };
}
