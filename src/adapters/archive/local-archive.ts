import type { ArchiveWriter } from '../../ports/archive-writer.ts';
import type { Archive, ArchiveState, CompactionDraft, CompactionOutline } from '../../ports/archive.ts';
import type { PackedBlock } from './blocks.ts';
import { archiveError, guardPort, toArchiveFailure } from './failure.ts';
import { createShared } from './shared.ts';
import { SQLITE_CHECK } from './sqlite/check.ts';
import type { SyncArchive, SyncWriterOf } from './sync-archive.ts';
import { createTurns, type TakeTurn } from './turns.ts';

/** A whole compaction, whose lines another thread has made into blocks. */
type PackedCompaction = {
  readonly outline: CompactionOutline;
  readonly blocks: readonly PackedBlock[];
  readonly draft: CompactionDraft;
};

/** What a thread can do that stores for others. */
export type ServedArchive = Archive & {
  /** Stores a compaction in one go: nothing else waits for its lines. */
  readonly storePacked: (one: PackedCompaction) => Promise<StoredCompression>;
  /** Stores a compaction block by block. */
  readonly beginPacked: (
    outline: CompactionOutline,
  ) => Promise<ArchiveWriter<PackedBlock, CompactionDraft, StoredCompression>>;
};

/** `archiveBytes`: by how much the archive grew, without what others stored. */
export type StoredCompression = { readonly id: number; readonly archiveBytes: number };

/** Makes the port of a synchronous archive. Writes wait for each other, and for work on one state, in the order of their calls. */
export function createLocalArchive(sync: SyncArchive, acquire: TakeTurn = createTurns()): ServedArchive {
  const shared = guardPort(createShared(sync.connect(acquire), sync, SQLITE_CHECK), (error) => {
    const failure = toArchiveFailure(error, sync.path);
    return failure === null ? error : archiveError(failure);
  });
  const read =
    <Args extends readonly unknown[], T>(method: (...args: Args) => T) =>
    async (...args: Args): Promise<T> =>
      method(...args);

  const write =
    <Args extends readonly unknown[], T>(method: (...args: Args) => T) =>
    async (...args: Args): Promise<T> => {
      const release = await acquire();
      try {
        return method(...args);
      } finally {
        release();
      }
    };

  const iterate = <Args extends readonly unknown[], T>(method: (...args: Args) => Iterable<T>) =>
    async function* iterating(...args: Args): AsyncGenerator<T> {
      yield* method(...args);
    };

  /** Begins something that other writes wait for. */
  const beginInTurn = async <T>(begin: (release: () => void) => T): Promise<T> => {
    const release = await acquire();
    try {
      return begin(release);
    } catch (error) {
      release();
      throw error;
    }
  };

  const { captures, droppedRules, messages, retention, vectors } = sync;
  const state: ArchiveState = {
    ...shared,
    messages: {
      countMessages: read(messages.countMessages),
      listSpeakers: read(messages.listSpeakers),
      countHits: read(messages.countHits),
      listHits: read(messages.listHits),
      listHitsAmong: read(messages.listHitsAmong),
      loadCandidates: read(messages.loadCandidates),
      listNewest: read(messages.listNewest),
    },
    searchBatches: read(sync.searchBatches),
    vectors: {
      findModel: read(vectors.findModel),
      count: read(vectors.count),
      countMissing: read(vectors.countMissing),
      listMissing: read(vectors.listMissing),
      keep: write(vectors.keep),
      nearestMessages: read(vectors.nearestMessages),
      similarities: read(vectors.similarities),
      nearestBatches: read(vectors.nearestBatches),
    },
  };

  return {
    ...shared,
    ...state,
    path: sync.path,
    isReadOnly: sync.isReadOnly,
    isReadableWhileStoring: sync.isReadableWhileStoring,
    droppedRules: { list: read(droppedRules.list), add: write(droppedRules.add), remove: write(droppedRules.remove) },
    begin: async (outline) => beginInTurn((release) => createWriter(sync.begin(outline), release)),
    storePacked: write(({ outline, blocks, draft }) => {
      const writer = beginMeasured(sync, outline);
      writer.append(blocks);
      return writer.commit(draft);
    }),
    beginPacked: async (outline) => beginInTurn((release) => createWriter(beginMeasured(sync, outline), release)),
    captures: {
      ...shared.captures,
      begin: async (outline) =>
        beginInTurn((release) => {
          const writer = captures.begin(outline);
          if (writer !== null) return createWriter(writer, release);
          release();
          return null;
        }),
      confirm: write(captures.confirm),
      markGone: write(captures.markGone),
    },
    retention: {
      listHolds: read(retention.listHolds),
      addHold: write(retention.addHold),
      removeHold: write(retention.removeHold),
      lastFileId: read(retention.lastFileId),
      listErasable: iterate(retention.listErasable),
      findMessageLines: read(retention.findMessageLines),
      readPieces: iterate(retention.readPieces),
      findEffect: read(retention.findEffect),
      erase: write(retention.erase),
      purge: write(retention.purge),
      isPurged: read(retention.isPurged),
      listErasures: read(retention.listErasures),
    },
    markApplied: write(sync.markApplied),
    discard: write(sync.discard),
    inOneState: async (work) => {
      const release = await acquire();
      try {
        sync.enterState();
        try {
          return await work(state);
        } finally {
          sync.leaveState();
        }
      } finally {
        release();
      }
    },
    close: read(sync.close),
  };
}

/** Measures here, where everybody's writes take turns. */
function beginMeasured(
  sync: SyncArchive,
  outline: CompactionOutline,
): SyncWriterOf<PackedBlock, CompactionDraft, StoredCompression> {
  const bytesBefore = sync.usedBytes();
  const writer = sync.begin(outline);
  return {
    ...writer,
    commit: (draft) => {
      const id = writer.commit(draft);
      return { id, archiveBytes: Math.max(0, sync.usedBytes() - bytesBefore) };
    },
  };
}

/** Lets other writes begin when this one has ended, however that is. */
function createWriter<Piece, Draft, Stored>(
  writer: SyncWriterOf<Piece, Draft, Stored>,
  release: () => void,
): ArchiveWriter<Piece, Draft, Stored> {
  const status = { hasEnded: false };
  const end = (): void => {
    status.hasEnded = true;
    release();
  };
  const step = <T>(work: () => T): T => {
    if (status.hasEnded) throw new Error('this was stored or abandoned before');
    try {
      return work();
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    append: async (pieces) => step(() => writer.append(pieces)),
    commit: async (draft) => {
      const stored = step(() => writer.commit(draft));
      end();
      return stored;
    },
    abandon: async () => {
      if (status.hasEnded) return;
      step(() => writer.abandon());
      end();
    },
  };
}
