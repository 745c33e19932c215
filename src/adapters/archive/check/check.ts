import { createHash, hash } from 'node:crypto';
import { isWithoutTexts } from '../erase/erase.ts';
import type { ArchiveCheckStep, Archive } from '../../../ports/archive.ts';
import { createUnpack } from '../blocks.ts';
import { GET_COMPACTION, LABEL, readHead } from '../read/compactions.ts';
import { OUTCOMES, readHash, readInteger, readOptionalInteger, readOptionalText, readText, type Row } from '../rows.ts';
import { countRows, type Dialect, readNumber, type Sql } from '../sql/query.ts';
import {
  attempt,
  type Finding,
  finding,
  type Head,
  nowhere,
  partOf,
  type Place,
  placeOf,
  type Totals,
  tryRead,
} from './finding.ts';
import { OUTPUT_PATH } from '../store/runs.ts';
import { checkLines, type LineFacts, checkInsertedLines } from './lines.ts';
import { type Reference, referencesOf } from '../sql/definitions.ts';
import { isErased } from '../failure.ts';
import { readVersion } from '../read/captured.ts';
import { readContent, type Reading, withTexts } from '../texts.ts';

/** What only one engine has to check. Null says that a check is still at work. */
export type EngineCheck = {
  /** Pages and indexes, before anything else is read. */
  readonly structure: (source: Reading) => AsyncIterable<Finding | null>;
  /** The search indexes, which are derived from the rest. */
  readonly derived: (source: Reading) => AsyncIterable<Finding | null>;
  /** The highest ids of compactions, as `id`: each statement may find one that another one misses. */
  readonly lastIds: readonly string[];
  /** What the archive takes on disk, as `size`. */
  readonly fileBytes: string;
};

/** A compaction's own files and those of later cycles: they show its batches and need it to restore the original. */
const LIST_TOUCHED = `
WITH RECURSIVE touched (id) AS (
  SELECT id FROM cycles WHERE compaction_id = :id
  UNION SELECT c.id FROM touched JOIN cycles AS c ON c.parent_cycle_id = touched.id
)
SELECT c.source_path, ${OUTPUT_PATH} AS output_path FROM compactions AS c
WHERE id = :id OR id IN (SELECT c.compaction_id FROM touched JOIN cycles AS c ON c.id = touched.id) ORDER BY id`;

/** Checks everything that is stored, in one snapshot of the archive. `path`: of the archive, for messages. */
export function createCheck(sql: Sql, path: string, engine: EngineCheck): Archive['check'] {
  return async function* check() {
    const { query, rollback } = await sql.begin('snapshot');
    try {
      yield* steps({ query, dialect: sql.dialect, unpack: createUnpack() }, path, engine);
    } finally {
      await rollback(); // nothing was written
    }
  };
}

async function* steps(source: Reading, path: string, engine: EngineCheck): AsyncGenerator<ArchiveCheckStep> {
  const { query } = source;
  const filesOf = createFileFinder(source);
  const totals: Totals = { compactions: 0, batches: 0, captured: 0, lines: 0, blocks: 0, original: 0, compressed: 0 };

  // One unreadable page affects many rows, but is reported once.
  const told = { message: '' };
  async function* tell({ kind, message, compactionIds, files }: Finding): AsyncGenerator<ArchiveCheckStep> {
    if (message !== told.message)
      yield { kind: 'damage', damage: { kind, message, files: files ?? (await filesOf(compactionIds)) } };
    told.message = message;
  }
  async function* tellAll(
    progress: Omit<Extract<ArchiveCheckStep, { readonly kind: 'progress' }>, 'kind'>,
    findings: AsyncIterable<Finding | Head | null>,
  ): AsyncGenerator<ArchiveCheckStep> {
    yield { kind: 'progress', ...progress };
    for await (const found of findings) {
      if (found === null) yield { kind: 'progress', ...progress };
      else if (!('isPrepared' in found)) yield* tell(found);
      else if (found.isPrepared) yield { kind: 'prepared', files: await filesOf([found.id]) };
    }
  }
  async function* inTurn(
    ...checks: readonly ((source: Reading) => AsyncIterable<Finding | null>)[]
  ): AsyncGenerator<Finding | null> {
    for (const [at, check] of checks.entries()) {
      if (at > 0) yield null;
      yield* check(source);
    }
  }

  // Ids are never reused, so a missing one was discarded. With damage, one statement may miss what another one finds.
  let last = 0;
  for (const sql of engine.lastIds) {
    const { value, damage } = await tryRead(() => readNumber(query, sql));
    if (damage === null) last = Math.max(last, value);
    else yield* tell(finding('unreadable', nowhere('the list of compactions'), damage));
  }
  const whole = { done: 0, total: 1 };
  yield* tellAll({ stage: 'checking the database', ...whole }, inTurn(engine.structure, checkReferences, checkLabels));
  for (let id = 1; id <= last; id += 1) {
    const progress = { stage: 'checking what is stored', done: id - 1, total: last };
    yield* tellAll(progress, checkCompaction(source, id, totals));
  }
  yield* tellAll({ stage: 'checking captured files', ...whole }, checkCaptures(source, path, totals));
  yield* tellAll({ stage: 'checking the search index', ...whole }, inTurn(checkVectors, engine.derived));
  const { original, compressed, ...counts } = totals;
  const bytes = { original, compressed, file: await readNumber(query, engine.fileBytes) };
  yield { kind: 'counted', counts: { ...counts, bytes } };
}

/** Checks one compaction: yields its head, its findings, and now and then null to give control back. */
async function* checkCompaction(source: Reading, id: number, totals: Totals): AsyncGenerator<Finding | Head | null> {
  const { query } = source;
  const heads: Head[] = [];
  const place = placeOf(id);
  yield* attempt(place, async function* () {
    for (const row of await query(GET_COMPACTION, { id })) {
      const status = readText(row, 'status');
      if (status !== 'erased') heads.push({ ...readHead(row), id, place, isPrepared: status === 'prepared' });
      const settings = readText(row, 'settings');
      if (hash('sha256', settings) !== readHash(row, 'settings_sha256') && !isWithoutTexts(settings))
        yield finding('wrong-hash', place, 'its settings differ from their hash');
    }
  });
  for (const head of heads) {
    totals.compactions += 1;
    yield head;
    const lines = yield* checkLines(source, head, totals);
    yield* checkInsertedLines(source, head, lines);
    yield* checkCycles(source, { head, lines, totals });
  }
}

/** Lists the files affected by damage in compactions, each once, as far as they can still be read. */
function createFileFinder({ query }: Reading): (compactionIds: readonly number[]) => Promise<readonly string[]> {
  const find = async (id: number): Promise<readonly string[]> => {
    const { value } = await tryRead(async () =>
      (await query(LIST_TOUCHED, { id })).flatMap((row) =>
        [readText(row, 'source_path'), readOptionalText(row, 'output_path')].filter((path) => path !== null),
      ),
    );
    return value ?? [];
  };
  // Findings about one compaction come in a row, so the last answer is kept.
  let last: { readonly id: number; readonly files: readonly string[] } = { id: -1, files: [] };
  return async (compactionIds) => {
    const all: string[] = [];
    for (const id of compactionIds) {
      if (last.id !== id) last = { id, files: await find(id) };
      all.push(...last.files);
    }
    return [...new Set(all)];
  };
}

const VIA_CYCLE = '(SELECT compaction_id FROM cycles WHERE id = t.cycle_id)';
const VIA_BATCH =
  '(SELECT c.compaction_id FROM batches AS b JOIN cycles AS c ON c.id = b.cycle_id WHERE b.id = t.batch_id)';
/** SQL for the compaction that a row t of a table belongs to. */
const OWNERS: Readonly<Record<string, string>> = {
  cycles: 't.compaction_id',
  batches: VIA_CYCLE,
  batch_sources: VIA_BATCH,
  live_batches: VIA_CYCLE,
  blocks: 't.compaction_id',
  lines: `coalesce((SELECT compaction_id FROM blocks WHERE id = t.block_id), ${VIA_CYCLE}, ${VIA_BATCH})`,
  carried_lines: VIA_CYCLE,
  inserted_lines: 't.compaction_id',
  kept_runs: 't.compaction_id',
  run_files: 't.compaction_id',
};
/** Beyond this many compactions with the same damage, the other checks report the rest. */
const MAX_OWNERS = 20;

/** A database does not tell of rows that refer to missing rows where something has damaged it, or where it does not know the reference. */
const listOrphans = ({ table, column, parent }: Reference): string => `
SELECT ${OWNERS[table] ?? 'CAST(NULL AS bigint)'} AS owner, count(*) AS count, min(t.${column}) AS missing FROM ${table} AS t
WHERE t.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${parent} WHERE id = t.${column}) GROUP BY 1 ORDER BY 1 LIMIT ${MAX_OWNERS}`;

/** Finds rows that refer to missing rows. Each finding names the compaction that owns them. Yields null between tables. */
async function* checkReferences({ query, dialect }: Reading): AsyncGenerator<Finding | null> {
  for (const reference of referencesOf(dialect.name)) {
    const { table, parent } = reference;
    yield* attempt(nowhere(`table ${table}`), async function* () {
      for (const row of await query(listOrphans(reference))) {
        const id = readOptionalInteger(row, 'owner');
        const count = readInteger(row, 'count');
        const what = `${count} of its ${table} ${count === 1 ? 'belongs' : 'belong'} to ${parent} that are gone (the first to ${readInteger(row, 'missing')})`;
        yield finding('reference', id === null ? nowhere(`table ${table}`) : placeOf(id), what);
      }
    });
    yield null;
  }
}

const LIST_TWINS = `
SELECT y.conversation_id, ${LABEL} AS label, count(*) AS count, min(y.compaction_id) AS first, max(y.compaction_id) AS last
FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id GROUP BY y.conversation_id, b.label_end HAVING count(*) > 1 ORDER BY 4, 2 LIMIT ${MAX_OWNERS}`;

/** Finds labels that several batches of a conversation have: no index keeps them apart. */
async function* checkLabels({ query }: Reading): AsyncGenerator<Finding> {
  const name = 'the labels of batches';
  yield* attempt(nowhere(name), async function* () {
    for (const row of await query(LIST_TWINS)) {
      const compactionIds = [readInteger(row, 'first'), readInteger(row, 'last')];
      const what = `${readInteger(row, 'count')} batches of conversation ${readText(row, 'conversation_id')} have the label ${readText(row, 'label')}`;
      yield finding('reference', { name, compactionIds }, what);
    }
  });
}

const WRONG_VECTORS = ['message_vectors', 'batch_vectors'].map(
  (table) => `${table} WHERE length(vector) <> coalesce((SELECT dimensions FROM vector_model), -1)`,
);

/** Finds vectors of another length than those of their model. */
async function* checkVectors({ query }: Reading): AsyncGenerator<Finding> {
  const place = nowhere('the vectors');
  yield* attempt(place, async function* () {
    let wrong = 0;
    for (const from of WRONG_VECTORS) wrong += await countRows(query, from);
    if (wrong > 0) yield finding('wrong-count', place, `of another length than their model gives: ${wrong}`);
  });
}

const LIST_VERSIONS = 'SELECT id FROM captured_versions ORDER BY id';
const GET_VERSION = `
SELECT f.path, v.version FROM captured_versions AS v JOIN captured_files AS f ON f.id = v.file_id WHERE v.id = :id`;
const LIST_STATES = 'SELECT size_bytes, sha256 FROM captured_states WHERE version_id = :id ORDER BY size_bytes, id';
const COUNT_STORED = `
SELECT (SELECT count(*) FROM captured_files) AS captured, count(*) AS blocks, CAST(coalesce(sum(line_count), 0) AS bigint) AS lines,
  CAST(coalesce(sum(raw_size_bytes), 0) AS bigint) AS original, CAST(coalesce(sum(length(data)), 0) AS bigint) AS compressed FROM captured_blocks`;

/** Reads every version of every captured file and checks the hash of each of its states. Yields null between versions. */
async function* checkCaptures({ query }: Reading, path: string, totals: Totals): AsyncGenerator<Finding | null> {
  const placeOf = async (id: number): Promise<Place> => {
    const { value } = await tryRead(() => query(GET_VERSION, { id }));
    const [row] = value ?? [];
    if (row === undefined) return { ...nowhere(`captured version ${id}`), files: [] };
    const file = readText(row, 'path');
    const name = `captured file ${JSON.stringify(file)}, version ${readInteger(row, 'version')}`;
    return { ...nowhere(name), files: [file] };
  };
  const versions = await tryRead(() => query.numbers(LIST_VERSIONS));
  if (versions.damage !== null) {
    yield finding('unreadable', { ...nowhere('the list of captured files'), files: [] }, versions.damage);
    return;
  }
  for (const id of versions.value) {
    yield null;
    const { value, damage } = await tryRead(async () =>
      findProblem(await query(LIST_STATES, { id }), readVersion(query, path, id)),
    );
    const problem = value ?? damage;
    if (problem !== null) yield finding('wrong-hash', await placeOf(id), problem);
  }
  const stored = await tryRead(() => query(COUNT_STORED));
  for (const row of stored.value ?? [])
    for (const name of ['captured', 'blocks', 'lines', 'original', 'compressed'] as const)
      totals[name] += readInteger(row, name);
}

/** What differs from the hashes of the states, which are beginnings of one version. Null: nothing, or lines were erased and nothing can be compared. */
async function findProblem(states: readonly Row[], pieces: AsyncGenerator<Uint8Array>): Promise<string | null> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let rest: Uint8Array = new Uint8Array();
  try {
    for (const state of states) {
      const wanted = readInteger(state, 'size_bytes');
      for (;;) {
        const part = rest.subarray(0, wanted - sizeBytes);
        digest.update(part);
        sizeBytes += part.length;
        rest = rest.subarray(part.length);
        if (sizeBytes === wanted) break;
        const next = await pieces.next();
        if (next.done === true) return `${wanted - sizeBytes} of its ${wanted} bytes are missing`;
        rest = next.value;
      }
      if (digest.copy().digest('hex') !== readHash(state, 'sha256'))
        return `its first ${wanted} bytes differ from their hash`;
    }
    return rest.length > 0 || (await pieces.next()).done !== true ? 'it has more bytes than were captured' : null;
  } catch (error) {
    if (isErased(error)) return null;
    throw error;
  }
}

const LIST_CYCLES = `
SELECT c.id, c.position, c.conversation_id, c.cycle, c.parent_cycle_id, c.messages_compressed, c.made_count, c.live_count, p.cycle AS parent_cycle,
  (SELECT count(*) FROM live_batches WHERE cycle_id = c.id) AS live_found,
  (SELECT count(*) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id AND b.cycle_id > c.id) AS live_newer,
  CAST((SELECT coalesce(sum(b.message_count), 0) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id) AS bigint) AS live_messages,
  (SELECT count(*) FROM carried_lines AS d JOIN lines AS l ON l.id = d.line_id
    WHERE d.cycle_id = c.id AND l.outcome <> ${OUTCOMES.indexOf('quoted')}) AS wrongly_carried
FROM cycles AS c LEFT JOIN cycles AS p ON p.id = c.parent_cycle_id WHERE c.compaction_id = :id ORDER BY c.position`;
const LIST_BATCHES = 'SELECT id FROM batches WHERE cycle_id = :id ORDER BY position';
const getBatch = ({ isBatchIndexed }: Dialect): string => `
SELECT ${LABEL} AS label, y.compaction_id, b.text_offset, b.text_size, b.content_sha256, b.depth, b.message_count, (SELECT count(*) FROM carried_lines WHERE batch_id = b.id) AS carried_count, count(s.source_id) AS source_count,
  CAST(coalesce(sum(o.message_count), 0) AS bigint) AS source_messages, max(o.depth) AS source_depth, max(s.source_id) AS newest_source,
  CAST(NOT ${isBatchIndexed} AS int) AS is_unfindable,
  CAST((SELECT count(*) FROM lines AS l WHERE l.batch_id = b.id AND l.id IN (b.first_line_id, b.last_line_id))
    <> CASE WHEN b.first_line_id = b.last_line_id THEN 1 WHEN b.first_line_id IS NULL THEN 0 ELSE 2 END AS int) AS has_other_ends
FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id LEFT JOIN batch_sources AS s ON s.batch_id = b.id LEFT JOIN batches AS o ON o.id = s.source_id WHERE b.id = :id GROUP BY b.id, y.compaction_id, y.conversation_id`;

/**
 * Checks a compaction's cycles and batches: all exist, match their hashes, count their messages right, and are newer
 * than their sources.
 */
function checkCycles(
  source: Reading,
  { head, lines, totals }: { readonly head: Head; readonly lines: LineFacts; readonly totals: Totals },
): AsyncIterable<Finding> {
  const { query, dialect } = source;
  async function* checkCycle(row: Row, place: Place): AsyncGenerator<Finding> {
    const batchIds = await query.numbers(LIST_BATCHES, { id: row['id'] });
    yield* checkCounts(row, batchIds.length, place);
    for (const batchId of batchIds) {
      totals.batches += 1;
      const lineCount = lines.isWhole ? (lines.linesOf.get(batchId) ?? 0) : null;
      for (const batch of await withTexts(source, await query(getBatch(dialect), { id: batchId })))
        yield* checkBatch(batch, { batchId, place, lineCount });
    }
  }
  return attempt(partOf(head.place, 'conversations'), async function* () {
    const rows = await query(LIST_CYCLES, { id: head.id });
    if (rows.some((row, at) => readInteger(row, 'position') !== at) || rows.length === 0)
      yield finding('reference', head.place, 'a conversation of it is gone');
    for (const row of rows) {
      const place = partOf(head.place, `conversation ${readText(row, 'conversation_id')}`);
      yield* attempt(place, () => checkCycle(row, place));
    }
  });
}

function* checkCounts(row: Row, made: number, place: Place): Generator<Finding> {
  const count = (column: string): number => readInteger(row, column);
  const [madeCount, liveCount, live] = [count('made_count'), count('live_count'), count('live_found')];
  if (made !== madeCount)
    yield finding('wrong-count', place, `${made} batches are there of ${madeCount} that were made`);
  if (live !== liveCount)
    yield finding('wrong-count', place, `its clip-archive speaks of ${liveCount} batches, ${live} are known`);
  const [compressed, messages] = [count('messages_compressed'), count('live_messages')];
  if (compressed !== messages)
    yield finding('wrong-count', place, `its batches stand for ${messages} messages, ${compressed} were compressed`);
  if (count('live_newer') > 0)
    yield finding('order', place, 'its clip-archive speaks of batches that are newer than it');
  if (count('wrongly_carried') > 0)
    yield finding('reference', place, 'lines are listed as carried along that were not kept word for word');
  const parentId = readOptionalInteger(row, 'parent_cycle_id');
  const parentCycle = readOptionalInteger(row, 'parent_cycle');
  // A missing row is reported with the references.
  if (parentId === null || parentCycle === null) return;
  const cycle = count('cycle');
  if (parentId >= count('id') || parentCycle !== cycle - 1)
    yield finding('order', place, `its cycle ${cycle} continues what is not the cycle before it`);
}

function* checkBatch(
  row: Row,
  { batchId, place, lineCount }: { readonly batchId: number; readonly place: Place; readonly lineCount: number | null },
): Generator<Finding> {
  const label = readText(row, 'label');
  const messageCount = readInteger(row, 'message_count');
  if (hash('sha256', readContent(row)) !== readHash(row, 'content_sha256'))
    yield finding('wrong-hash', place, `batch ${label} is not what was stored (by sha256)`);
  if (row['text_size'] === 0) return; // erased
  if (readInteger(row, 'is_unfindable') === 1)
    yield finding('search', place, `batch ${label} is not in the search index, so that search does not find it`);
  if (readInteger(row, 'has_other_ends') === 1)
    yield finding('reference', place, `batch ${label} has another range of lines than those that it summarizes`);
  const depth = readInteger(row, 'depth');
  const ownLines = lineCount === null ? null : lineCount + readInteger(row, 'carried_count');
  const miscount = (what: string): Finding => finding('wrong-count', place, `batch ${label} ${what}`);
  if (readInteger(row, 'source_count') === 0) {
    if (depth !== 0) yield miscount(`is of depth ${depth}, but the batches that it was made from are gone`);
    // A batch without lines is the summary that was found in the transcript.
    if (ownLines !== null && ownLines > 0 && ownLines !== messageCount)
      yield miscount(`counts ${messageCount} messages, ${ownLines} belong to it`);
    return;
  }
  const missing = messageCount - readInteger(row, 'source_messages');
  const isComplete = ownLines === null ? missing >= 0 : missing === ownLines;
  if (!isComplete || readOptionalInteger(row, 'source_depth') !== depth - 1)
    yield miscount(`counts ${messageCount} messages at depth ${depth}, but its sources do not add up to that`);
  if (readInteger(row, 'newest_source') >= batchId)
    yield finding('order', place, `batch ${label} was made from batches that are newer than it`);
}
