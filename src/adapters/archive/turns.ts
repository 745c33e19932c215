import type { Archive, CompactionWriter } from '../../ports/archive.ts';

/** Waits for a turn, which lasts until the function that it gives is called. */
export type TakeTurn = () => Promise<() => void>;

/** Turns in the order in which they are asked for. */
export function createTurns(): TakeTurn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const turn = Promise.withResolvers<void>();
    const before = last;
    last = turn.promise;
    await before;
    return turn.resolve;
  };
}

/**
 * Lets the writes of an archive wait for turns that another archive takes as well. SQLite would make a thread that writes
 * wait for another connection, and never come back if that one waits for lines from the same thread.
 */
export function withTurns(archive: Archive, takeTurn: TakeTurn): Archive {
  const inTurn =
    <Args extends readonly unknown[], T>(method: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const release = await takeTurn();
      try {
        return await method(...args);
      } finally {
        release();
      }
    };
  return {
    ...archive,
    summaries: { ...archive.summaries, keep: inTurn(archive.summaries.keep) },
    vectors: { ...archive.vectors, keep: inTurn(archive.vectors.keep) },
    markApplied: inTurn(archive.markApplied),
    discard: inTurn(archive.discard),
    begin: async (outline) => {
      const release = await takeTurn();
      try {
        return releaseAfter(await archive.begin(outline), release);
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function releaseAfter(writer: CompactionWriter, release: () => void): CompactionWriter {
  const ended =
    <Args extends readonly unknown[], T>(method: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await method(...args);
      } finally {
        release();
      }
    };
  return { append: writer.append, commit: ended(writer.commit), abandon: ended(writer.abandon) };
}
