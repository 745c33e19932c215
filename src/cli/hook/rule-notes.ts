import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HostEnvironment, stateFolder } from '../../config/find.ts';
import { listNames, makeFolder, orElse, replaceFile, sleepSync, tryTo } from '../../system/files.ts';
import type { SessionNotes } from '../../ports/retention.ts';

/** Notes of the rules of sessions that are being compacted. They bridge two events of a client, and expire after a week. */
type RuleNotes = {
  /** From here on, `take` waits for the note. */
  readonly begin: (session: string) => void;
  readonly write: (session: string, text: string) => void;
  /** Removes the note and returns it; waits for one that was begun. Null: there is none. */
  readonly take: (session: string, waitMs: number) => string | null;
} & SessionNotes;

const SESSION_ID = /^[\w-]{1,128}$/;
const ENDING = '.md';
const POLL_MS = 10;

export function createRuleNotes(host: HostEnvironment): RuleNotes {
  const folder = join(stateFolder(host), 'rules');
  const pathOf = (session: string): string => join(folder, `${session}${ENDING}`);
  const write = (session: string, text: string): void => {
    if (!SESSION_ID.test(session)) return;
    makeFolder(folder);
    replaceFile(pathOf(session), text);
  };
  const read = (session: string): string | null => orElse(null, () => readFileSync(pathOf(session), 'utf8'));
  return {
    list: () =>
      listNames(folder).flatMap((name) => {
        const session = name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : '';
        const text = SESSION_ID.test(session) ? read(session) : null;
        return text === null ? [] : { session, path: pathOf(session), text };
      }),
    remove: ({ path }) => rmSync(path, { force: true }),
    begin: (session) => {
      removeExpired(folder);
      write(session, '');
    },
    write: (session, text) => write(session, text === '' ? NO_RULES : text),
    take: (session, waitMs) => {
      if (!SESSION_ID.test(session)) return null;
      let text = read(session);
      for (let waited = 0; text === '' && waited < waitMs; waited += POLL_MS) {
        sleepSync(POLL_MS);
        text = read(session);
      }
      rmSync(pathOf(session), { force: true });
      return text === null || text.trim() === '' ? null : text;
    },
  };
}

const NO_RULES = '\n';

const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Removes files of a client, and folders, that nobody came back for. In a folder that is shared with others, only those that belong to `userId`
 * and have names that begin with `start`: others could have put anything into theirs.
 */
export function removeExpired(
  folder: string,
  { start = '', userId = null }: { readonly start?: string; readonly userId?: number | null } = {},
): void {
  for (const name of listNames(folder)) {
    if (!name.startsWith(start)) continue;
    const path = join(folder, name);
    // Another hook may be faster, or it cannot be removed: no reason for a hook to fail.
    tryTo(() => {
      const { uid, mtimeMs } = lstatSync(path);
      const isOurs = userId === null || uid === userId;
      if (isOurs && Date.now() - mtimeMs > MAX_AGE_MS) rmSync(path, { recursive: true });
    });
  }
}
