import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ArchiveWriter } from '../../ports/archive-writer.ts';
import type { Archive } from '../../ports/archive.ts';
import { systemCode } from '../../core/result.ts';

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

const TURNS = new Map<string, TakeTurn>();

/** The turns of everything in this thread that writes to the archive at a path. */
export function turnsAt(path: string): TakeTurn {
  const key = realPath(resolve(path));
  const known = TURNS.get(key);
  if (known !== undefined) return known;
  const turns = createTurns();
  TURNS.set(key, turns);
  return turns;
}

/** The name without links. The file may not exist yet, and neither may its folder. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

/**
 * Makes the writes of an archive take turns with those of other connections in this thread. Without turns, a write on
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
  const { captures, retention, runs } = archive;
  return {
    ...archive,
    runs: {
      ...runs,
      record: inTurn(runs.record),
      notePath: inTurn(runs.notePath),
      forget: inTurn(runs.forget),
      markFileUndone: inTurn(runs.markFileUndone),
      markUndone: inTurn(runs.markUndone),
    },
    droppedRules: {
      ...archive.droppedRules,
      add: inTurn(archive.droppedRules.add),
      remove: inTurn(archive.droppedRules.remove),
    },
    summaries: { ...archive.summaries, keep: inTurn(archive.summaries.keep) },
    providerBatches: { ...archive.providerBatches, change: inTurn(archive.providerBatches.change) },
    vectors: { ...archive.vectors, keep: inTurn(archive.vectors.keep) },
    retention: {
      ...retention,
      addHold: inTurn(retention.addHold),
      removeHold: inTurn(retention.removeHold),
      erase: inTurn(retention.erase),
      purge: inTurn(retention.purge),
    },
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
