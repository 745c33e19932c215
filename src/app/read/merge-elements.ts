import { describeErasure } from '../../core/erasure.ts';
import type { StoredLine } from '../../ports/archive.ts';
import type { Codec } from '../../ports/codec.ts';
import { createLineBatch, type Cursor } from './batches.ts';
import { concat, trimRecord } from './records.ts';
import { erasureOf, RestoreError, type RestoreInput } from './restore-input.ts';
import type { Rewrite } from './rewritten-document.ts';

/**
 * The elements of the original as the program has them now, those that left in between, and at the end what it added. What stands around
 * the elements, and between them, is the program's.
 */
export async function* mergeElements(
  { compaction, codec, onArchived, onErased }: RestoreInput,
  archived: Cursor<StoredLine>,
  { records, keptAt, ownAt, losses }: Rewrite,
): AsyncGenerator<readonly Uint8Array[]> {
  const { lineCount } = compaction.source;
  if (losses.length > 0 && onErased === undefined) {
    const more = losses.length === 1 ? '' : ` (and ${losses.length - 1} more)`;
    throw new RestoreError({ kind: 'changed-line', message: `${losses[0]}${more}`, line: null });
  }
  const head = records[0] ?? NOTHING;
  const tail = records.at(-1) ?? NOTHING;
  const separator = separatorOf(codec, records);
  const batch = createLineBatch();
  batch.add(head);
  let held: Uint8Array | null = null; // the last element has no separator
  let count = 1;
  const add = (element: Uint8Array): void => {
    if (held !== null) batch.add(concat(held, separator));
    held = Uint8Array.from(trimRecord(codec, element));
    count += 1;
  };
  let next = 1;
  const addUntil = (until: number): void => {
    for (; next < until; next += 1) if (!ownAt.has(next)) add(records[next] ?? NOTHING);
  };
  const placeOf = new Map(keptAt.entries().map(([at, line]) => [line, at]));
  let pending = await archived.next();
  for (let line = 2; line < lineCount; line += 1) {
    const at = placeOf.get(line);
    if (at !== undefined) addUntil(at + 1);
    else if (pending?.line === line) {
      const mark = erasureOf(compaction, pending);
      if (mark !== null) {
        const message = `record ${line} of the original was ${describeErasure(mark)}`;
        if (onErased === undefined) throw new RestoreError({ kind: 'erased', message, mark, line: null });
        onErased(mark);
      } else {
        add(pending.bytes);
        onArchived?.({ ...pending, line: count });
      }
      pending = archived.now() ?? (await archived.next());
    } else if (losses.length === 0) {
      const message = `record ${line} of the original is neither kept nor archived`;
      throw new RestoreError({ kind: 'hole', message, line: null });
    }
    if (batch.isFull()) yield batch.take();
  }
  while (pending !== null) pending = await archived.next();
  addUntil(records.length - 1);
  if (held !== null) batch.add(held);
  batch.add(tail);
  yield batch.take();
}

/** What stands between two elements of a document; a list of one element has the white space of its beginning. */
function separatorOf(codec: Codec, records: readonly Uint8Array[]): Uint8Array {
  const between = records.slice(1, -2).map((bytes) => bytes.subarray(trimRecord(codec, bytes).length));
  const [first] = between;
  if (first !== undefined) return first;
  const [head = NOTHING] = records;
  const space = head.length - new TextDecoder('latin1').decode(head).trimEnd().length;
  return concat(Uint8Array.of(COMMA), head.subarray(head.length - space));
}

const COMMA = 0x2c;
const NOTHING = new Uint8Array();
