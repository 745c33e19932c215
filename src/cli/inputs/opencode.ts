import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type HostEnvironment, stateFolder } from '../../config/find.ts';
import { OPENCODE_ID } from '../../core/paths.ts';
import { err, ok, type Result, parseJson, systemCode } from '../../core/result.ts';
import { safeText } from '../../messages/text.ts';
import { orElse } from '../../system/files.ts';
import { removeExpired } from '../hook/rule-notes.ts';
import { findProgram } from '../program-name.ts';
import { describeMissing } from '../runs/launch.ts';
import type { Session } from '../session.ts';

/*
 * OpenCode keeps its sessions in a database. `opencode export` prints one, and `opencode import` only adds: what is there stays as it is. So a
 * compacted session goes in as a copy under ids of its own, and the session itself stays as it is.
 */

const COPY_FILE = /(ses_[0-9A-Za-z]+)-(compact[0-9a-f]{8})\.json$/;
const MARK_DIGITS = 8;

/** A session that OpenCode has printed for us. */
export type Exported = {
  /** As OpenCode calls it. */
  readonly id: string;
  /** What its compacted copy is called: the same for the same messages. */
  readonly copyId: string;
  /** The file of ours. A copy has the ids of its original in it, so that it is known for the conversation that it goes on with. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Where the file is compacted. */
  readonly keptPath: string;
};

/** Where copies of its sessions stay for a week. Our plugin of OpenCode writes some there too. */
function keptFolder(host: HostEnvironment): string {
  return join(stateFolder(host), 'opencode');
}

function makeKeptFolder(host: HostEnvironment): string {
  const folder = keptFolder(host);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeExpired(folder);
  return folder;
}

/** Has OpenCode print a session into a file of ours, for a week if it is to be captured, else for this command. The error is a sentence. */
export async function exportSession(
  session: Session,
  id: string,
  { isCaptured }: { readonly isCaptured: boolean },
): Promise<Result<Exported, string>> {
  const { host } = session.terminal;
  const folder = isCaptured ? makeKeptFolder(host) : temporaryFolder(session);
  const path = join(folder, `${id}.json`);
  // It ends before a pipe has taken all that it prints, so it prints into the file.
  const descriptor = openSync(path, 'w', 0o600);
  const hint = "'opencode session list' shows the sessions of a folder.";
  const exporting = { folder: host.homeFolder, stdout: descriptor, what: id, hint };
  const done = await runOpenCode(session, ['export', id], exporting);
  closeSync(descriptor);
  const text = done.ok ? readFileSync(path, 'utf8') : '';
  const printed = done.ok ? readSession(text) : null;
  if (printed === null) {
    rmSync(path, { force: true });
    return done.ok ? err(`${id}: 'opencode export' printed no session. ${hint}`) : done;
  }
  const [, original = id, mark = ''] = OPENCODE_ID.exec(id) ?? [];
  const own = mark === '' ? text : withIds(printed, (one) => (one.endsWith(mark) ? one.slice(0, -mark.length) : one));
  if (mark !== '') writeFileSync(path, own);
  const digest = createHash('sha256').update(JSON.stringify(readSession(own)?.messages));
  const next = `compact${digest.digest('hex').slice(0, MARK_DIGITS)}`;
  return ok({
    id,
    copyId: original + next,
    path,
    sizeBytes: Buffer.byteLength(own),
    keptPath: join(keptFolder(host), `${original}-${next}.json`),
  });
}

/** Copies the file to where it is compacted, so that this can be undone. */
export function keepExport({ terminal }: Pick<Session, 'terminal'>, { path, keptPath }: Exported): string {
  makeKeptFolder(terminal.host);
  copyFileSync(path, keptPath);
  return keptPath;
}

/** Has OpenCode read the compacted file as a session of its own, with this working folder. The error is a sentence. */
export async function importCopy(
  session: Session,
  { id, copyId, keptPath }: Exported,
  folder: string,
): Promise<Result<void, string>> {
  const [, original = copyId, mark = ''] = OPENCODE_ID.exec(copyId) ?? [];
  const compacted = readSession(readFileSync(keptPath, 'utf8'));
  if (compacted === null) return err(`${keptPath}: this is no session of OpenCode any more`);
  // Those of other sessions, of its parent and of its tasks, stay.
  const ids = new Set([original, ...listIds(compacted)]);
  const { share: _, ...info } = compacted.info;
  const { title = original } = info;
  const copy = withIds(
    { ...compacted, info: { ...info, title: `${String(title).replace(COPY_TITLE, '')} (compacted)` } },
    (one) => (ids.has(one) ? one + mark : one),
  );
  const file = join(temporaryFolder(session), 'session.json');
  writeFileSync(file, copy, { mode: 0o600 });
  const hint = `'${session.terminal.program()} resume ${id}' tries again.`;
  return runOpenCode(session, ['import', file], { folder, stdout: 'ignore', what: id, hint });
}

/**
 * Whether OpenCode has all messages of a copy. An import that was killed leaves some of them, and another one adds the rest. If the file that
 * was imported is gone, its copy counts as whole.
 */
export function isWholeCopy({ keptPath }: Exported, { path }: Exported): boolean {
  const [imported, copy] = [keptPath, path].map((one) => readSession(orElse('', () => readFileSync(one, 'utf8'))));
  if (!imported || !copy) return true;
  const known = listIds(copy);
  return [...listIds(imported)].every((id) => known.has(id));
}

/** The ids of its messages and their parts. */
function listIds(session: Printed): Set<string> {
  const ids = new Set<string>();
  withIds(session, (one) => {
    if (/^(?:msg|prt)_/.test(one)) ids.add(one);
    return one;
  });
  return ids;
}

const TEMPORARY = 'compact-opencode-';

/** It goes when the session ends; what a killed process left, after a week. */
function temporaryFolder({ terminal, atEnd }: Pick<Session, 'terminal' | 'atEnd'>): string {
  const parent = realpathSync(tmpdir());
  removeExpired(parent, { start: TEMPORARY, userId: terminal.host.userId });
  const folder = mkdtempSync(join(parent, TEMPORARY));
  const remove = terminal.removeAtExit(folder);
  atEnd(() => remove());
  return folder;
}

const COPY_TITLE = / \(compacted\)$/;

/** What undoing the compaction of such a file leaves in OpenCode; empty: it is none. */
export function describeCopy({ terminal }: Pick<Session, 'terminal'>, path: string): readonly string[] {
  const [name = '', original = '', mark = ''] = COPY_FILE.exec(path) ?? [];
  if (name === '' || path !== join(keptFolder(terminal.host), name)) return [];
  const copy = original + mark;
  return [
    `    OpenCode's session ${original} was never changed; its copy stays there until 'opencode session delete ${copy}'.`,
  ];
}

type Printed = { readonly info: { readonly [key: string]: unknown }; readonly messages: readonly unknown[] };

/** Null: it is none. */
function readSession(text: string): Printed | null {
  const printed: Partial<Printed> = Object(parseJson(text));
  const { info, messages } = printed;
  const isSession = typeof info === 'object' && info !== null && Array.isArray(messages);
  return isSession ? { ...printed, info, messages } : null;
}

const ID_KEYS: ReadonlySet<string> = new Set('id sessionID messageID parentID partID tail_start_id'.split(' '));

/** The session as JSON, with other ids. */
function withIds(session: Printed, change: (id: string) => string): string {
  const changed = (key: string, value: unknown): unknown =>
    typeof value === 'string' && ID_KEYS.has(key) ? change(value) : value;
  return `${JSON.stringify(session, changed, 2)}\n`;
}

const COMMAND = 'opencode';

/** The error is a sentence. `what`, `hint`: what a failure is about, and what to try then. */
async function runOpenCode(
  { terminal, useCases }: Pick<Session, 'terminal' | 'useCases'>,
  args: readonly [action: string, operand: string],
  { folder, stdout, what, hint }: Record<'folder' | 'what' | 'hint', string> & { readonly stdout: number | 'ignore' },
): Promise<Result<void, string>> {
  const { host, signal } = terminal;
  const path = findProgram(COMMAND, host, folder);
  if (path === null) {
    const missing = useCases.listPrograms().filter(({ command }) => command === COMMAND);
    return err(missing.map(describeMissing).join('\n'));
  }
  const fail = (why: string): Result<void, string> =>
    err(`${what}: '${COMMAND} ${args[0]}' failed (${safeText(why)}). ${hint}`);
  // Nobody waits for it after an interruption.
  const child = spawn(path, args, { cwd: folder, env: host.environment, stdio: ['ignore', stdout, 'pipe'], signal });
  const said: Buffer[] = [];
  child.stderr?.on('data', (bytes: Buffer) => said.push(bytes));
  const ending = new Promise<readonly [code: number | null, signal: string | null]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...how) => resolve(how));
  });
  const forget = terminal.killAtExit(child);
  try {
    const [code, by] = await ending;
    if (code === 0) return ok(undefined);
    const last = stripVTControlCharacters(Buffer.concat(said).toString()).trim().split('\n').at(-1) ?? '';
    return fail(last.replace(/^Error: /, '') || (by ?? `exit code ${code}`));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return fail(error instanceof Error ? error.message : String(error));
  } finally {
    forget();
    // A process that it has started may hold this open.
    child.stderr?.destroy();
  }
}
