import { createHash, hash } from 'node:crypto';
import { bytesIn, takeBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import {
  hashLineHex,
  OUTCOMES,
  readBytes,
  readHash,
  readInteger,
  readOptionalInteger,
  readText,
  type Row,
} from '../rows.ts';
import { LIST_BLOCKS } from '../read/lines.ts';
import { getBlock, type Reading, withTexts } from '../texts.ts';
import { OF_BLOCK, type Query } from '../sql/query.ts';
import { attempt, finding, type Finding, type Head, partOf, type Place, type Totals, tryRead } from './finding.ts';
import { LIST_INSERTED } from '../read/compactions.ts';
import { parseJson } from '../../../core/result.ts';

const LIST_LINES = `
SELECT l.id, line, "offset", size_bytes, batch_id, sha256, erasure_id FROM lines AS l WHERE ${OF_BLOCK} ORDER BY l.id`;
/** With a batch or cycle of another compaction, or one that does not lead to them, or without one that they need. */
const LIST_STRAYS = `
SELECT l.line FROM lines AS l JOIN blocks AS k ON k.id = l.block_id
LEFT JOIN batches AS b ON b.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(b.cycle_id, l.cycle_id)
WHERE ${OF_BLOCK} AND ((l.outcome = ${OUTCOMES.indexOf('summarized')}) <> (l.batch_id IS NOT NULL) OR y.compaction_id <> k.compaction_id
  OR (b.id IS NOT NULL AND l.id NOT BETWEEN coalesce(b.first_line_id, 0) AND coalesce(b.last_line_id, 0))) ORDER BY l.id`;
/** Scattered survivors make many runs, so a few hundred are read at a time. */
const LIST_RUNS = `
SELECT position, first_line, line_count, size_bytes FROM kept_runs WHERE compaction_id = :id AND position > :after ORDER BY position LIMIT 500`;

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

/** Facts about a compaction's lines, for other checks. */
export type LineFacts = {
  /** Line counts by the id of the batch that summarized them. */
  readonly linesOf: ReadonlyMap<number, number>;
  readonly keptBytes: number;
  readonly keptRuns: number;
  /** False: something is wrong already, so sums would be wrong too. */
  readonly isWhole: boolean;
};

/**
 * Checks every archived line of a compaction, yielding null after each block, and that together with the kept lines
 * they are the whole source.
 */
export async function* checkLines(
  source: Reading,
  head: Head,
  totals: Totals,
): AsyncGenerator<Finding | null, LineFacts> {
  const { query } = source;
  const { id, place } = head;
  const linesOf = new Map<number, number>();
  const watch = createPlaceWatch(place);
  const digest = createHash('sha256');
  if (head.source.hasBom) digest.update(BOM);
  const sums = { kept: 0, archived: head.source.hasBom ? BOM.length : 0, runs: 0 };
  const state = { isWhole: true, isErased: false };

  const runs = readRuns(query, id);
  let run: IteratorResult<Row, undefined> | null = null;
  const skipKeptRuns = (before: number): AsyncIterable<Finding> =>
    attempt(partOf(place, 'kept lines'), async function* () {
      for (;;) {
        run ??= await runs.next();
        if (run.done === true || readInteger(run.value, 'first_line') >= before) return;
        const row = run.value;
        run = null;
        sums.kept += readInteger(row, 'size_bytes');
        sums.runs += 1;
        yield* watch.add(readInteger(row, 'first_line'), readInteger(row, 'line_count'));
      }
    });
  async function* checkOne(blockId: number): AsyncGenerator<Finding> {
    const block = await readBlock(source, blockId);
    totals.blocks += 1;
    totals.lines += block.lines.length;
    totals.original += block.rawSizeBytes;
    totals.compressed += block.compressedBytes;
    if (block.lines.some(({ isErased }) => isErased)) state.isErased = true;
    yield* block.problems.map(([kind, what]) => finding(kind, place, what));
    yield* checkOwnership(source, blockId, place);
    for (const { row, line, bytes } of block.lines) {
      if (run === null || (run.done !== true && readInteger(run.value, 'first_line') < line)) yield* skipKeptRuns(line);
      yield* watch.add(line, 1);
      sums.archived += readInteger(row, 'size_bytes');
      if (bytes !== null) digest.update(bytes);
      const batchId = readOptionalInteger(row, 'batch_id');
      if (batchId !== null) linesOf.set(batchId, (linesOf.get(batchId) ?? 0) + 1);
    }
  }
  async function* noteFindings(findings: AsyncIterable<Finding> | Iterable<Finding>): AsyncGenerator<Finding> {
    for await (const found of findings) {
      state.isWhole = false;
      yield found;
    }
  }

  const blocks = await tryRead(() => query.numbers(LIST_BLOCKS, { id }));
  const list = partOf(place, 'blocks of archived lines');
  if (blocks.damage !== null) yield* noteFindings([finding('unreadable', list, blocks.damage)]);
  for (const blockId of blocks.value ?? []) {
    yield* noteFindings(attempt(partOf(place, `block ${blockId} of archived lines`), () => checkOne(blockId)));
    yield null;
  }
  yield* noteFindings(skipKeptRuns(Number.POSITIVE_INFINITY));
  yield* noteFindings(watch.end(head.source.lineCount));
  if (state.isWhole) {
    const sha256 = state.isErased ? head.source.sha256 : digest.digest('hex');
    yield* noteFindings(checkSums(head, { ...sums, sha256 }));
  }
  return { linesOf, keptBytes: sums.kept, keptRuns: sums.runs, isWhole: state.isWhole };
}

async function* readRuns(query: Query, id: number): AsyncGenerator<Row, undefined> {
  for (let after = -1; ;) {
    const rows = await query(LIST_RUNS, { id, after });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    after = readInteger(last, 'position');
  }
}

/** A line of a block; `bytes` is null if it was erased, or the block cannot be decompressed. */
type CheckedLine = {
  readonly row: Row;
  readonly line: number;
  readonly isErased: boolean;
  readonly bytes: Uint8Array | null;
};

/** Decompresses a block and proves that its lines fill it and match their hashes. Throws if its rows cannot be read. */
async function readBlock({ query, dialect, unpack }: Reading, id: number) {
  const [block] = await query(getBlock(dialect), { id });
  if (block === undefined) throw new DamageError(`block ${id} is not where its index says`);
  const rows = await query(LIST_LINES, { id });
  const [firstLine, rawSizeBytes] = [readInteger(block, 'first_line'), readInteger(block, 'raw_size_bytes')];
  const pack = unpack(block);
  const raw = pack === null ? null : takeBlock(block, pack);
  const share = rawSizeBytes / Math.max(1, readInteger(block, 'pack_size_bytes'));
  const left = rows.filter((row) => row['erasure_id'] === null);
  let end = 0;
  const follows = left.every((row) => {
    const isNext = readInteger(row, 'offset') === end;
    end += readInteger(row, 'size_bytes');
    return isNext;
  });
  const isInOrder = follows && end === rawSizeBytes && rows.length > 0;
  const lines = rows.map((row): CheckedLine => {
    const isErased = row['erasure_id'] !== null;
    // Overlapping lines are not hashed, because that could take forever.
    const bytes = isErased || raw === null || !isInOrder ? null : bytesIn(raw, row);
    return { row, line: readInteger(row, 'line'), isErased, bytes };
  });
  const isWrong = ({ row, bytes }: CheckedLine): boolean =>
    bytes !== null && hashLineHex(bytes) !== readHash(row, 'sha256');
  const wrong = nameLines(lines.filter(isWrong).map(({ line }) => line));
  const name = `the block of archived lines that begins with source line ${firstLine}`;
  const isFilled = isInOrder && lines[0]?.line === firstLine;
  const isRange = rows[0]?.['id'] === block['first_line_id'] && rows.at(-1)?.['id'] === block['last_line_id'];
  return {
    lines,
    rawSizeBytes,
    compressedBytes: Math.round(readBytes(block, 'data').length * share),
    problems: [
      ...(raw === null ? [['block', `${name} cannot be decompressed`] as const] : []),
      ...(isFilled ? [] : [['block', `${name} is not filled by its ${rows.length} lines`] as const]),
      ...(isRange ? [] : [['block', `${name} has another range of ids than its lines`] as const]),
      ...(wrong === null ? [] : [['wrong-hash', `${wrong} not what was stored (by sha256)`] as const]),
    ],
  };
}

/** 'source line 7 is', '3 lines from source line 7 on are'; null for no lines. */
function nameLines(lines: readonly number[]): string | null {
  const [first] = lines;
  if (first === undefined) return null;
  return lines.length === 1 ? `source line ${first} is` : `${lines.length} lines from source line ${first} on are`;
}

/**
 * Checks that a summarized line of a block belongs to a batch and any other line to none, all within their own compaction, and that every message
 * is in the search index or will be.
 */
async function* checkOwnership({ query, dialect }: Reading, id: number, place: Place): AsyncGenerator<Finding> {
  const listUnindexed = `SELECT l.line FROM lines AS l WHERE ${OF_BLOCK} AND l.role IS NOT NULL AND NOT ${dialect.isMessageIndexed} AND NOT EXISTS (
  SELECT 1 FROM unindexed_lines AS u WHERE u.first_id BETWEEN (SELECT first_line_id FROM blocks WHERE id = :id) AND l.id AND u.last_id >= l.id) ORDER BY l.id`;
  for (const [kind, what, sql, problem] of [
    ['reference', 'batches of its lines', LIST_STRAYS, 'not with a batch or conversation of its own'],
    ['search', 'search index', listUnindexed, 'not in the search index, and thus not found by its words'],
  ] as const)
    yield* attempt(partOf(place, what), async function* () {
      const named = nameLines(await query.numbers(sql, { id }));
      if (named !== null) yield finding(kind, place, `${named} ${problem}`);
    });
}

/**
 * Checks the size, and for a source that was archived whole the sha256; otherwise the kept lines are not in the
 * archive.
 */
function* checkSums(
  { place, source }: Head,
  sums: { readonly kept: number; readonly archived: number; readonly runs: number; readonly sha256: string },
): Generator<Finding> {
  const sizeBytes = sums.kept + sums.archived;
  if (sizeBytes !== source.sizeBytes)
    yield finding('wrong-count', place, `its lines have ${sizeBytes} bytes, its source had ${source.sizeBytes}`);
  if (sums.runs === 0 && sums.sha256 !== source.sha256)
    yield finding('wrong-hash', place, 'its lines together have another sha256 than its source');
}

/** Watches that the given runs, in order, cover each source line exactly once. */
function createPlaceWatch(place: Place) {
  let expected = 1;
  function* add(firstLine: number, lineCount: number): Generator<Finding> {
    if (firstLine > expected) {
      const last = firstLine - 1;
      const missing = expected === last ? `source line ${expected} is` : `source lines ${expected} to ${last} are`;
      yield finding('hole', place, `${missing} neither kept nor archived`);
    }
    if (firstLine < expected) yield finding('hole', place, `source line ${firstLine} is there twice`);
    expected = Math.max(expected, firstLine + lineCount);
  }
  function* end(lineCount: number): Generator<Finding> {
    if (expected <= lineCount) yield* add(lineCount + 1, 0);
    else if (expected > lineCount + 1)
      yield finding('wrong-count', place, `${expected - 1} lines are kept or archived of a source of ${lineCount}`);
  }
  return { add, end };
}

const LIST_CLIPS = 'SELECT conversation_id, clip_sha256 FROM cycles WHERE compaction_id = :id ORDER BY position';

const [COMMA, LF, CR] = [0x2c, 0x0a, 0x0d];
const SPACE: ReadonlySet<number | undefined> = new Set([0x20, 0x09, LF, CR]); // white space in JSON

/**
 * Checks the lines that a compaction added to its output: each cycle's clip-archive is among them, and with the kept
 * lines they make up the output.
 */
export function checkInsertedLines(reading: Reading, head: Head, lines: LineFacts): AsyncIterable<Finding> {
  const { id, place, source, output } = head;
  return attempt(partOf(place, 'lines of its output'), async function* () {
    const hashes = new Set<string>();
    const digest = createHash('sha256');
    let sizeBytes = lines.keptBytes;
    // A missing one shows in the total size.
    for (const row of await withTexts(reading, await reading.query(LIST_INSERTED, { id }))) {
      if (row['erased_sha256'] !== null) return; // nothing is left to compare
      const bytes = readBytes(row, 'text');
      const beforeLine = readInteger(row, 'before_line');
      const before = `a line of its output stands before source line ${beforeLine} of ${source.lineCount}`;
      if (beforeLine < 1 || beforeLine > source.lineCount + 1) yield finding('order', place, before);
      for (const sha256 of clipHashes(bytes)) hashes.add(sha256);
      digest.update(bytes);
      sizeBytes += bytes.length;
    }
    for (const row of await reading.query(LIST_CLIPS, { id })) {
      const clip = `the clip-archive of conversation ${readText(row, 'conversation_id')}`;
      if (!hashes.has(readHash(row, 'clip_sha256')))
        yield finding('wrong-hash', place, `${clip} differs from its hash`);
    }
    if (!lines.isWhole) return;
    const sizes = `the lines of its output have ${sizeBytes} bytes, its output had ${output.sizeBytes}`;
    if (sizeBytes !== output.sizeBytes) yield finding('wrong-count', place, sizes);
    else if (lines.keptRuns === 0 && digest.digest('hex') !== output.sha256)
      yield finding('wrong-hash', place, 'the lines of its output have another sha256 than its output');
  });
}

/**
 * The hashes that may identify a clip-archive: of its line, of the list element that it is, or (for a history without a
 * file) of its message's text.
 */
function* clipHashes(bytes: Uint8Array): Generator<string> {
  const eolLength = bytes.at(-1) !== LF ? 0 : bytes.at(-2) === CR ? 2 : 1;
  const line = bytes.subarray(0, bytes.length - eolLength);
  yield hash('sha256', line);
  const element = bytes.subarray(0, bytes.length - lengthOfSeparator(bytes));
  if (element.length !== line.length) yield hash('sha256', element);
  // Without a value the line is damaged, so no hash can match either.
  const { content }: { readonly content?: unknown } = Object(parseJson(new TextDecoder().decode(bytes)));
  if (typeof content === 'string') yield hash('sha256', content);
}

/** The separator after a list element: white space, with a comma unless the element is the last. */
function lengthOfSeparator(bytes: Uint8Array): number {
  const end = trimSpace(bytes, bytes.length);
  return bytes.length - (bytes[end - 1] === COMMA ? trimSpace(bytes, end - 1) : end);
}

function trimSpace(bytes: Uint8Array, from: number): number {
  let end = from;
  while (SPACE.has(bytes[end - 1])) end -= 1;
  return end;
}
