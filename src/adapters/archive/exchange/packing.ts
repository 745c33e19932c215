import type { UnitPack } from '../../../ports/exchange.ts';
import { compressReadablyAside, MAX_BLOCK_BYTES } from '../blocks.ts';
import type { Dialect, Query, Values } from '../sql/query.ts';
import { joinPacks, MAX_SMALL_BYTES, writePack } from '../store/packs.ts';

/** `pack`: the pack of the other archive that has the content. */
type Content = { readonly raw: Uint8Array; readonly pack: UnitPack | null };

export type Packing = ReturnType<typeof createPacking>;

/** So many packs are compressed at once, beside the work on the next lines. */
const MAX_UNDERWAY = 3;
const FILL_PACK = 'UPDATE packs SET raw_size_bytes = :sizeBytes, data = :data WHERE id = :packId';
const NOTHING = new Uint8Array();

type OpenPack = { readonly packId: number; readonly parts: Uint8Array[]; sizeBytes: number; pack: UnitPack | null };

/** Packs what is merged, inside one transaction: small contents together. Meanwhile, rows can refer to the packs. */
export function createPacking(query: Query, dialect: Dialect) {
  const underway: ReturnType<typeof compress>[] = [];
  const state: { open: OpenPack | null; partition: Values | null } = { open: null, partition: null };
  const store = async (left: number): Promise<void> => {
    for (const packing of underway.splice(0, Math.max(0, underway.length - left)))
      await query(FILL_PACK, await packing);
  };
  const close = async (): Promise<void> => {
    if (state.open === null) return;
    const packing = compress(state.open);
    packing.catch(() => undefined); // thrown when it is awaited
    underway.push(packing);
    // Nothing else is in memory beside a huge line.
    await store(state.open.sizeBytes > MAX_BLOCK_BYTES ? 0 : MAX_UNDERWAY);
    state.open = null;
  };
  return {
    /** Gives the place that the content gets. */
    place: async (partition: Values, { raw, pack }: Content) => {
      state.partition = partition;
      if (state.open !== null && !isRoomFor(state.open, { raw, pack })) await close();
      const open = state.open ?? {
        packId: await writePack(query, { partition, data: NOTHING, rawSizeBytes: 0 }),
        parts: [],
        sizeBytes: 0,
        pack: null,
      };
      state.open = open;
      const offset = open.sizeBytes;
      open.parts.push(raw);
      open.sizeBytes += raw.length;
      open.pack = pack;
      return { packId: open.packId, offset };
    },
    /** Waits until all of them are stored. */
    end: async (): Promise<void> => {
      await close();
      await store(0);
      if (state.partition !== null) await joinPacks(query, dialect, state.partition);
    },
  };
}

/** What was in one pack of the other archive stays in one, and need not be compressed again. */
function isRoomFor({ sizeBytes, pack: last }: OpenPack, { raw, pack }: Content): boolean {
  if (sizeBytes + raw.length > MAX_BLOCK_BYTES) return false;
  return (pack !== null && pack.raw === last?.raw) || Math.max(sizeBytes, raw.length) < MAX_SMALL_BYTES;
}

async function compress({ packId, parts, sizeBytes, pack }: OpenPack) {
  const raw = Buffer.concat(parts);
  const isKnown = pack !== null && Buffer.compare(pack.raw, raw) === 0;
  return { packId, sizeBytes, data: isKnown ? pack.data : await compressReadablyAside(raw) };
}
