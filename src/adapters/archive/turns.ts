import type { ArchiveWriter } from '../../ports/archive-writer.ts';
import type { Archive } from '../../ports/archive.ts';

/** Waits for a turn. The turn lasts until the returned function is called. */
export type TakeTurn = () => Promise<() => void>;

/** Gives turns in the order in which they were requested. */
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
 * Makes the writes of an archive take turns with those of other connections in this process. Without turns, a write on
 * this thread would block in SQLite until the archive's thread commits, while that thread waits for lines from this one.
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
  const beginInTurn = async <T>(begin: (release: () => void) => Promise<T>): Promise<T> => {
    const release = await takeTurn();
    try {
      return await begin(release);
    } catch (error) {
      release();
      throw error;
    }
  };
  const { captures, runs } = archive;
  return {
    ...archive,
    runs: {
      ...runs,
      record: inTurn(runs.record),
      forget: inTurn(runs.forget),
      markFileUndone: inTurn(runs.markFileUndone),
      markUndone: inTurn(runs.markUndone),
    },
    summaries: { ...archive.summaries, keep: inTurn(archive.summaries.keep) },
    vectors: { ...archive.vectors, keep: inTurn(archive.vectors.keep) },
    markApplied: inTurn(archive.markApplied),
    discard: inTurn(archive.discard),
    begin: async (outline) => beginInTurn(async (release) => releaseAfter(await archive.begin(outline), release)),
    captures: {
      ...captures,
      begin: async (outline) =>
        beginInTurn(async (release) => {
          const writer = await captures.begin(outline);
          if (writer !== null) return releaseAfter(writer, release);
          release();
          return null;
        }),
      confirm: inTurn(captures.confirm),
      markGone: inTurn(captures.markGone),
    },
  };
}

function releaseAfter<Piece, Draft, Stored>(
  writer: ArchiveWriter<Piece, Draft, Stored>,
  release: () => void,
): ArchiveWriter<Piece, Draft, Stored> {
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
