import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { readInteger, type Row } from '../rows.ts';
import { type CheckedBlock, createBlockCheck, createOwnerCheck } from './block.ts';
import { attempt, finding, type Finding, type Head, type Place, tryRead } from './finding.ts';

const LIST_BLOCKS = 'SELECT id FROM blocks WHERE compaction_id = ? ORDER BY position';
const LIST_RUNS = `
SELECT position, first_line, line_count, size_bytes FROM kept_runs WHERE compaction_id = ? AND position > ? ORDER BY position LIMIT 500`;

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

/** Of a compaction's lines, for what is checked against them. */
export type LineFacts = {
  /** By the id of the batch that they were summarized in. */
  readonly linesOf: ReadonlyMap<number, number>;
  readonly keptBytes: number;
  readonly keptRuns: number;
  /** False: something is wrong already, so that sums are, too. */
  readonly isWhole: boolean;
};

type LineCheck = (head: Head, onBlock: (block: CheckedBlock) => void) => Generator<Finding | null, LineFacts>;

/** Every archived line of a compaction, block by block (null: between two), and with the kept ones that they are the whole source. */
export function createLineCheck(db: Database.Database): LineCheck {
  const listBlocks = db.prepare<[number], number>(LIST_BLOCKS).pluck();
  const listRuns = db.prepare<[number, number], Row>(LIST_RUNS);
  const checkBlock = createBlockCheck(db);
  const checkOwnership = createOwnerCheck(db);

  return function* checkLines(head, onBlock) {
    const { id, place, source } = head;
    const linesOf = new Map<number, number>();
    const watch = createPlaceWatch(place);
    const digest = createHash('sha256');
    if (source.hasBom) digest.update(BOM);
    const sums = { kept: 0, archived: source.hasBom ? BOM.length : 0, runs: 0 };
    const state = { isWhole: true };

    const runs = readRuns((after) => listRuns.all(id, after));
    let run: IteratorResult<Run, undefined> | null = null;
    const passKept = (before: number): Iterable<Finding> =>
      attempt({ ...place, name: `${place.name}, kept lines` }, function* () {
        for (;;) {
          run ??= runs.next();
          if (run.done === true || run.value.firstLine >= before) return;
          const { firstLine, lineCount, sizeBytes } = run.value;
          run = null;
          sums.kept += sizeBytes;
          sums.runs += 1;
          yield* watch.add(firstLine, lineCount);
        }
      });
    function* checkOne(blockId: number): Generator<Finding> {
      const block = checkBlock(blockId, place);
      onBlock(block);
      yield* block.findings;
      yield* checkOwnership(block.lines, { compactionId: id, place });
      for (const { line, sizeBytes, bytes, batchId } of block.lines) {
        yield* passKept(line);
        yield* watch.add(line, 1);
        sums.archived += sizeBytes;
        if (bytes !== null) digest.update(bytes);
        if (batchId !== null) linesOf.set(batchId, (linesOf.get(batchId) ?? 0) + 1);
      }
    }
    function* noticed(findings: Iterable<Finding>): Generator<Finding> {
      for (const found of findings) {
        state.isWhole = false;
        yield found;
      }
    }

    const blockIds = tryRead({ ...place, name: `${place.name}, blocks of archived lines` }, () => listBlocks.all(id));
    yield* noticed(blockIds.findings);
    for (const blockId of blockIds.value ?? []) {
      const name = `${place.name}, block ${blockId} of archived lines`;
      yield* noticed(attempt({ ...place, name }, () => checkOne(blockId)));
      yield null;
    }
    yield* noticed(passKept(Number.POSITIVE_INFINITY));
    yield* noticed(watch.end(source.lineCount));
    if (state.isWhole) yield* noticed(checkSums(head, { ...sums, sha256: digest.digest('hex') }));
    return { linesOf, keptBytes: sums.kept, keptRuns: sums.runs, isWhole: state.isWhole };
  };
}

type Run = { readonly firstLine: number; readonly lineCount: number; readonly sizeBytes: number };

/** A survivor here and there makes many runs: a few hundred at a time. */
function* readRuns(listAfter: (position: number) => readonly Row[]): Generator<Run, undefined> {
  for (let rows = listAfter(-1); rows.length > 0;) {
    let last = 0;
    for (const row of rows) {
      last = readInteger(row, 'position');
      yield {
        firstLine: readInteger(row, 'first_line'),
        lineCount: readInteger(row, 'line_count'),
        sizeBytes: readInteger(row, 'size_bytes'),
      };
    }
    rows = listAfter(last);
  }
  return undefined;
}

/** Of a source that was archived whole, the sha256 too; of any other the kept lines are not here. */
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

/** Watches that what is told of in order is each line of a source exactly once. */
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
