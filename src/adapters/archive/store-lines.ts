import type Database from 'better-sqlite3';
import type { Role } from '../../core/message.ts';
import { spaceOut } from '../../core/search/spaceless.ts';
import { readTraits } from '../../core/search/traits.ts';
import type { LineDraft } from '../../ports/archive.ts';
import { type BlockMember, gatherBlocks, packBlock } from './blocks.ts';
import { FATES, ROLES, textColumn, timeColumn, traitsColumn } from './columns.ts';
import type { CycleIds } from './store-cycle.ts';

const INSERT_BLOCK =
  'INSERT INTO blocks (compaction_id, position, first_line, raw_size_bytes, data) VALUES (?, ?, ?, ?, ?)';
const INSERT_LINE = `
INSERT INTO lines (block_id, line, offset, size_bytes, fate, cycle_id, batch_id, role, at_ms, message_index, message_id, name, traits, sha256)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_MESSAGE_SEARCH = 'INSERT INTO message_search (rowid, text) VALUES (?, ?)';
const INSERT_SPEAKER = 'INSERT INTO speakers (name) VALUES (?) ON CONFLICT DO NOTHING';

/** Search finds a message by its first 200,000 characters: what lies beyond is output that no person wrote. The line itself is whole. */
const MAX_SEARCH_CHARS = 200_000;

export type LineTarget = { readonly compactionId: number; readonly cycles: readonly CycleIds[] };

export function createLineWriter(db: Database.Database): (lines: Iterable<LineDraft>, target: LineTarget) => void {
  const insertBlock = db.prepare(INSERT_BLOCK);
  const insertLine = db.prepare(INSERT_LINE);
  const insertMessageSearch = db.prepare(INSERT_MESSAGE_SEARCH);
  const insertSpeaker = db.prepare(INSERT_SPEAKER);

  const writeLine = (
    { draft, offset, sizeBytes, sha256 }: BlockMember,
    blockId: number,
    cycles: readonly CycleIds[],
  ): void => {
    const { cycleId, batchId } = ownerOf(draft, cycles);
    const { message } = draft;
    const name = message === null || message.name === null ? null : textColumn(message.name);
    const { lastInsertRowid } = insertLine.run(
      blockId,
      draft.line,
      offset,
      sizeBytes,
      FATES.indexOf(draft.fate),
      cycleId,
      batchId,
      message === null ? null : ROLES.indexOf(message.role),
      message === null ? null : timeColumn(message.at),
      message?.index ?? null,
      message === null || message.id === `line:${draft.line}` ? null : textColumn(message.id),
      name,
      message === null ? 0 : traitsColumn(readTraits(message.text)),
      sha256,
    );
    if (message === null) return;
    insertMessageSearch.run(lastInsertRowid, spaceOut(message.text.slice(0, MAX_SEARCH_CHARS)));
    if (name !== null && isSpeaker(message.role)) insertSpeaker.run(name);
  };

  return (lines, { compactionId, cycles }) => {
    let position = 0;
    for (const { raw, members } of gatherBlocks(lines)) {
      const firstLine = members[0]?.draft.line;
      if (firstLine === undefined) continue;
      const { lastInsertRowid } = insertBlock.run(compactionId, position, firstLine, raw.length, packBlock(raw));
      for (const member of members) writeLine(member, Number(lastInsertRowid), cycles);
      position += 1;
    }
  };
}

/** A tool's name is what it does: asked for, it is a word like any other. */
function isSpeaker(role: Role): boolean {
  return role === 'user' || role === 'assistant';
}

/** A summarized line belongs to its batch, and through it to the batch's cycle; any other to a cycle, or to none. */
function ownerOf(
  { line, fate, cycle, batch }: BlockMember['draft'],
  cycles: readonly CycleIds[],
): { readonly cycleId: number | null; readonly batchId: number | null } {
  const ids = cycle === null ? null : cycles[cycle];
  if (ids === undefined) throw new Error(`source line ${line} is of cycle ${cycle}, of ${cycles.length}`);
  if (fate !== 'summarized') return { cycleId: ids?.cycleId ?? null, batchId: null };
  const batchId = batch === null ? undefined : ids?.batchIds[batch];
  if (batchId === undefined)
    throw new Error(`source line ${line} is summarized, but in no batch (cycle ${cycle}, batch ${batch})`);
  return { cycleId: null, batchId };
}
