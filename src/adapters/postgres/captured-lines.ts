import { hash } from 'node:crypto';
import { MAX_BLOCK_BYTES } from '../archive/blocks.ts';
import { compressReadably } from '../archive/capture-writer.ts';
import { LAST_BLOCK, type OpenBlock, reopenBlock } from '../archive/captured-blocks.ts';
import { createBlockReader } from '../archive/read/captured.ts';
import { readHash, readInteger, type Row, toHex } from '../archive/rows.ts';
import type { Query } from '../archive/sql/query.ts';

const LAST_IDS = 'SELECT last_line_id, last_block_id FROM captured_ids';
const KEEP_IDS = 'UPDATE captured_ids SET last_line_id = :line, last_block_id = :block';
const FIND_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256 FROM captured_lines
WHERE sha256 IN (SELECT substr(:hashes::bytea, n * 32 + 1, 32) FROM generate_series(0, :count::int - 1) AS n) AND erasure_id IS NULL ORDER BY id DESC`;
const INSERT_LINES = `
INSERT INTO captured_lines (id, block_id, "offset", size_bytes, sha256, erasure_id)
SELECT :firstId + u.number - 1, :blockId, u.place, u.size, substr(:hashes::bytea, (u.number::int - 1) * 32 + 1, 32), u.erasure_id
FROM unnest(:places::bigint[], :sizes::bigint[], :erasureIds::bigint[]) WITH ORDINALITY AS u (place, size, erasure_id, number)`;
const FIND_ERASED = `
SELECT id FROM captured_lines WHERE sha256 = :sha256 AND erasure_id IS NOT NULL ORDER BY id LIMIT 1`;
const STORE_BLOCK = `
INSERT INTO captured_blocks (id, first_line_id, line_count, raw_size_bytes, data)
VALUES (:id, :firstLineId, :lineCount, :rawSizeBytes, :data)
ON CONFLICT (id) DO UPDATE SET line_count = excluded.line_count, raw_size_bytes = excluded.raw_size_bytes, data = excluded.data`;

/** `erasureId`: its bytes were erased. */
type NewLine = {
  readonly place: number;
  readonly size: number;
  readonly sha256: Uint8Array;
  readonly erasureId: number | null;
};

type GrowingBlock = OpenBlock & { readonly added: NewLine[] };

type LineStore = {
  /** The ids of lines; those that the archive lacks, or cannot give back, are stored. */
  readonly add: (lines: readonly Uint8Array[]) => Promise<readonly number[]>;
  /** The id of a line whose bytes were erased. */
  readonly addErased: (line: {
    readonly sha256: Uint8Array;
    readonly size: number;
    readonly erasureId: number;
  }) => Promise<number>;
  readonly end: () => Promise<{ readonly newBytes: number; readonly storedBytes: number }>;
};

/** Stores each line once and packs new lines into blocks, within a transaction of the caller. */
export async function openLines(query: Query): Promise<LineStore> {
  const [ids = {}] = await query(LAST_IDS);
  const next = { line: readInteger(ids, 'last_line_id') + 1, block: readInteger(ids, 'last_block_id') + 1 };
  const buffer = new Uint8Array(MAX_BLOCK_BYTES);
  const totals = { newBytes: 0, storedBytes: 0 };
  /** Lines of the block that is being filled, which no query finds yet. */
  const pending = new Map<string, number>();
  const [lastBlock] = await query(LAST_BLOCK);
  const reopened = reopenBlock(lastBlock, { nextLineId: next.line, buffer });
  let block: GrowingBlock | null = reopened === null ? null : { ...reopened, added: [] };

  const write = async (of: GrowingBlock, raw: Uint8Array): Promise<void> => {
    const data = compressReadably(raw);
    await query(STORE_BLOCK, {
      id: of.id,
      firstLineId: of.firstLineId,
      lineCount: of.storedLines + of.added.length,
      rawSizeBytes: raw.length,
      data,
    });
    await query(INSERT_LINES, {
      firstId: of.firstLineId + of.storedLines,
      blockId: of.id,
      places: of.added.map(({ place }) => place),
      sizes: of.added.map(({ size }) => size),
      erasureIds: of.added.map(({ erasureId }) => erasureId),
      hashes: Buffer.concat(of.added.map(({ sha256 }) => sha256)),
    });
    totals.storedBytes += data.length - of.storedBytes;
  };
  const flush = async (): Promise<void> => {
    if (block !== null && block.added.length > 0) await write(block, buffer.subarray(0, block.sizeBytes));
    block = null;
    pending.clear();
  };
  const openBlock = (): GrowingBlock => {
    const fresh = { firstLineId: next.line, sizeBytes: 0, storedLines: 0, storedBytes: 0, added: [] };
    return (block ??= { id: next.block++, ...fresh });
  };
  const store = async (line: Uint8Array, sha256: Uint8Array): Promise<number> => {
    const isLong = line.length > MAX_BLOCK_BYTES;
    if (isLong || (block !== null && block.sizeBytes + line.length > MAX_BLOCK_BYTES)) await flush();
    const target = openBlock();
    const id = next.line++;
    target.added.push({ place: target.sizeBytes, size: line.length, sha256, erasureId: null });
    if (!isLong) buffer.set(line, target.sizeBytes);
    target.sizeBytes += line.length;
    totals.newBytes += line.length;
    pending.set(toHex(sha256), id);
    if (isLong) {
      await write(target, line);
      block = null;
    }
    return id;
  };
  const readBlock = createBlockReader(query);
  /** The stored line that can be read back: a block may be damaged. */
  const findHeld = async (rows: readonly Row[], line: Uint8Array): Promise<number | null> => {
    for (const row of rows) {
      const [blockId, start] = [readInteger(row, 'block_id'), readInteger(row, 'offset')];
      if (readInteger(row, 'size_bytes') !== line.length) continue;
      const raw =
        blockId === block?.id ? buffer.subarray(0, block.sizeBytes) : await readBlock(blockId, start + line.length);
      if (raw !== null && Buffer.compare(raw.subarray(start, start + line.length), line) === 0)
        return readInteger(row, 'id');
    }
    return null;
  };
  return {
    add: async (lines) => {
      const hashes = lines.map((line) => hash('sha256', line, 'buffer'));
      const rows = await query(FIND_LINES, { hashes: Buffer.concat(hashes), count: hashes.length });
      const stored = Map.groupBy(rows, (row) => readHash(row, 'sha256'));
      const known = new Map<string, number>();
      const found: number[] = [];
      for (const [at, line] of lines.entries()) {
        const sha256 = hashes[at] ?? Buffer.alloc(0);
        const hex = toHex(sha256);
        const held = known.get(hex) ?? pending.get(hex) ?? (await findHeld(stored.get(hex) ?? [], line));
        const id = held ?? (await store(line, sha256));
        known.set(hex, id);
        found.push(id);
      }
      return found;
    },
    addErased: async ({ sha256, size, erasureId }) => {
      const [known] = await query(FIND_ERASED, { sha256 });
      if (known !== undefined) return readInteger(known, 'id');
      openBlock().added.push({ place: 0, size, sha256, erasureId });
      return next.line++;
    },
    end: async () => {
      await flush();
      await query(KEEP_IDS, { line: next.line - 1, block: next.block - 1 });
      return totals;
    },
  };
}
