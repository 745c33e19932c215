import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HostEnvironment, xdgFolder } from '../../config/find.ts';
import { systemCode } from '../system-failure.ts';

/** Notes of the rules of sessions that are being compacted. They bridge two events of a client. */
export type RuleNotes = {
  /** From here on, `take` waits for the note. */
  readonly begin: (session: string) => void;
  readonly write: (session: string, text: string) => void;
  /** Removes the note and returns it; waits for one that was begun. Null: there is none. */
  readonly take: (session: string, waitMs: number) => string | null;
};

const SESSION_ID = /^[\w-]{1,128}$/;
const POLL_MS = 10;

export function createRuleNotes(host: HostEnvironment): RuleNotes {
  const folder = join(stateFolder(host), 'rules');
  const pathOf = (session: string): string => join(folder, `${session}.md`);
  const write = (session: string, text: string): void => {
    if (!SESSION_ID.test(session)) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${pathOf(session)}.tmp`, text, { mode: 0o600 });
    renameSync(`${pathOf(session)}.tmp`, pathOf(session));
  };
  const take = (session: string): string | null => {
    try {
      return readFileSync(pathOf(session), 'utf8');
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return null;
    }
  };
  return {
    begin: (session) => write(session, ''),
    write: (session, text) => write(session, text === '' ? NO_RULES : text),
    take: (session, waitMs) => {
      if (!SESSION_ID.test(session)) return null;
      let text = take(session);
      for (let waited = 0; text === '' && waited < waitMs; waited += POLL_MS) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
        text = take(session);
      }
      rmSync(pathOf(session), { force: true });
      return text === null || text.trim() === '' ? null : text;
    },
  };
}

const NO_RULES = '\n';

/** Where this program keeps what it has to remember between runs. */
export function stateFolder(host: HostEnvironment): string {
  return join(xdgFolder(host, { name: 'XDG_STATE_HOME', fallback: join('.local', 'state') }), 'compact');
}
