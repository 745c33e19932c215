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
  const { sql, retention } = sync.connect(acquire);
  const parts = {
    ...createShared(sql, sync, { check: SQLITE_CHECK, retention }),
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

  const { messages, vectors } = sync;
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
    begin,
    markApplied,
    discard,
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
