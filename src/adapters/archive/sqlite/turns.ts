import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from '../../../core/result.ts';

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
