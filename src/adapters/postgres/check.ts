import { createHash } from 'node:crypto';
import type { ArchiveCheckStep } from '../../ports/archive-check.ts';
import type { Archive } from '../../ports/archive.ts';
import { countBlock, inspectBlock, nameLines } from '../archive/check/block.ts';
import { checkBatch, checkCounts } from '../archive/check/cycles.ts';
import {
  addCaptured,
  checkSettings,
  createTotals,
  finding,
  type Finding,
  type Head,
  LIST_TOUCHED,
  placeOf,
  progress,
  readHead,
  toCounted,
  type Totals,
  toTouched,
} from '../archive/check/finding.ts';
import { inspectInserted } from '../archive/check/inserted-lines.ts';
import { BOM, checkSums, createPlaceWatch, type LineFacts } from '../archive/check/lines.ts';
import { describeDamage, isErased } from '../archive/failure.ts';
import { readHash, readInteger, readText } from '../archive/rows.ts';
import { POSTGRES } from './dialect.ts';
import { readUsedBytes } from '../archive/shared.ts';
import { type CaptureSource, readVersion } from './captures.ts';
import * as statements from './check-sql.ts';
import type { Query, Sql } from '../archive/sql/query.ts';

/** Checks everything that is stored, in one state of the archive. Pages and indexes are the server's to check. */
export function createCheck(sql: Sql, path: string): Archive['check'] {
  return async function* check() {
    const { query, rollback } = await sql.begin('snapshot');
    try {
      yield* steps(query, path);
    } finally {
      await rollback(); // nothing was written
    }
  };
}

async function* steps(query: Query, path: string): AsyncGenerator<ArchiveCheckStep> {
  const totals = createTotals();
  const tell = async ({ kind, message, compactionIds }: Finding): Promise<ArchiveCheckStep> => ({
    kind: 'damage',
    damage: { kind, message, files: await listFiles(query, compactionIds) },
  });

  yield progress('checking the tables', 0, statements.STRAYS.length);
  for (const [at, { name, kind, what, sql }] of statements.STRAYS.entries()) {
    for (const row of await query(sql)) {
      const id = row['owner'] === null ? null : readInteger(row, 'owner');
      const place = id === null ? { name, compactionIds: [] } : placeOf(id);
      const count = readInteger(row, 'count');
      yield await tell(finding(kind, place, `${count} of its rows ${count === 1 ? 'refers' : 'refer'} to ${what}`));
    }
    yield progress('checking the tables', at + 1, statements.STRAYS.length);
  }
  const ids = (await query('SELECT id FROM compactions ORDER BY id')).map((row) => readInteger(row, 'id'));
  for (const [at, id] of ids.entries()) {
    yield progress('checking what is stored', at, ids.length);
    for await (const found of checkCompaction(query, id, totals)) {
      if ('isPrepared' in found) {
        if (found.isPrepared) yield { kind: 'prepared', files: await listFiles(query, [id]) };
      } else yield await tell(found);
    }
  }
  for await (const found of checkCaptures({ query, path }, totals)) {
    yield progress('checking captured files', 0, 1);
    if (found !== null) yield { kind: 'damage', damage: found };
  }
  yield progress('checking the vectors', 0, 1);
  const [wrong = {}] = await query(statements.COUNT_WRONG_VECTORS);
  const wrongCount = readInteger(wrong, 'count');
  if (wrongCount > 0) {
    const place = { name: 'the vectors', compactionIds: [] };
    yield await tell(finding('wrong-count', place, `of another length than their model gives: ${wrongCount}`));
  }
  yield toCounted(totals, await readUsedBytes({ query, dialect: POSTGRES }));
}

/** A compaction's own files and those of later cycles, each once. */
async function listFiles(query: Query, compactionIds: readonly number[]): Promise<readonly string[]> {
  const rows = (await Promise.all(compactionIds.map((id) => query(LIST_TOUCHED, { id })))).flat();
  return [...new Set(rows.flatMap(toTouched))];
}

async function* checkCompaction(query: Query, id: number, totals: Totals): AsyncGenerator<Finding | Head> {
  const [row] = await query('SELECT * FROM compactions WHERE id = :id', { id });
  if (row === undefined) return;
  const head = readHead(row);
  if (head.isErased) return;
  totals.compactions += 1;
  yield head;
  yield* checkSettings(row, head);
  const facts = { linesOf: new Map<number, number>(), keptBytes: 0, keptRuns: 0, isWhole: true };
  yield* readable(head, 'archived lines', checkLines(query, { head, totals, facts }));
  yield* readable(head, 'lines of its output', checkInserted(query, head, facts));
  yield* readable(head, 'conversations', checkCycles(query, { head, totals, facts }));
}

/** What cannot be read is a finding, and the check goes on. */
async function* readable({ place }: Head, part: string, findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  try {
    yield* findings;
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    yield finding('unreadable', { ...place, name: `${place.name}, ${part}` }, damage);
  }
}

type Checked = {
  readonly head: Head;
  readonly totals: Totals;
  readonly facts: { -readonly [Key in keyof LineFacts]: LineFacts[Key] } & { readonly linesOf: Map<number, number> };
};

async function* checkLines(query: Query, { head, totals, facts }: Checked): AsyncGenerator<Finding> {
  const { id, place, source } = head;
  const watch = createPlaceWatch(place);
  const digest = createHash('sha256');
  if (source.hasBom) digest.update(BOM);
  const sums = { kept: 0, archived: source.hasBom ? BOM.length : 0, runs: 0 };
  const kept = (await query(statements.LIST_KEPT, { id })).values();
  let run = kept.next();
  let isErasedHere = false;
  function* note(findings: Iterable<Finding>): Generator<Finding> {
    for (const found of findings) {
      facts.isWhole = false;
      yield found;
    }
  }
  function* skipKept(before: number): Generator<Finding> {
    for (; run.value !== undefined && readInteger(run.value, 'first_line') < before; run = kept.next()) {
      sums.kept += readInteger(run.value, 'size_bytes');
      sums.runs += 1;
      yield* watch.add(readInteger(run.value, 'first_line'), readInteger(run.value, 'line_count'));
    }
  }
  for (const found of await query(statements.LIST_BLOCKS, { id })) {
    const blockId = readInteger(found, 'id');
    const [row] = await query(statements.GET_BLOCK, { id: blockId });
    if (row === undefined) continue; // shows as a hole
    const rows = await query(statements.LIST_LINES, { id: blockId });
    const block = inspectBlock(row, rows, place);
    countBlock(totals, block);
    if (block.isErased) isErasedHere = true;
    yield* note(block.findings);
    const stray = rows.filter((line) => readInteger(line, 'is_stray') === 1).map((line) => readInteger(line, 'line'));
    const lost = rows.filter((line) => readInteger(line, 'is_lost') === 1).map((line) => readInteger(line, 'line'));
    if (stray.length > 0)
      yield finding('reference', place, `${nameLines(stray)} not with a batch or conversation of its own`);
    if (lost.length > 0)
      yield finding('search', place, `${nameLines(lost)} not in the search index, and thus not found by its words`);
    for (const { line, sizeBytes, bytes, batchId } of block.lines) {
      yield* note(skipKept(line));
      yield* note(watch.add(line, 1));
      sums.archived += sizeBytes;
      if (bytes !== null) digest.update(bytes);
      if (batchId !== null) facts.linesOf.set(batchId, (facts.linesOf.get(batchId) ?? 0) + 1);
    }
  }
  yield* note(skipKept(Number.POSITIVE_INFINITY));
  yield* note(watch.end(source.lineCount));
  facts.keptBytes = sums.kept;
  facts.keptRuns = sums.runs;
  const sha256 = isErasedHere ? source.sha256 : digest.digest('hex');
  if (facts.isWhole) yield* note(checkSums(head, { ...sums, sha256 }));
}

async function* checkInserted(query: Query, head: Head, lines: LineFacts): AsyncGenerator<Finding> {
  const inserted = await query(statements.LIST_INSERTED, { id: head.id });
  yield* inspectInserted({ head, lines }, inserted, await query(statements.LIST_CLIPS, { id: head.id }));
}

async function* checkCycles(query: Query, { head, totals, facts }: Checked): AsyncGenerator<Finding> {
  const rows = await query(statements.LIST_CYCLES, { id: head.id });
  if (rows.some((row, at) => readInteger(row, 'position') !== at) || rows.length === 0)
    yield finding('reference', head.place, 'a conversation of it is gone');
  for (const row of rows) {
    const name = `${head.place.name}, conversation ${readText(row, 'conversation_id')}`;
    const place = { name, compactionIds: head.place.compactionIds };
    const batches = await query(statements.LIST_BATCHES, { id: readInteger(row, 'id') });
    yield* checkCounts(row, batches.length, place);
    for (const batch of batches) {
      totals.batches += 1;
      const batchId = readInteger(batch, 'id');
      const lineCount = facts.isWhole ? (facts.linesOf.get(batchId) ?? 0) : null;
      yield* checkBatch(batch, { batchId, place, lineCount });
    }
  }
}

type CaptureDamage = Extract<ArchiveCheckStep, { readonly kind: 'damage' }>['damage'];

/** Reads every version of every captured file and checks the hash of each of its states. Yields null between versions. */
async function* checkCaptures(source: CaptureSource, totals: Totals): AsyncGenerator<CaptureDamage | null> {
  const { query } = source;
  for (const version of await query(statements.LIST_VERSIONS)) {
    yield null;
    const problem = await findProblem(source, readInteger(version, 'id'));
    if (problem === null) continue;
    const file = readText(version, 'path');
    const message = `captured file ${JSON.stringify(file)}, version ${readInteger(version, 'version')}: ${problem}`;
    yield { kind: 'wrong-hash', message, files: [file] };
  }
  const [stored = {}] = await query(statements.COUNT_CAPTURED);
  addCaptured(totals, stored);
}

async function findProblem(source: CaptureSource, versionId: number): Promise<string | null> {
  const states = await source.query(statements.LIST_STATES, { id: versionId });
  const digest = createHash('sha256');
  let [sizeBytes, at] = [0, 0];
  /** What differs in the states that end within the next bytes. */
  const check = (bytes: Uint8Array): string | null => {
    let rest = bytes;
    for (let state = states[at]; state !== undefined; state = states[at]) {
      const wanted = readInteger(state, 'size_bytes');
      const part = rest.subarray(0, wanted - sizeBytes);
      digest.update(part);
      sizeBytes += part.length;
      rest = rest.subarray(part.length);
      if (sizeBytes < wanted) return null;
      if (digest.copy().digest('hex') !== readHash(state, 'sha256'))
        return `its first ${wanted} bytes differ from their hash`;
      at += 1;
    }
    return rest.length > 0 ? 'it has more bytes than were captured' : null;
  };
  try {
    for await (const bytes of readVersion(source, versionId)) {
      const problem = check(bytes);
      if (problem !== null) return problem;
    }
    const problem = check(new Uint8Array());
    const missing = states[at];
    if (problem !== null || missing === undefined) return problem;
    const wanted = readInteger(missing, 'size_bytes');
    return `${wanted - sizeBytes} of its ${wanted} bytes are missing`;
  } catch (error) {
    if (isErased(error)) return null; // nothing can be compared
    const damage = describeDamage(error);
    if (damage === null) throw error;
    return damage;
  }
}
