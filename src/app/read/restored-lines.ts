import { describeErasure, err, ok, type Result } from '../../core/result.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { Codec } from '../../ports/codec.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { LineStream } from './index-records.ts';
import { concat, keptHashes, LF, trimRecord, unitOf, UTF8_BOM } from './records.ts';
import { hashKept, type Rewrite } from './rewritten-document.ts';

export type RestoreInput = {
  readonly compaction: StoredCompaction;
  readonly archive: Archive;
  readonly runtime: Runtime;
  /** The compacted file with everything appended since. */
  readonly output: LineStream;
  /** The one that the compaction was made with. */
  readonly codec: Codec;
  /** The file is a document that its program wrote anew. By default it holds what the compaction wrote, and what was appended. */
  readonly rewrite?: Rewrite | null;
  /** Called for every line that comes from the archive. */
  readonly onArchived?: (line: StoredLine) => void;
  /** Erased lines come without bytes instead of being a problem; called for each. `output` may have such lines too: `isEarlier`. */
  readonly onErased?: (mark: ErasureMark, isEarlier: boolean) => void;
};

export type RestoredLines = () => AsyncIterable<readonly Uint8Array[]>;

/** Why the original cannot be restored; `line`: the line of the compacted file (from 1) that is the reason, where one is. */
export type RestoreProblem = { readonly message: string; readonly line: number | null } & (
  | { readonly kind: 'changed-line' | 'hole' | 'wrong-hash' }
  | { readonly kind: 'erased'; readonly mark: ErasureMark }
);

/**
 * Ends a stream of restored lines. It is thrown because the code that indexes or writes the stream must not mistake a part for the whole;
 * `attemptRestore` turns it into a value.
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

/** The erasure that removed a line that was not kept; null: it is there, or missing without a reason. */
function erasureOf({ status, erased }: StoredCompaction, stored: StoredLine | null): ErasureMark | null {
  return stored === null && status === 'erased' ? erased : (stored?.erased ?? null);
}

/** Restores everything and compares it with the original; null: everything comes back. */
export async function findRestoreProblem(input: RestoreInput, original: StoredCompaction['source']) {
  const restored = await attemptRestore(async () => {
    for await (const batch of provenLines(input, original)) void batch;
  });
  return restored.ok ? null : restored.error;
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
  const keptHash = keptHashes(compaction);
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
      onErased(mark, false);
      if (batch.add(ERASED)) yield batch.take();
      if (pending?.line === line) pending = archived.now() ?? (await archived.next());
      continue;
    }
    if (sha256 !== undefined) {
      const kept = output.now() ?? (await output.next());
      const isErased = mayBeErased && kept?.length === 0;
      if (isErased && compaction.erased !== null) onErased(compaction.erased, true);
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
function hashesByLine({ inserted }: StoredCompaction, { sha256 }: Runtime): ReadonlyMap<number, readonly string[]> {
  const lines = new Map<number, readonly string[]>();
  for (const { beforeLine, bytes, erasedSha256 } of inserted)
    lines.set(beforeLine, [...(lines.get(beforeLine) ?? []), erasedSha256 ?? sha256(bytes)]);
  return lines;
}

/**
 * Restored lines that are proven to begin with the original: a RestoreError at the end says if they do not. In a document that its program
 * wrote anew, and where lines were erased, each is proven by itself.
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
  const start = hashStart(runtime, { sizeBytes, hasBom });
  let isWhole = true;
  for await (const batch of lines) {
    for (const bytes of batch) start.add(bytes);
    isWhole &&= input.onErased === undefined || batch.every(({ length }) => length > 0);
    yield batch;
  }
  if (!isWhole || start.digest() === sha256) return;
  const message = `what comes out has another sha256 than the original (${sha256.slice(0, 12)}…)`;
  throw new RestoreError({ kind: 'wrong-hash', message, line: null });
}

/** Hashes the first `sizeBytes` bytes of the lines that are added. */
export function hashStart(
  runtime: Pick<Runtime, 'createHash'>,
  { sizeBytes, hasBom = false }: { sizeBytes: number; hasBom?: boolean },
) {
  const hash = runtime.createHash();
  let left = sizeBytes;
  const add = (bytes: Uint8Array): void => {
    if (left > 0) hash.update(left < bytes.length ? bytes.subarray(0, left) : bytes);
    left -= Math.min(left, bytes.length);
  };
  if (hasBom) add(UTF8_BOM);
  return { add, isFull: (): boolean => left === 0, digest: hash.digest };
}

/**
 * The elements of the original as the program has them now, those that left in between, and at the end what it added. What stands around
 * the elements, and between them, is the program's.
 */
async function* mergeElements(
  { compaction, codec, onArchived, onErased }: RestoreInput,
  archived: Cursor<StoredLine>,
  { records, keptAt, ownAt, losses }: Rewrite,
): AsyncGenerator<readonly Uint8Array[]> {
  const { lineCount } = compaction.source;
  if (losses.length > 0 && onErased === undefined) {
    const more = losses.length === 1 ? '' : ` (and ${losses.length - 1} more)`;
    throw new RestoreError({ kind: 'changed-line', message: `${losses[0]}${more}`, line: null });
  }
  const head = records[0] ?? NOTHING;
  const tail = records.at(-1) ?? NOTHING;
  const separator = separatorOf(codec, records);
  const batch = createLineBatch();
  batch.add(head);
  let held: Uint8Array | null = null; // the last element has no separator
  let count = 1;
  const add = (element: Uint8Array): void => {
    if (held !== null) batch.add(concat([held, separator]));
    held = Uint8Array.from(trimRecord(codec, element));
    count += 1;
  };
  let next = 1;
  const addUntil = (until: number): void => {
    for (; next < until; next += 1) if (!ownAt.has(next)) add(records[next] ?? NOTHING);
  };
  const placeOf = new Map(keptAt.entries().map(([at, line]) => [line, at]));
  let pending = await archived.next();
  for (let line = 2; line < lineCount; line += 1) {
    const at = placeOf.get(line);
    if (at !== undefined) addUntil(at + 1);
    else if (pending?.line === line) {
      const mark = erasureOf(compaction, pending);
      if (mark !== null) {
        const message = `record ${line} of the original was ${describeErasure(mark)}`;
        if (onErased === undefined) throw new RestoreError({ kind: 'erased', message, mark, line: null });
        onErased(mark, false);
      } else {
        add(pending.bytes);
        onArchived?.({ ...pending, line: count });
      }
      pending = archived.now() ?? (await archived.next());
    } else if (losses.length === 0) {
      const message = `record ${line} of the original is neither kept nor archived`;
      throw new RestoreError({ kind: 'hole', message, line: null });
    }
    if (batch.isFull()) yield batch.take();
  }
  while (pending !== null) pending = await archived.next();
  addUntil(records.length - 1);
  if (held !== null) batch.add(held);
  batch.add(tail);
  yield batch.take();
}

/** What stands between two elements of a document; a list of one element has the white space of its beginning. */
function separatorOf(codec: Codec, records: readonly Uint8Array[]): Uint8Array {
  const between = records.slice(1, -2).map((bytes) => bytes.subarray(trimRecord(codec, bytes).length));
  const [first] = between;
  if (first !== undefined) return first;
  const [head = NOTHING] = records;
  const space = head.length - new TextDecoder('latin1').decode(head).trimEnd().length;
  return concat([Uint8Array.of(COMMA), head.subarray(head.length - space)]);
}

const COMMA = 0x2c;
const NOTHING = new Uint8Array();

/** Takes items one by one from batches that arrive asynchronously. */
type Cursor<T> = {
  /** The next item of the current batch; null: it has no more, so ask `next`. */
  readonly now: () => T | null;
  /** The next item; null: there is none. */
  readonly next: () => Promise<T | null>;
  /** Ends the reading early. */
  readonly close: () => Promise<void>;
};

function createCursor<T extends object>(batches: AsyncIterable<Iterable<T>>): Cursor<T> {
  const rest = batches[Symbol.asyncIterator]();
  let batch: Iterator<T> | null = null;
  const now = (): T | null => {
    const item = batch?.next();
    return item === undefined || item.done === true ? null : item.value;
  };
  return {
    now,
    next: async () => {
      for (;;) {
        const item = now();
        if (item !== null) return item;
        const more = await rest.next();
        if (more.done === true) return null;
        batch = more.value[Symbol.iterator]();
      }
    },
    close: async () => {
      await rest.return?.();
    },
  };
}

/** Enough that waiting for a batch costs nothing beside reading it. */
const BATCH_BYTES = 1024 * 1024;

/** Gathers lines; `add` and `isFull` say whether it is time to take them. */
function createLineBatch() {
  let lines: Uint8Array[] = [];
  let sizeBytes = 0;
  const isFull = (): boolean => sizeBytes >= BATCH_BYTES;
  return {
    add: (bytes: Uint8Array): boolean => {
      lines.push(bytes);
      sizeBytes += bytes.length;
      return isFull();
    },
    isFull,
    take: (): readonly Uint8Array[] => {
      const taken = lines;
      lines = [];
      sizeBytes = 0;
      return taken;
    },
  };
}
