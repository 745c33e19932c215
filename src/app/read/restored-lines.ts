import { describeErasure } from '../../core/erasure.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { RunningHash, Runtime } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { createCursor, createLineBatch, type Cursor } from './batches.ts';
import { mergeElements } from './merge-elements.ts';
import { UTF8_BOM, unitOf } from './records.ts';
import { erasureOf, RestoreError, type RestoreInput, type RestoreProblem } from './restore-input.ts';
import { hashKept } from './rewritten-document.ts';

/** Restores everything and compares it with the original; null: everything comes back. */
export async function findRestoreProblem(
  input: RestoreInput,
  original: StoredCompaction['source'],
): Promise<RestoreProblem | null> {
  try {
    for await (const batch of provenLines(input, original)) void batch;
    return null;
  } catch (error) {
    if (error instanceof RestoreError) return error.problem;
    throw error;
  }
}

/** The archive from which to read the lines of a compaction: one with its own thread if there are many. */
export async function archiveFor(
  { openArchiveInThread }: Pick<AppDeps, 'openArchiveInThread'>,
  archive: Archive,
  { source }: StoredCompaction,
): Promise<Archive> {
  const aside = await openArchiveInThread?.(source.sizeBytes);
  return aside?.ok === true ? (aside.value ?? archive) : archive;
}

/**
 * The lines of the original: kept ones from the compacted file, the others from the archive, then whatever was appended since. Every line is
 * checked against its hash; a changed or missing line throws a RestoreError.
 */
export async function* restoredLines(input: RestoreInput): AsyncGenerator<readonly Uint8Array[]> {
  const archived = createCursor(input.archive.readLines(input.compaction.id));
  if (input.rewrite !== undefined && input.rewrite !== null) {
    try {
      yield* mergeElements(input, archived, input.rewrite);
    } finally {
      await archived.close();
    }
    return;
  }
  const output = createCursor(input.output());
  try {
    yield* mergeLines(input, archived, output);
  } finally {
    await archived.close();
    await output.close();
  }
}

async function* mergeLines(
  { compaction, runtime, codec, onArchived, onErased }: RestoreInput,
  archived: Cursor<StoredLine>,
  output: Cursor<Uint8Array>,
): AsyncGenerator<readonly Uint8Array[]> {
  const unit = unitOf(codec);
  const check = createOutputCheck(unit, compaction.output.sizeBytes);
  const ownBefore = hashesByLine(compaction, runtime);
  const keptHash = createHashFinder(compaction);
  const hashOf = (bytes: Uint8Array): string => hashKept(runtime, codec, bytes);
  const mayBeErased = onErased !== undefined;
  const checkOwn = async (line: number): Promise<void> => {
    for (const sha256 of ownBefore.get(line) ?? []) {
      const bytes = await output.next();
      if (!mayBeErased || bytes?.length !== 0) check(bytes, sha256, runtime.sha256);
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
      bytes = isErased ? kept : Uint8Array.from(check(kept, sha256, hashOf));
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

/**
 * Checks the lines of the output in order and gives them as they were. Each must be there and have its hash. If the last line had no ending,
 * a producer may have continued it.
 */
function createOutputCheck(
  unit: ReturnType<typeof unitOf>,
  sizeBytes: number,
): (bytes: Uint8Array | null, sha256: string, hashOf: (bytes: Uint8Array) => string) => Uint8Array {
  let line = 0;
  let left = sizeBytes;
  const changed = (message: string): RestoreError =>
    new RestoreError({ kind: 'changed-line', message, line: unit === 'line' ? line : null });
  return (bytes, sha256, hashOf) => {
    line += 1;
    if (bytes === null) throw changed(`${unit} ${line} is missing: the file was cut off`);
    const own = bytes.subarray(0, left);
    const isSame = hashOf(own) === sha256;
    left -= own.length;
    if (!isSame) throw changed(`${unit} ${line} was changed since the compaction`);
    return bytes;
  };
}

/** The hashes of our own lines, by the source line that they stand before. */
function hashesByLine(
  { inserted }: StoredCompaction,
  { sha256 }: Pick<Runtime, 'sha256'>,
): ReadonlyMap<number, readonly string[]> {
  const lines = new Map<number, readonly string[]>();
  for (const { beforeLine, bytes, erasedSha256 } of inserted)
    lines.set(beforeLine, [...(lines.get(beforeLine) ?? []), erasedSha256 ?? sha256(bytes)]);
  return lines;
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

/**
 * Restored lines that are proven to begin with the original: a RestoreError at the end says if they do not. In a document that its program
 * wrote anew, each element is proven by itself.
 */
export async function* provenLines(
  input: RestoreInput,
  { sizeBytes, sha256, hasBom }: StoredCompaction['source'] = input.compaction.source,
): AsyncGenerator<readonly Uint8Array[]> {
  const { runtime } = input;
  const lines = restoredLines(input);
  if (input.rewrite !== undefined && input.rewrite !== null) {
    yield* lines;
    return;
  }
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
