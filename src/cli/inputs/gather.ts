import { basename, dirname, join, resolve } from 'node:path';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';
import type { FailedReport } from '../../app/contract/reports.ts';
import { err, ok, type Result, systemCode } from '../../core/result.ts';
import { isSessionId, sessionIdOf } from '../../core/paths.ts';
import type { FileFailure } from '../../ports/files.ts';
import { failedReport, renderFailure, renderStdinFailure, toFailedReport } from '../../messages/failure.ts';
import type { Session } from '../session.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { dropRepeated, findInputs, findNothing, type InputFile, type InputProblem, type InputRules } from './inputs.ts';
import { countOf, formatCount } from '../../messages/quantities.ts';
import { safeText } from '../../messages/text.ts';
import { isInShard, readShard } from './shard.ts';
import { isFullDisk, toFileFailure } from '../../system/files.ts';

/** An input that can be opened; messages call it `name`. */
export type ReadyInput = InputFile & { readonly name: string };

export type Gathered = {
  readonly inputs: readonly ReadyInput[];
  /** The user may mean several transcripts, even if there is only one. */
  readonly isSeveral: boolean;
  /** The number of operands that failed; each was reported. */
  readonly failures: readonly FailedReport[];
};

/** What of a line names inputs. */
export type InputLine = {
  readonly operands: readonly string[];
  readonly isStdinImplied?: boolean;
  readonly options?: {
    /** A list of further transcripts; `-` is standard input. */
    readonly filesFrom?: string | undefined;
    /** Only the files of this part. */
    readonly shard?: string | undefined;
    readonly format?: string | undefined;
  };
};

/** The operands as files; standard input is spooled. A number is an exit code: the command is over. */
export async function gatherInputs(
  session: Session,
  { operands, isStdinImplied = false, options = {} }: InputLine,
  { skipsCompacted }: Pick<InputRules, 'skipsCompacted'>,
): Promise<Gathered | ExitCode> {
  const { filesFrom = null } = options;
  const shard = options.shard === undefined ? null : readShard(options.shard);
  const { terminal, reporter } = session;
  const readsStdin = operands.includes('-');
  if ((readsStdin || filesFrom === '-') && terminal.stdin.kind === 'terminal') {
    const what = readsStdin ? 'a transcript' : 'names of transcripts';
    return session.refuse(`standard input is a terminal: pipe ${what} in, or name a file`);
  }
  const listed = filesFrom === null ? ok([]) : await readNameList(filesFrom, terminal);
  // Nothing is started.
  if (!listed.ok) return session.refuse(`--files-from ${renderFailure({ kind: 'file', failure: listed.error })}`);
  const names = listed.value;
  if (filesFrom !== null && names.length === 0) {
    const list = filesFrom === '-' ? 'standard input' : safeText(filesFrom);
    reporter.report([`${list}: the list is empty; nothing to do.`]);
  }
  const paths = await findBySessionId(
    session,
    operands.filter((operand) => operand !== '-'),
  );
  if (!paths.ok) {
    const { message, candidates } = paths.error;
    const code = session.refuse(message);
    if (candidates.length > 0) reporter.error(candidates.map((path) => `  ${safeText(path)}`).join('\n'));
    return code;
  }
  const found = await findInputs(paths.value, { skipsCompacted, names, signal: terminal.signal });
  const failures = found.problems.map(toFailure);
  for (const { error } of failures) reporter.error(error.message);
  for (const operand of found.empty) {
    const ours = skipsCompacted ? ' (*.compact.* is skipped)' : '';
    reporter.report([`${safeText(operand)}: no transcripts found${ours}; nothing to do.`]);
  }
  const files = found.files
    .filter(({ pathInOperand }) => shard === null || isInShard(pathInOperand, shard))
    .map((file): ReadyInput => ({ ...file, name: file.path }));
  if (shard !== null && found.files.length > 0)
    reporter.report([
      `Shard ${shard.index}/${shard.count}: ${formatCount(files.length)} of ${countOf(found.files.length, 'file')}.`,
    ]);
  const count = found.files.length + failures.length + (readsStdin ? 1 : 0);
  const isSeveral = count > 1 || found.hasFolder || filesFrom !== null;
  if (!readsStdin) return { inputs: files, isSeveral, failures };

  const missing = isStdinImplied ? await describeMissingInput(terminal) : null;
  if (missing !== null) return session.refuse(missing);
  const spooled = await spoolStdin(terminal);
  if (!spooled.ok) return session.fail(renderStdinFailure(spooled.error));
  session.atEnd(spooled.value.remove);
  const stdin: ReadyInput = {
    path: spooled.value.path,
    pathInFolder: 'stdin',
    pathInOperand: 'stdin',
    isNamed: true,
    refusesLinks: false,
    name: 'stdin',
  };
  return { inputs: [...files, stdin], isSeveral, failures };
}

/** A file that may be a transcript. */
export type ScannedFile = Pick<ReadyInput, 'path' | 'name' | 'isNamed' | 'refusesLinks'> & {
  /** The name of the folder that holds the file: the fallback if the records name no project. */
  readonly project: string | null;
  /** The session's id according to the path; null: the path has none. */
  readonly sessionId: string | null;
};

/**
 * Searches the operands, or without any the places of the formats: `looked`, for people. `failedCount`: of places that could not be read; each
 * was reported. A number is an exit code: the command is over.
 */
export async function findScanned(session: Session, { operands, options = {} }: InputLine) {
  if (operands.length > 0 || options.filesFrom !== undefined) {
    const gathered = await gatherInputs(session, { operands, options }, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const files = gathered.inputs.map((input): ScannedFile => {
      const path = resolve(input.path);
      return { ...input, project: basename(dirname(path)), sessionId: sessionIdOf(path) };
    });
    return { files, looked: operands, failedCount: gathered.failures.length, isSeveral: gathered.isSeveral };
  }
  const { findKnownFiles, placesOf } = await import('./known-places.ts');
  const { useCases, terminal, reporter } = session;
  const formats = useCases.listFormats().filter(({ name }) => options.format === undefined || name === options.format);
  const known = await findKnownFiles(placesOf(formats), terminal.host);
  for (const failure of known.failures) reporter.error(renderFailure({ kind: 'file', failure }));
  const files = dropRepeated(known.files).map(({ path, project }): ScannedFile => ({
    path,
    name: path,
    isNamed: false,
    refusesLinks: true,
    project,
    sessionId: sessionIdOf(path),
  }));
  return { files, looked: known.looked, failedCount: known.failures.length, isSeveral: true };
}

/** Replaces the ids of sessions, as `compact scan` prints them, by the paths of their files. A file of that name comes first. */
async function findBySessionId(
  { useCases, terminal }: Session,
  operands: readonly string[],
): Promise<Result<readonly string[], { readonly message: string; readonly candidates: readonly string[] }>> {
  const paths: string[] = [];
  for (const operand of operands) {
    if (!/^[0-9a-f]{8}/i.test(operand) || (await findNothing(operand)) !== 'missing') {
      paths.push(operand);
      continue;
    }
    const { findSessions } = await import('./known-places.ts');
    const found = isSessionId(operand)
      ? await findSessions(operand, { formats: useCases.listFormats(), host: terminal.host })
      : [operand];
    if (found.length !== 1) {
      const none = `there is no file ${operand}, and no session whose id begins with it ('compact scan' lists them)`;
      const several = `several sessions' ids begin with ${operand}: type more of the id, or name one of the files below`;
      return err({ message: found.length === 0 ? none : several, candidates: found });
    }
    paths.push(...found);
  }
  return ok(paths);
}

function toFailure(problem: InputProblem): FailedReport {
  if (problem.kind === 'file') return toFailedReport(problem.failure.path, { kind: 'file', failure: problem.failure });
  const message = `${safeText(problem.pattern)}: no file matches. Check the pattern.`;
  return failedReport(problem.pattern, { kind: 'no-match', message });
}

/** The names that a file lists. `-` is standard input; reading it rejects when the run is interrupted. */
async function readNameList(
  path: string,
  { stdin, signal }: Pick<Terminal, 'stdin' | 'signal'>,
): Promise<Result<readonly string[], FileFailure>> {
  const { readOutsideStream } = await import('../../system/outside-file.ts');
  const [from, name] = path === '-' ? [stdin.open(), 'standard input'] : [path, path];
  const list = await readOutsideStream(from, { name, maxBytes: MAX_LIST_BYTES, signal });
  return list.ok ? ok(parseNames(list.value)) : list;
}

/** Half a million long paths. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const NUL = 0x00;
const BOM = '\ufeff';

/** Names that end in NUL if there is a NUL, so that they may contain anything; otherwise one per line, without blank lines. */
export function parseNames(list: Buffer): readonly string[] {
  const text = list.toString();
  if (list.includes(NUL)) return text.split('\0').filter((name) => name !== '');
  const lines = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  return lines.split(/\r?\n/).filter((name) => name.trim() !== '');
}

/** Standard input as a private file, because a transcript is read twice. Rejects when the run is interrupted. */
export async function spoolStdin(
  terminal: Terminal,
): Promise<Result<{ readonly path: string; readonly remove: () => void }, FileFailure>> {
  let folder: string;
  try {
    folder = await mkdtemp(join(tmpdir(), 'compact-stdin-'));
  } catch (error) {
    return err(toFileFailure(error, { path: tmpdir(), what: 'write' }));
  }
  const remove = terminal.removeAtExit(folder);
  const path = join(folder, 'stdin');
  const source = terminal.stdin.open();
  try {
    await pipeline(source, createWriteStream(path, { mode: 0o600, flags: 'wx' }), { signal: terminal.signal });
    return ok({ path, remove });
  } catch (error) {
    source.destroy();
    remove();
    const code = systemCode(error);
    if (code === null || code === 'ABORT_ERR') throw error;
    const name = 'standard input';
    if (isFullDisk(code)) return err({ kind: 'no-space', path: tmpdir() });
    if (code === 'EISDIR') return err({ kind: 'not-a-file', path: name, is: 'a folder' });
    return err({ kind: 'io', path: name, code });
  }
}

/** How long to wait for standard input that the user did not name. */
const IMPLIED_WAIT_MS = 30_000;

/**
 * Why standard input cannot be read although no transcript is named: a script's standard input may stay silent and never end. Null:
 * there is input.
 */
export async function describeMissingInput(
  { stdin, signal }: Pick<Terminal, 'stdin' | 'signal'>,
  timeout = AbortSignal.timeout(IMPLIED_WAIT_MS),
): Promise<string | null> {
  const source = stdin.open();
  const waiting = AbortSignal.any([signal, timeout]);
  try {
    await once(source, 'readable', { signal: waiting });
  } catch (error) {
    if (signal.aborted) throw error;
    source.destroy();
    if (!timeout.aborted)
      return `no transcript is named, and standard input cannot be read (${systemCode(error) ?? 'no reason'})`;
    return `no transcript is named, and nothing arrived on standard input within ${IMPLIED_WAIT_MS / 1000} seconds: name one, or - to wait for it`;
  }
  if (source.readableLength > 0) return null;
  return 'no transcript is named, and standard input is empty';
}
