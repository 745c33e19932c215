import { mkdtempSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Program, SessionPlace } from '../../ports/clients.ts';
import type { Format } from '../../ports/codec.ts';
import { quoteForShell, safeText, shellWord } from '../../messages/text.ts';
import { orElse } from '../../system/files.ts';
import { isInPlace } from '../inputs/known-places.ts';
import { findProgram } from '../program-name.ts';
import { formatOf, inSession } from '../line/command.ts';
import type { CliContext, Session } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';
import type { Launch } from '../terminal/terminal.ts';

/** How a program goes on with a session. */
export type Resumption = {
  readonly args: readonly string[];
  /** What the program must be called with before. */
  readonly before?: readonly (readonly string[])[];
  readonly folder: string;
  /** Why nothing is started, as a clause; null: it may be. */
  readonly doubt: string | null;
};

type Located = {
  readonly place: SessionPlace;
  readonly format: Format | undefined;
  readonly path: string;
  /** Its program has just printed the file for us. */
  readonly isPrinted: boolean;
  /** What the user adds. */
  readonly passed: readonly string[];
};

/** What a program is called with to go on with a session; null: the session has no id that the program could have given it. */
export function planResumption(
  session: Session,
  { place, format, path, isPrinted, passed }: Located,
): Resumption | null {
  const { program, id } = place;
  const { host } = session.terminal;
  const file = resolve(host.workingFolder, path);
  if (id === null && program.resume.some((word) => word.includes('ID'))) return null;
  const fill = (words: readonly string[]): readonly string[] =>
    words.map((word) => (word === 'FILE' ? file : word.replace('ID', id ?? '')));
  const folder = place.folder ?? host.workingFolder;
  const doubt = doubtPlace(session, { place, format, isPrinted, file });
  const before = program.takeIn === undefined || isPrinted ? [] : [fill(program.takeIn)];
  return { args: [...fill(program.resume), ...passed], before, folder, doubt };
}

/** Why nothing is started in the folder of a session, as a clause. Whoever wrote the file may have written anything into it. */
export function doubtPlace(
  { terminal }: Pick<Session, 'terminal'>,
  { place, format, isPrinted, file }: Pick<Located, 'place' | 'format' | 'isPrinted'> & { readonly file: string },
): string | null {
  const { program, id, folder, isMisplaced } = place;
  const { host } = terminal;
  if (!isPrinted && !isInPlace(file, format?.places ?? [], host))
    return program.takeIn === undefined
      ? `the file is not where ${program.title} keeps its sessions`
      : `${program.title} keeps its sessions in a database ('${terminal.program()} resume ${id ?? 'ID'}' goes on with what it has there)`;
  if (!isOwn(file, host.userId)) return 'the file is not yours';
  if (folder === null) return 'the session does not say in which folder it was held';
  const isFolder = folder.startsWith('/') && orElse(false, () => statSync(folder).isDirectory());
  if (!isFolder) return `its folder ${folder} is not there ('compact handoff' begins a new session elsewhere)`;
  if (isMisplaced) return `the file says that it was held in ${folder}, and lies where sessions of another folder are`;
  return isOwn(folder, host.userId) ? null : `its folder ${folder} is not yours`;
}

function isOwn(path: string, userId: number | null): boolean {
  return userId === null || orElse(false, () => statSync(path).uid === userId);
}

/** The program that is to be started; null: it is not installed. It is never taken from the folder that it will work in. */
export function findLaunch(
  { terminal }: Pick<Session, 'terminal'>,
  { command, args, folder }: { readonly command: string } & Pick<Resumption, 'args' | 'folder'>,
): Launch | null {
  const real = orElse(folder, () => realpathSync(folder));
  const path = findProgram(command, terminal.host, real);
  return path === null ? null : { path, args, folder: real };
}

/** As a shell takes it. */
export function describeLaunch(
  command: string,
  { args, before = [], folder }: Pick<Resumption, 'args' | 'before' | 'folder'>,
): string {
  const calls = [...before, args].map((words) => quoteForShell([command, ...words]));
  return [`cd ${shellWord(folder)}`, ...calls].join(' && ');
}

/** Runs a command that may end in another program. The session is over by then: nobody waits for the archive while the other one runs. */
export async function inSessionBefore(
  context: CliContext,
  line: Parameters<typeof formatOf>[0],
  work: (session: Session, start: (launch: Launch) => void) => Promise<ExitCode>,
): Promise<ExitCode> {
  const request = { ...line, format: formatOf(line), needs: ['selection', 'model', 'archive'] as const };
  const next: { launch: Launch | null } = { launch: null };
  const code = await inSession(context, request, (session) =>
    work(session, (launch) => {
      next.launch = launch;
    }),
  );
  if (next.launch === null || code !== EXIT_CODES.done) return code;
  const ended = await context.terminal.become(next.launch);
  if (ended !== null) return ended;
  context.terminal.stderr.write(`${safeText(next.launch.path)}: it cannot be started.\n`);
  return EXIT_CODES.failed;
}

/**
 * A longer text is passed in a file: a list of processes shows arguments to everybody, and they have a limit. So is one with an @: programs read
 * the files that a prompt names after it, and what is quoted from a session may name any file.
 */
const MAX_PROMPT_BYTES = 4096;

/** The arguments with which a program begins with a text. A file with the text goes when this process ends. */
export function beginWith(
  { terminal }: Pick<Session, 'terminal'>,
  { begin, mayRead = [] }: Pick<Program, 'mayRead'> & { readonly begin: readonly string[] },
  text: string,
): readonly string[] {
  const fill = (words: readonly string[], mark: string, value: string): readonly string[] =>
    words.map((word) => (word === mark ? value : word));
  if (Buffer.byteLength(text) <= MAX_PROMPT_BYTES && !text.includes('@')) return fill(begin, 'PROMPT', text);
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'compact-handoff-'));
  terminal.removeAtExit(folder);
  const file = join(folder, 'handover.md');
  writeFileSync(file, text, { mode: 0o600 });
  const prompt = `Read all of @${file} (the hand-over of an earlier session) and go on from where it stands.`;
  return [...fill(begin, 'PROMPT', prompt), ...fill(mayRead, 'FOLDER', folder)];
}

/** What to do about a program that is not there. */
export function describeMissing({ title, command, packageName }: Program): string {
  return `${command}: ${title} is not on the PATH. Install it with: npm install -g ${packageName}`;
}
