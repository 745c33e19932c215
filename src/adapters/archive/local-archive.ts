import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { archiveError, guardPort, toArchiveFailure } from './failure.ts';
import { createShared } from './shared.ts';
import { createSqliteStore } from './sqlite/store.ts';
import { createCompactionStore } from './store/compactions.ts';
import { SQLITE_CHECK } from './sqlite/check.ts';
import type { SyncArchive } from './sync-archive.ts';
import { createTurns, type TakeTurn } from './turns.ts';

/** Makes the port of a synchronous archive. Writes wait for each other, and for work on one state, in the order of their calls. */
export function createLocalArchive(sync: SyncArchive, acquire: TakeTurn = createTurns()): Archive {
  const sql = sync.connect(acquire);
  const parts = {
    ...createShared(sql, sync, SQLITE_CHECK),
    ...createCompactionStore(sql, createSqliteStore(sql)),
  };
  const { begin, markApplied, discard, ...shared } = guardPort(parts, (error) => {
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

  const { droppedRules, messages, retention, vectors } = sync;
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
    begin,
    markApplied,
    discard,
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
