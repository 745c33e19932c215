import { createHash } from 'node:crypto';
import { readInteger, type Row } from '../rows.ts';
import { checkBlock, type CheckedBlock, checkOwnership } from './block.ts';
import { attempt, type CheckSource, finding, type Finding, type Head, type Place, tryRead } from './finding.ts';

const LIST_BLOCKS = 'SELECT id FROM blocks WHERE compaction_id = :id ORDER BY position';
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
  source: CheckSource,
  head: Head,
  onBlock: (block: CheckedBlock) => void,
): AsyncGenerator<Finding | null, LineFacts> {
  const { query } = source;
  const { id, place } = head;
  const linesOf = new Map<number, number>();
  const watch = createPlaceWatch(place);
  const digest = createHash('sha256');
  if (head.source.hasBom) digest.update(BOM);
  const sums = { kept: 0, archived: head.source.hasBom ? BOM.length : 0, runs: 0 };
  const state = { isWhole: true, isErased: false };

  const runs = readRuns((after) => query(LIST_RUNS, { id, after }));
  let run: IteratorResult<Run, undefined> | null = null;
  const skipKeptRuns = (before: number): AsyncIterable<Finding> =>
    attempt({ ...place, name: `${place.name}, kept lines` }, async function* () {
      for (;;) {
        run ??= await runs.next();
        if (run.done === true || run.value.firstLine >= before) return;
        const { firstLine, lineCount, sizeBytes } = run.value;
        run = null;
        sums.kept += sizeBytes;
        sums.runs += 1;
        yield* watch.add(firstLine, lineCount);
      }
    });
  async function* checkOne(blockId: number): AsyncGenerator<Finding> {
    const block = await checkBlock(query, blockId, place);
    onBlock(block);
    if (block.isErased) state.isErased = true;
    yield* block.findings;
    yield* checkOwnership(source, blockId, place);
    for (const { line, sizeBytes, bytes, batchId } of block.lines) {
      if (run === null || (run.done !== true && run.value.firstLine < line)) yield* skipKeptRuns(line);
      yield* watch.add(line, 1);
      sums.archived += sizeBytes;
      if (bytes !== null) digest.update(bytes);
      if (batchId !== null) linesOf.set(batchId, (linesOf.get(batchId) ?? 0) + 1);
    }
  }
  async function* noteFindings(findings: AsyncIterable<Finding> | Iterable<Finding>): AsyncGenerator<Finding> {
    for await (const found of findings) {
      state.isWhole = false;
      yield found;
    }
  }

  const blocks = await tryRead({ ...place, name: `${place.name}, blocks of archived lines` }, () =>
    query(LIST_BLOCKS, { id }),
  );
  yield* noteFindings(blocks.findings);
  for (const row of blocks.value ?? []) {
    const blockId = readInteger(row, 'id');
    const name = `${place.name}, block ${blockId} of archived lines`;
    yield* noteFindings(attempt({ ...place, name }, () => checkOne(blockId)));
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

type Run = { readonly firstLine: number; readonly lineCount: number; readonly sizeBytes: number };

/** Scattered survivors make many runs, so a few hundred are read at a time. */
async function* readRuns(listAfter: (position: number) => Promise<readonly Row[]>): AsyncGenerator<Run, undefined> {
  for (let rows = await listAfter(-1); rows.length > 0;) {
    let last = 0;
    for (const row of rows) {
      last = readInteger(row, 'position');
      yield {
        firstLine: readInteger(row, 'first_line'),
        lineCount: readInteger(row, 'line_count'),
        sizeBytes: readInteger(row, 'size_bytes'),
      };
    }
    rows = await listAfter(last);
  }
  return undefined;
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
type PlaceWatch = {
  readonly add: (firstLine: number, lineCount: number) => Iterable<Finding>;
  readonly end: (lineCount: number) => Iterable<Finding>;
};

function createPlaceWatch(place: Place): PlaceWatch {
  let expected = 1;
  function* add(firstLine: number, lineCount: number): Generator<Finding> {
    if (firstLine > expected)
      yield finding('hole', place, `${nameLines(expected, firstLine - 1)} neither kept nor archived`);
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

function nameLines(first: number, last: number): string {
  return first === last ? `source line ${first} is` : `source lines ${first} to ${last} are`;
}
