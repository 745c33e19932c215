import type { Archive, ArchiveState, CompactionWriter } from '../../ports/archive.ts';
import type { SyncArchive, SyncWriter } from './sync-archive.ts';
import { createTurns, type TakeTurn } from './turns.ts';

/** Makes the port of a synchronous archive. Writes wait for each other, and for work on one state, in the order of their calls. */
export function createLocalArchive(sync: SyncArchive, acquire: TakeTurn = createTurns()): Archive {
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

  async function* check(): ReturnType<Archive['check']> {
    const release = await acquire();
    try {
      yield* sync.check();
    } finally {
      release();
    }
  }

  const { messages, runs, summaries, vectors } = sync;
  const state: ArchiveState = {
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
    findBatches: read(sync.findBatches),
    findLines: read(sync.findLines),
    nearLabels: read(sync.nearLabels),
    loadSources: read(sync.loadSources),
    loadReplacements: read(sync.loadReplacements),
    readOriginals: iterate(sync.readOriginals),
    readLine: read(sync.readLine),
    readHeads: read(sync.readHeads),
    listCompactions: read(sync.listCompactions),
    measure: read(sync.measure),
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
    ...state,
    path: sync.path,
    isReadOnly: sync.isReadOnly,
    findCycles: read(sync.findCycles),
    loadCompaction: read(sync.loadCompaction),
    findSame: read(sync.findSame),
    summaries: { find: read(summaries.find), keep: write(summaries.keep) },
    runs: {
      record: write(runs.record),
      forget: write(runs.forget),
      list: read(runs.list),
      markFileUndone: write(runs.markFileUndone),
      markUndone: write(runs.markUndone),
    },
    begin: async (outline) => {
      const release = await acquire();
      try {
        return createWriter(sync.begin(outline), release);
      } catch (error) {
        release();
        throw error;
      }
    },
    markApplied: write(sync.markApplied),
    discard: write(sync.discard),
    listPrepared: read(sync.listPrepared),
    readLines: iterate(sync.readLines),
    readSurvivors: read(sync.readSurvivors),
    check,
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

/** Lets other writes begin when this one has ended, however that is. */
function createWriter(writer: SyncWriter, release: () => void): CompactionWriter {
  const status = { hasEnded: false };
  const end = (): void => {
    status.hasEnded = true;
    release();
  };
  const step = <T>(work: () => T): T => {
    if (status.hasEnded) throw new Error('this compaction was stored or abandoned before');
    try {
      return work();
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    append: async (lines) => step(() => writer.append(lines)),
    commit: async (draft) => {
      const id = step(() => writer.commit(draft));
      end();
      return id;
    },
    abandon: async () => {
      if (status.hasEnded) return;
      step(() => writer.abandon());
      end();
    },
  };
}
