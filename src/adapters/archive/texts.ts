import { BLOCK_COLUMNS, type CachingUnpack, takeBlock, unpackBlock } from './blocks.ts';
import { DamageError } from './failure.ts';
import { readBytes, readInteger, type Row } from './rows.ts';
import type { Dialect, Sql } from './sql/query.ts';
import { parseJson } from '../../core/result.ts';
import type { UnitPack } from '../../ports/exchange.ts';

/**
 * The texts of a compaction are a block too: the contents of its batches and the lines that it added to its output. They say the same thing
 * twice, and mostly what earlier ones of the conversation said, so they take little room in a pack.
 */
export const TEXTS_POSITION = -1;

/** Where a text is in its block. */
type TextPlace = { readonly text_offset: number; readonly text_size: number };

export type Texts = {
  readonly raw: Uint8Array;
  /** By cycle. */
  readonly batches: readonly (readonly TextPlace[])[];
  readonly inserted: readonly TextPlace[];
};

/** A content is stored as JSON, like in the lines that quote it. Erased ones have no bytes. */
export function layOutTexts(
  cycles: readonly (readonly { readonly content: string }[])[],
  inserted: readonly { readonly bytes: Uint8Array }[],
): Texts {
  const pieces: Uint8Array[] = [];
  let end = 0;
  const place = (piece: Uint8Array): TextPlace => {
    pieces.push(piece);
    end += piece.length;
    return { text_offset: end - piece.length, text_size: piece.length };
  };
  const toBytes = (content: string): Uint8Array => Buffer.from(content === '' ? '' : JSON.stringify(content));
  const places = {
    batches: cycles.map((batches) => batches.map(({ content }) => place(toBytes(content)))),
    inserted: inserted.map(({ bytes }) => place(bytes)),
  };
  return { raw: Buffer.concat(pieces), ...places };
}

/** What reads blocks, lines and texts. */
export type Reading = Pick<Sql, 'query' | 'dialect'> & { readonly unpack: CachingUnpack };

/** A pack may be replaced between two statements, so this is one. */
export const getBlock = ({ onPack }: Dialect): string =>
  `SELECT ${BLOCK_COLUMNS} FROM blocks AS k JOIN packs AS p ON ${onPack} WHERE k.id = :id`;

/** Throws a `DamageError`. */
export async function readBlock(reading: Reading, id: number): Promise<Uint8Array> {
  return (await readPacked(reading, id)).raw;
}

/** The same with the pack of the block, as it is stored and unpacked. */
export async function readPacked({ query, dialect, unpack }: Reading, id: number) {
  const [row] = await query(getBlock(dialect), { id });
  if (row === undefined) throw new DamageError(`block ${id} of the archived lines is missing`);
  const whole = unpack(row);
  const raw = unpackBlock(row, () => whole);
  const pack: UnitPack = { data: readBytes(row, 'data'), raw: whole ?? raw };
  return { raw, pack };
}

/** The same rows with their `text`. Each has `compaction_id`, `text_offset` and `text_size`. Throws a `DamageError`. */
export async function withTexts(reading: Reading, rows: readonly Row[]): Promise<readonly Row[]> {
  const ids = new Set(rows.flatMap((row) => (row['text_size'] === 0 ? [] : [readInteger(row, 'compaction_id')])));
  const texts = await readTexts(reading, [...ids]);
  return rows.map((row) => {
    const [offset, sizeBytes] = [readInteger(row, 'text_offset'), readInteger(row, 'text_size')];
    if (sizeBytes === 0) return { ...row, text: EMPTY };
    const id = readInteger(row, 'compaction_id');
    const text = texts.get(id)?.subarray(offset, offset + sizeBytes);
    if (text?.length !== sizeBytes) throw new DamageError(`the summaries of compaction ${id} are not all there`);
    return { ...row, text };
  });
}

const EMPTY = new Uint8Array();

/** The blocks of texts by compaction. Each pack is read once. */
async function readTexts(
  { query, dialect, unpack }: Reading,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const texts = new Map<number, Uint8Array>();
  if (ids.length === 0) return texts;
  const listBlocks = `
SELECT k.id, k.compaction_id, k.first_line, k.raw_size_bytes, k.pack_id, k.pack_offset FROM blocks AS k
WHERE ${dialect.isAmong('k.compaction_id', 'ids')} AND k.position = ${TEXTS_POSITION}`;
  const blocks = await query(listBlocks, { ids });
  for (const [packId, ofPack] of Map.groupBy(blocks, (row) => readInteger(row, 'pack_id'))) {
    const [first] = ofPack;
    const [row] = first === undefined ? [] : await query(getBlock(dialect), { id: first['id'] });
    const pack = row?.['pack_id'] === packId ? unpack(row) : null;
    for (const block of ofPack) {
      const text = pack === null ? null : takeBlock(block, pack);
      // Damaged, or joined with others meanwhile.
      const raw = text ?? (await readBlock({ query, dialect, unpack }, readInteger(block, 'id')));
      texts.set(readInteger(block, 'compaction_id'), raw);
    }
  }
  return texts;
}

/** The content of a batch in a row with its `text`; empty: it was erased. Throws a `DamageError`. */
export function readContent(row: Row): string {
  const text = row['text'];
  if (!(text instanceof Uint8Array) || text.length === 0) return '';
  const content = parseJson(new TextDecoder().decode(text));
  if (typeof content === 'string') return content;
  throw new DamageError('the text of a summary cannot be read');
}
