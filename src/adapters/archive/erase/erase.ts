import { createHash, hash } from 'node:crypto';
import type { ErasedIds, Erasure, ErasureEffect, ErasurePlan } from '../../../ports/retention.ts';
import { bytesIn, createUnpack } from '../blocks.ts';
import { ADD_COPIES, eraseCapturedFiles, eraseCapturedLines, LIST_CHANGED_FILES, unerasedOf } from './captures.ts';
import { archiveError } from '../failure.ts';
import { LIST_INSERTED } from '../read/compactions.ts';
import { readBlock, type Reading, TEXTS_POSITION, withTexts } from '../texts.ts';
import { rewritePack } from './rewrite-block.ts';
import { parseJson } from '../../../core/result.ts';
import { forgetWords, releaseCopies, SETTLE_INDEX } from '../search/indexing.ts';
import { OUTCOMES, readBytes, readFields, readInteger, readMoment, readText, type Row, timeColumn } from '../rows.ts';
import { countRows, type Dialect, forRows, OF_BLOCK, type Query, type Values } from '../sql/query.ts';
import { keepEntry, toLogEntry } from '../store/audit-log.ts';

/** What engines do differently when they remove something. */
export type RetentionEngine = {
  /** The type of ids. */
  readonly idType: string;
  /** The ids of the JSON array `:ids`, in parentheses. */
  readonly ids: string;
  /** Removes the blocks of erased compactions, with their lines and the words of these. */
  readonly deleteBlocks: (query: Query) => Promise<void>;
  /** Does the work of an erasure in one transaction, in which nobody else writes. `id`: of its receipt; null: the next one. */
  readonly erase: (work: (query: Query, id: number | null) => Promise<Erasure>) => Promise<Erasure>;
  /** As in the port. */
  readonly purge: () => Promise<boolean>;
};

/** What to erase, in temporary tables, so that an erasure of any size fits in memory. */
const TEMPORARY = ['compactions', 'lines', 'captured', 'files', 'blocks', 'packs'].map((name) => `erased_${name}`);
const CYCLES = ['matched_cycles', 'affected_cycles'];

const LIST_AFFECTED = `
SELECT y.id FROM cycles AS y JOIN erased_compactions AS g ON g.id = y.compaction_id
UNION SELECT id FROM matched_cycles
UNION SELECT coalesce(l.cycle_id, b.cycle_id) FROM erased_lines AS g JOIN lines AS l ON l.id = g.id LEFT JOIN batches AS b ON b.id = l.batch_id
  WHERE coalesce(l.cycle_id, b.cycle_id) IS NOT NULL`;
/** All cycles of a lineage: a summary may have been made from the lines of any other one. */
const ADD_CYCLES = `
INSERT INTO affected_cycles
WITH RECURSIVE family (id) AS (
  ${LIST_AFFECTED}
  UNION SELECT y.id FROM family JOIN cycles AS x ON x.id = family.id JOIN cycles AS y ON y.id = x.parent_cycle_id OR y.parent_cycle_id = x.id
)
SELECT id FROM family`;
const BATCHES = 'SELECT b.id FROM affected_cycles AS t JOIN batches AS b ON b.cycle_id = t.id';
const CONTENTS = 'batches WHERE cycle_id IN (SELECT id FROM affected_cycles) AND text_size > 0';
const MARK_WHOLE = `
UPDATE compactions SET status = 'erased', erasure_id = :erasureId WHERE id IN (SELECT id FROM erased_compactions)`;
const MARK_TOUCHED = `
UPDATE compactions SET erasure_id = :erasureId WHERE status = 'applied' AND (
  id IN (SELECT compaction_id FROM cycles WHERE id IN (SELECT id FROM affected_cycles))
  OR id IN (SELECT k.compaction_id FROM erased_lines AS g JOIN lines AS l ON l.id = g.id JOIN blocks AS k ON k.id = l.block_id))`;
const LIST_AFFECTED_COMPACTIONS = `
SELECT DISTINCT y.compaction_id AS id FROM affected_cycles AS t JOIN cycles AS y ON y.id = t.id WHERE y.compaction_id > :after ORDER BY 1 LIMIT 2000`;
const ERASE_CLIP = `
UPDATE inserted_lines SET text_offset = 0, text_size = 0, erased_sha256 = :sha256 WHERE compaction_id = :id AND position = :position`;
const ADD_PACKS = `
INSERT INTO erased_packs SELECT DISTINCT k.pack_id FROM erased_blocks AS g JOIN blocks AS k ON k.id = g.id`;
const LIST_PACKS = 'SELECT id FROM erased_packs WHERE id > :after ORDER BY id LIMIT 2000';
const DELETE_PACKS = 'DELETE FROM packs WHERE id IN (SELECT id FROM erased_packs)';
const LIST_BLOCKS = 'SELECT id FROM erased_blocks WHERE id > :after ORDER BY id LIMIT 2000';
/** Blocks that may have clip-archives of earlier cycles among their lines. Those of erased compactions go anyway. */
const LIST_CONTINUED = `
SELECT DISTINCT k.id FROM affected_cycles AS t JOIN cycles AS y ON y.id = t.id AND y.parent_cycle_id IS NOT NULL
JOIN blocks AS k ON k.compaction_id = y.compaction_id
WHERE k.id > :after AND NOT EXISTS (SELECT 1 FROM erased_compactions AS g WHERE g.id = k.compaction_id) ORDER BY 1 LIMIT 2000`;
const LIST_OTHERS = `
SELECT l.id, l."offset", l.size_bytes FROM lines AS l
WHERE ${OF_BLOCK} AND l.outcome = ${OUTCOMES.indexOf('other')} AND l.role IS NULL AND l.erasure_id IS NULL ORDER BY l.id`;
const ERASE_LINES = `
UPDATE lines SET erasure_id = :erasureId, "offset" = 0, role = NULL, at_ms = NULL, message_index = NULL, message_id = NULL, name = NULL, traits = 0
WHERE id IN (SELECT id FROM erased_lines)`;
const REBUILD_SPEAKERS = [
  'DELETE FROM speakers',
  'INSERT INTO speakers SELECT DISTINCT name FROM lines WHERE name IS NOT NULL AND role IN (0, 1) ON CONFLICT DO NOTHING',
];
const PAID = 'summaries WHERE created_at_ms <= coalesce(CAST(:before AS bigint), created_at_ms)';
const FIND_RECEIPT = 'SELECT id FROM erasures WHERE receipt = :receipt';
const UPDATE_ERASURE = 'UPDATE erasures SET receipt = :receipt, report = :report WHERE id = :id';
const LIST_CHANGED = `
SELECT id FROM erased_compactions UNION SELECT y.compaction_id FROM affected_cycles AS t JOIN cycles AS y ON y.id = t.id
UNION SELECT k.compaction_id FROM erased_lines AS g JOIN lines AS l ON l.id = g.id JOIN blocks AS k ON k.id = l.block_id`;
/** The id of the last file that a run recorded. */
export const LAST_FILE = '(SELECT coalesce(max(id), 0) FROM run_files)';
const COUNT_KEPT = `
SELECT count(*) AS count, coalesce(max(id), 0) AS last_id, (SELECT count(*) FROM compactions WHERE status = 'prepared') AS prepared, ${LAST_FILE} AS last_file_id
FROM compactions WHERE status = 'applied'`;
const LIST_HOLDS = 'SELECT id FROM holds ORDER BY id';
/** Of conversations that are erased whole. */
const FORGET_CHOICES = `
DELETE FROM choices WHERE conversation_id IN (
  SELECT y.conversation_id FROM cycles AS y WHERE y.compaction_id IN (SELECT id FROM erased_compactions))
AND conversation_id NOT IN (
  SELECT y.conversation_id FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
  WHERE c.status = 'applied' AND c.id NOT IN (SELECT id FROM erased_compactions))
RETURNING conversation_id`;
const RECEIPT_LENGTH = 12;

type Erasing = { readonly engine: RetentionEngine; readonly dialect: Dialect };

/**
 * Erases what a plan names, in a transaction in which nobody else writes. The freed space still has the bytes. `path`: of the archive, for
 * messages. `id`: of the receipt; null: the next one.
 */
export async function erase(
  query: Query,
  plan: ErasurePlan,
  { engine, dialect, path, id }: Erasing & { readonly path: string; readonly id: number | null },
): Promise<Erasure> {
  const reading = { query, dialect, unpack: createUnpack() };
  await refuseChanged(query, plan, path);
  await selectArchived(reading, plan, engine);
  const at = timeColumn(plan.at);
  const pending = `pending ${at}`;
  await addReceipt(query, { ...(id !== null && { id }), receipt: pending, at_ms: at, report: '', is_purged: 0 });
  const erasureId = (await findReceipt(query, pending)) ?? 0;
  const digest = createHash('sha256');
  const sums = { lines: 0, bytes: 0 };
  const add = (row: Row): void => {
    digest.update(row['sha256'] as Uint8Array);
    sums.lines += 1;
    sums.bytes += readInteger(row, 'size_bytes');
  };
  await listErasedLines(query, dialect, add);
  const { lines } = sums;
  for (const sql of [MARK_WHOLE, MARK_TOUCHED]) await query(sql, { erasureId });
  const compactions = await countRows(query, 'compactions WHERE erasure_id = :erasureId', { erasureId });
  await fill(query, plan.capturedFileIds, engine, (ids) => `erased_files SELECT id FROM ${ids} AS new WHERE true`);
  const capturedFiles = await eraseCapturedFiles(query, erasureId);
  await selectCaptured(query, plan, engine);
  await forgetWords(query, dialect, { messages: 'SELECT -id FROM erased_captured' });
  await eraseCapturedLines(query, erasureId, add);
  const vectors = await deleteVectors(query, dialect);
  const summaries = await countRows(query, CONTENTS);
  await query(
    `UPDATE batches SET text_offset = 0, text_size = 0, content_sha256 = :sha256 WHERE id IN (SELECT id FROM ${CONTENTS})`,
    { sha256: hash('sha256', '', 'buffer') },
  );
  await query('UPDATE cycles SET title = NULL WHERE title IS NOT NULL AND id IN (SELECT id FROM affected_cycles)');
  for (const ids of [linesIn(dialect), 'SELECT id FROM erased_lines'])
    for (const sql of releaseCopies(ids)) await query(sql);
  await forgetWords(query, dialect, { batches: BATCHES, messages: 'SELECT id FROM erased_lines' });
  await query(`DELETE FROM carried_lines WHERE line_id IN (${linesIn(dialect)})`);
  await eraseClips(reading);
  await query(ADD_PACKS);
  await forRows(query, LIST_PACKS, (row) => rewritePack(reading, readInteger(row, 'id')));
  await query(ERASE_LINES, { erasureId });
  await engine.deleteBlocks(query);
  await query(DELETE_PACKS);
  for (const sql of [...REBUILD_SPEAKERS, ...SETTLE_INDEX]) await query(sql);
  await eraseSettings(query);
  const forgotten = await query(FORGET_CHOICES);
  const paidSummaries = await deletePaid(query, plan.paid);
  const sha256 = digest.digest('hex');
  const counts = {
    kind: plan.kind,
    reason: plan.reason,
    compactions,
    lines,
    capturedFiles,
    capturedLines: sums.lines - lines,
    bytes: sums.bytes,
    summaries,
    paidSummaries,
    vectors,
    notes: plan.aside.notes,
    choices: plan.aside.choices + forgotten.length,
    sha256,
  };
  const receipt = hash('sha256', `${erasureId} ${at} ${sha256}`).slice(0, RECEIPT_LENGTH);
  await query(UPDATE_ERASURE, { id: erasureId, receipt, report: JSON.stringify(counts) });
  const { kind: action, sha256: _, ...told } = counts;
  const details = JSON.stringify({ receipt, ...told, ...(plan.despiteHold && { despiteHold: true }) });
  await keepEntry(query, toLogEntry({ action, doneAt: plan.at, details }));
  return { receipt, at: plan.at, ...counts };
}

/** `row`: its columns. */
export async function addReceipt(query: Query, row: Values): Promise<void> {
  await query.insert('erasures', [row]);
}

/** The id of the erasure with a receipt; null: there is none. */
export async function findReceipt(query: Query, receipt: string): Promise<number | null> {
  const [row] = await query(FIND_RECEIPT, { receipt });
  return row === undefined ? null : readInteger(row, 'id');
}

async function refuseChanged(query: Query, { kept, holdIds }: ErasurePlan, path: string): Promise<void> {
  const holds = await query.numbers(LIST_HOLDS);
  const [counted = {}] = await query(COUNT_KEPT);
  const isSame =
    holds.join() === holdIds.toSorted((a, b) => a - b).join() &&
    counted['count'] === kept.count &&
    counted['last_id'] === kept.lastId &&
    counted['last_file_id'] === kept.lastFileId;
  if (!isSame || counted['prepared'] !== 0) throw archiveError({ kind: 'busy', path });
}

/** What `erase` would change. The temporary tables are left for the caller to roll back. */
export async function findEffect(query: Query, ids: ErasedIds, { engine, dialect }: Erasing): Promise<ErasureEffect> {
  await selectArchived({ query, dialect, unpack: createUnpack() }, ids, engine);
  await selectCaptured(query, ids, engine);
  const changedFiles = await query.numbers(LIST_CHANGED_FILES);
  const capturedFileIds = [...new Set([...ids.capturedFileIds, ...changedFiles])];
  return { compactionIds: await query.numbers(LIST_CHANGED), capturedFileIds };
}

/** Fills the temporary tables with the archived lines and the summaries to erase. */
async function selectArchived(
  reading: Reading,
  { compactionIds, lineIds, cycleIds }: ErasedIds,
  engine: RetentionEngine,
): Promise<void> {
  const { query, dialect } = reading;
  const tables = [...TEMPORARY, ...CYCLES];
  for (const name of tables) await query(`CREATE TEMP TABLE IF NOT EXISTS ${name} (id ${engine.idType} PRIMARY KEY)`);
  await query(`CREATE TEMP TABLE IF NOT EXISTS used_runs (id ${engine.idType} PRIMARY KEY, last_id bigint NOT NULL)`);
  for (const name of tables) await query(`DELETE FROM ${name}`);
  await fill(
    query,
    compactionIds,
    engine,
    (ids) => `erased_compactions SELECT id FROM compactions WHERE id IN ${ids} AND status = 'applied'`,
  );
  // Lines of erased compactions go with these.
  const isLeft = 'l.erasure_id IS NULL AND k.compaction_id NOT IN (SELECT id FROM erased_compactions)';
  const joined = `lines AS l JOIN blocks AS k ON ${dialect.onBlock}`;
  await fill(
    query,
    lineIds,
    engine,
    (ids) => `erased_lines SELECT l.id FROM ${joined} WHERE l.id IN ${ids} AND ${isLeft}`,
  );
  await fill(query, cycleIds, engine, (ids) => `matched_cycles SELECT id FROM ${ids} AS new WHERE true`);
  await query(ADD_CYCLES);
  await addSummaryLines(reading);
}

async function selectCaptured(query: Query, plan: ErasedIds, engine: RetentionEngine): Promise<void> {
  await fill(query, plan.capturedLineIds, engine, unerasedOf);
  if (plan.takesCopies) await query(ADD_COPIES);
}

const MAX_IDS = 10_000;

/** Adds rows for ids to a table, a part of the ids at a time. `rows`: the table, and what selects its new rows. */
async function fill(
  query: Query,
  ids: readonly number[],
  { ids: given }: RetentionEngine,
  rows: (ids: string) => string,
): Promise<void> {
  for (let first = 0; first < ids.length; first += MAX_IDS)
    await query(`INSERT INTO ${rows(given)} ON CONFLICT DO NOTHING`, {
      ids: JSON.stringify(ids.slice(first, first + MAX_IDS)),
    });
}

/** Clip-archives that a later compaction archived as lines of its source are summaries too. */
function addSummaryLines(reading: Reading): Promise<void> {
  const { query } = reading;
  return forRows(query, LIST_CONTINUED, async ({ id }) => {
    const lines = await query(LIST_OTHERS, { id });
    if (lines.length === 0) return;
    const raw = await readBlock(reading, Number(id));
    for (const line of lines)
      if (Buffer.from(bytesIn(raw, line)).includes('[Context Summary '))
        await query('INSERT INTO erased_lines (id) VALUES (:id) ON CONFLICT DO NOTHING', { id: line['id'] });
  });
}

/** A statement that selects the lines of erased compactions. */
export function linesIn({ onBlock }: Dialect): string {
  return `SELECT l.id FROM erased_compactions AS g JOIN blocks AS k ON k.compaction_id = g.id JOIN lines AS l ON ${onBlock}`;
}

/** All lines to erase, in the order of their blocks. */
async function listErasedLines(query: Query, { onBlock }: Dialect, onLine: (row: Row) => void): Promise<void> {
  await query(`
INSERT INTO erased_blocks SELECT k.id FROM erased_compactions AS g JOIN blocks AS k ON k.compaction_id = g.id
UNION SELECT l.block_id FROM erased_lines AS g JOIN lines AS l ON l.id = g.id
UNION SELECT k.id FROM affected_cycles AS t JOIN cycles AS y ON y.id = t.id JOIN blocks AS k ON k.compaction_id = y.compaction_id AND k.position = ${TEXTS_POSITION}`);
  const list = `
SELECT l.sha256, l.size_bytes FROM lines AS l JOIN blocks AS k ON ${onBlock} WHERE k.id = :id AND l.erasure_id IS NULL
AND (EXISTS (SELECT 1 FROM erased_compactions AS g WHERE g.id = k.compaction_id) OR EXISTS (SELECT 1 FROM erased_lines AS g WHERE g.id = l.id))
ORDER BY l.id`;
  await forRows(query, LIST_BLOCKS, async ({ id }) => {
    for (const row of await query(list, { id })) onLine(row);
  });
}

async function deleteVectors(query: Query, dialect: Dialect): Promise<number> {
  const parts = [
    `batch_vectors WHERE batch_id IN (${BATCHES})`,
    `message_vectors WHERE line_id IN (${linesIn(dialect)})`,
    'message_vectors WHERE line_id IN (SELECT id FROM erased_lines)',
  ];
  let deleted = 0;
  for (const part of parts) {
    const found = await countRows(query, part);
    if (found > 0) await query(`DELETE FROM ${part}`);
    deleted += found;
  }
  return deleted;
}

async function deletePaid(query: Query, paid: ErasurePlan['paid']): Promise<number> {
  if (paid === 'none') return 0;
  const values = { before: paid === 'all' ? null : timeColumn(paid.before) };
  const deleted = await countRows(query, PAID, values);
  await query(`DELETE FROM ${PAID}`, values);
  return deleted;
}

/** A clip-archive is compared with its hash, so the hash stays. */
function eraseClips(reading: Reading): Promise<void> {
  const { query } = reading;
  return forRows(query, LIST_AFFECTED_COMPACTIONS, async ({ id }) => {
    const clips = (await query(LIST_INSERTED, { id })).filter((row) => row['text_size'] !== 0);
    for (const row of await withTexts(reading, clips)) {
      const sha256 = hash('sha256', readBytes(row, 'text'), 'buffer');
      await query(ERASE_CLIP, { id, position: row['position'], sha256 });
    }
  });
}

export const LIST_ERASURES = 'SELECT receipt, at_ms, report FROM erasures ORDER BY id DESC';

export function toErasure(row: Row): Erasure {
  const report = JSON.parse(readText(row, 'report')) as Omit<Erasure, 'receipt' | 'at'>;
  return { ...readFields(row, { receipt: readText, at: readMoment }), ...report };
}

const LIST_SETTINGS = 'SELECT id, value FROM settings WHERE id > :after ORDER BY id LIMIT 2000';
const CHANGE_SETTINGS = 'UPDATE settings SET value = :value WHERE id = :id';

/** All other texts and lists were written by a person, or quote a conversation. */
const KEPT: ReadonlySet<string> = new Set(['format', 'provider', 'modelName', 'chunkOrder', 'conversation', 'scoring']);

/** Removes the texts in the settings of all compactions: nothing reads them, and nobody can tell which of them repeat what is erased. */
async function eraseSettings(query: Query): Promise<void> {
  await forRows(query, LIST_SETTINGS, async (row) => {
    const entries = Object.entries(parseSettings(readText(row, 'value')));
    const left = entries.filter(([key, value]) => KEPT.has(key) || !hasText(value));
    if (left.length === entries.length) return;
    const value = JSON.stringify({ ...Object.fromEntries(left), erased: true });
    await query(CHANGE_SETTINGS, { id: row['id'], value });
  });
}

/** Whether settings lost texts to an erasure, so that they differ from their hash. */
export function isWithoutTexts(settings: string): boolean {
  return parseSettings(settings)['erased'] === true;
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0);
}

function parseSettings(settings: string): Readonly<Record<string, unknown>> {
  return Object(parseJson(settings));
}
