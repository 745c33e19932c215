import type { MessagePort } from 'node:worker_threads';
import type { Result } from '../../../core/result.ts';
import type { Archive, ArchiveFailure, CompactionOutline, CompactionWriter } from '../../../ports/archive.ts';
import { createBlockGatherer, type PackedBlock, type RawBlock } from '../blocks.ts';
import { archiveError } from '../failure.ts';
import type { ServedArchive } from '../local-archive.ts';
import { packBlock } from '../store-rows.ts';
import { connectArchive } from './connect-archive.ts';
import { isDeadThread } from './dead-thread.ts';

/**
 * A compaction is sent whole unless it takes more memory than this; then its blocks are stored as they come, and other
 * writes wait.
 */
const MAX_PACKED_BYTES = 8 * 1024 * 1024;

/**
 * An archive that is read here and written by a thread that writes for several. Lines are hashed and compressed here, so
 * that this thread has only to insert them.
 */
export function withSharedWriter(
  reader: Archive,
  connectWriter: () => Promise<Result<MessagePort, ArchiveFailure>>,
): Archive {
  const state: { writer: Promise<ServedArchive> | null; addedBytes: number } = { writer: null, addedBytes: 0 };
  const open = async (forget: () => void): Promise<ServedArchive> => {
    const port = await connectWriter();
    if (!port.ok) throw archiveError(port.error);
    port.value.once('close', forget);
    return connectArchive(port.value);
  };
  /** If the thread cannot be reached or dies, the next call asks for another one. */
  const connect = (): Promise<ServedArchive> => {
    const forget = (): void => {
      if (state.writer === connected) state.writer = null;
    };
    const connected = open(forget);
    connected.catch(forget);
    return connected;
  };
  const writerNow = (): Promise<ServedArchive> => (state.writer ??= connect());
  /** A thread that died may have done the step already. Doing it twice changes nothing. */
  const settle = async (step: (writer: ServedArchive) => Promise<void>): Promise<void> => {
    try {
      await step(await writerNow());
    } catch (error) {
      if (!isDeadThread(error)) throw error;
      await step(await writerNow());
    }
  };
  const { runs } = reader;
  return {
    ...reader,
    begin: async (outline) =>
      createPackingWriter(writerNow, {
        outline,
        onGrowth: (bytes) => {
          state.addedBytes += bytes;
        },
      }),
    // Others write meanwhile: what a compaction adds is known where it is stored.
    usedBytes: async () => state.addedBytes,
    markApplied: (id) => settle((writer) => writer.markApplied(id)),
    discard: (id) => settle((writer) => writer.discard(id)),
    runs: {
      ...runs,
      record: async (run, file) => (await writerNow()).runs.record(run, file),
      notePath: async (id, path) => (await writerNow()).runs.notePath(id, path),
      forget: async (fileId) => (await writerNow()).runs.forget(fileId),
      markFileUndone: async (fileId, at) => (await writerNow()).runs.markFileUndone(fileId, at),
      markUndone: async (runId, at) => (await writerNow()).runs.markUndone(runId, at),
    },
    close: async () => {
      await reader.close();
      await (await state.writer?.catch(() => null))?.close();
    },
  };
}

type Packing = { readonly outline: CompactionOutline; readonly onGrowth: (bytes: number) => void };
type Streaming = Awaited<ReturnType<ServedArchive['beginPacked']>>;

function createPackingWriter(connect: () => Promise<ServedArchive>, { outline, onGrowth }: Packing): CompactionWriter {
  const gatherer = createBlockGatherer();
  const state: {
    blocks: PackedBlock[];
    sizeBytes: number;
    streaming: Streaming | null;
    hasEnded: boolean;
  } = { blocks: [], sizeBytes: 0, streaming: null, hasEnded: false };
  const checkActive = (): void => {
    if (state.hasEnded) throw new Error('this compaction was stored or abandoned before');
  };
  const pack = (raw: readonly RawBlock[]): void => {
    for (const block of raw) {
      const packed = packBlock(block);
      // zlib's chunk is larger than what is in it, and would be kept whole.
      state.blocks.push({ ...packed, data: new Uint8Array(packed.data) });
      state.sizeBytes += sizeOf(packed);
    }
  };
  const takeBlocks = (): readonly PackedBlock[] => {
    state.sizeBytes = 0;
    return state.blocks.splice(0);
  };
  const stream = async (): Promise<Streaming> => {
    state.streaming ??= await (await connect()).beginPacked(outline);
    await state.streaming.append(takeBlocks());
    return state.streaming;
  };
  return {
    append: async (lines) => {
      checkActive();
      for (const line of lines) pack(gatherer.add(line));
      if (state.sizeBytes > MAX_PACKED_BYTES) await stream();
    },
    commit: async (draft) => {
      checkActive();
      state.hasEnded = true;
      pack(gatherer.end());
      const stored =
        state.streaming === null
          ? await (await connect()).storePacked({ outline, blocks: takeBlocks(), draft })
          : await (await stream()).commit(draft);
      onGrowth(stored.archiveBytes);
      return stored.id;
    },
    abandon: async () => {
      state.hasEnded = true;
      takeBlocks();
      await state.streaming?.abandon();
    },
  };
}

/** In memory. */
function sizeOf({ data, members }: PackedBlock): number {
  return members.reduce((sum, { draft }) => sum + (draft.message?.text.length ?? 0), data.length);
}
