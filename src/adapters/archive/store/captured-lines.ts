import { compressReadably, MAX_BLOCK_BYTES } from '../blocks.ts';
import { createBlockReader, tryUnpack } from '../read/captured.ts';
import { hashLine, readBytes, readHash, readInteger, type Row, toHex } from '../rows.ts';
import { noteUnindexed } from '../search/indexing.ts';
import type { Dialect, Query } from '../sql/query.ts';

const FIND_ERASED = `
SELECT id FROM captured_lines WHERE sha256 = :sha256 AND substr(sha256, 1, 8) = substr(:sha256, 1, 8) AND size_bytes = :size AND erasure_id IS NOT NULL ORDER BY id LIMIT 1`;
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

type GrowingBlock = NonNullable<ReturnType<typeof reopenBlock>>;

/** Stores each line once and packs new lines into blocks, within a transaction of the caller. `fileId`: of the captured file that has them. */
export async function openLines(query: Query, { capturing }: Dialect, fileId: number) {
  const [ids = {}] = await query(capturing.lastIds);
  const next = { line: readInteger(ids, 'line') + 1, block: readInteger(ids, 'block') + 1 };
  const buffer = new Uint8Array(MAX_BLOCK_BYTES);
  const totals = { newBytes: 0, storedBytes: 0 };
  /** Lines of the block that is being filled, which no query finds yet, by their bytes. */
  const pending = new Map<string, number>();
  const [lastBlock] = await query(LAST_BLOCK);
  let block: GrowingBlock | null = reopenBlock(lastBlock, { nextLineId: next.line, buffer });

  const write = async (of: GrowingBlock, raw: Uint8Array): Promise<void> => {
    const data = compressReadably(raw);
    const { id, firstLineId } = of;
    const lineCount = of.storedLines + of.added.length;
    await query(STORE_BLOCK, { id, firstLineId, lineCount, rawSizeBytes: raw.length, data });
    await query.insert(
      'captured_lines',
      of.added.map(({ place, size, sha256, erasureId }, at) => ({
        id: firstLineId + of.storedLines + at,
        block_id: id,
        offset: place,
        size_bytes: size,
        sha256,
        erasure_id: erasureId,
      })),
    );
    await noteUnindexed(query, {
      first_id: -(firstLineId + lineCount - 1),
      last_id: -(firstLineId + of.storedLines),
      line_count: of.added.length,
      size_bytes: of.added.reduce((sum, { size }) => sum + size, 0),
      file_id: fileId,
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
    pending.set(toText(line), id);
    if (isLong) {
      await write(target, line);
      block = null;
    }
    return id;
  };
  const readBlock = createBlockReader();
  /** The stored line that can be read back: a block may be damaged. */
  const findHeld = async (rows: readonly Row[], line: Uint8Array): Promise<number | null> => {
    for (const row of rows) {
      const [blockId, start] = [readInteger(row, 'block_id'), readInteger(row, 'offset')];
      if (readInteger(row, 'size_bytes') !== line.length) continue;
      const raw =
        blockId === block?.id
          ? buffer.subarray(0, block.sizeBytes)
          : await readBlock(query, blockId, start + line.length);
      if (raw !== null && Buffer.compare(raw.subarray(start, start + line.length), line) === 0)
        return readInteger(row, 'id');
    }
    return null;
  };
  return {
    /** The ids of lines; those that the archive lacks, or cannot give back, are stored. */
    add: async (lines: readonly Uint8Array[]): Promise<readonly number[]> => {
      const hashes = lines.map(hashLine);
      const rows = await capturing.findLines(query, hashes);
      const stored = Map.groupBy(rows, (row) => readHash(row, 'sha256'));
      const known = new Map<string, number>();
      const found: number[] = [];
      for (const [at, line] of lines.entries()) {
        const sha256 = hashes[at] ?? Buffer.alloc(0);
        const text = toText(line);
        const held = known.get(text) ?? pending.get(text) ?? (await findHeld(stored.get(toHex(sha256)) ?? [], line));
        const id = held ?? (await store(line, sha256));
        known.set(text, id);
        found.push(id);
      }
      return found;
    },
    /** The id of a line whose bytes were erased. */
    addErased: async ({ sha256, size, erasureId }: Omit<NewLine, 'place'>): Promise<number> => {
      const [known] = await query(FIND_ERASED, { sha256, size });
      if (known !== undefined) return readInteger(known, 'id');
      openBlock().added.push({ place: 0, size, sha256, erasureId });
      return next.line++;
    },
    end: async () => {
      await flush();
      if (capturing.keepIds !== null) await query(capturing.keepIds, { line: next.line - 1, block: next.block - 1 });
      return totals;
    },
  };
}

/** A text for each line, another one for another line. */
function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** A block that is smaller gets the lines of the next capture too, because small blocks compress badly. */
const SMALL_BLOCK_BYTES = 256 * 1024;
const LAST_BLOCK = `
SELECT id, first_line_id, line_count, raw_size_bytes, data FROM captured_blocks
WHERE id = (SELECT max(id) FROM captured_blocks) AND raw_size_bytes < ${SMALL_BLOCK_BYTES}`;

/**
 * A block that is being filled, with what is stored of it: that of the row of `LAST_BLOCK`, if it can be read and the next line follows its
 * lines, which are then in the buffer.
 */
function reopenBlock(
  row: Row | undefined,
  { nextLineId, buffer }: { readonly nextLineId: number; readonly buffer: Uint8Array },
) {
  const raw = tryUnpack(row);
  if (row === undefined || raw === null || raw.length > MAX_BLOCK_BYTES) return null;
  const [firstLineId, storedLines] = [readInteger(row, 'first_line_id'), readInteger(row, 'line_count')];
  if (firstLineId + storedLines !== nextLineId) return null;
  buffer.set(raw);
  const added: NewLine[] = [];
  const stored = { storedLines, storedBytes: readBytes(row, 'data').length };
  return { id: readInteger(row, 'id'), firstLineId, sizeBytes: raw.length, ...stored, added };
}
