import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import type { FailedReport } from '../app/contract/reports.ts';
import { assertNever, err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import { failedReport, toFailedReport } from './failed-and-skipped.ts';
import { findInputs, type InputFile, type InputProblem, type InputRules } from './inputs.ts';
import { renderFailure, renderStdinFailure } from './render/failure.ts';
import { safeText } from './render/text.ts';
import type { Session } from './session.ts';
import { toFileFailure } from './system-failure.ts';
import type { Terminal } from './terminal.ts';

/** An input that can be opened: `name` is what messages call it. */
export type ReadyInput = InputFile & { readonly name: string };

type Gathered = {
  readonly inputs: readonly ReadyInput[];
  /** Any number of transcripts is meant, even where there is one. */
  readonly isSeveral: boolean;
  /** What could not be had of the operands; it has been told. */
  readonly failures: readonly FailedReport[];
};

/** `filesFrom` is what `--files-from` names: a list of further transcripts, `-` on standard input. */
type GatherRules = Omit<InputRules, 'names'> & {
  readonly filesFrom?: string | null;
  readonly isStdinImplied?: boolean;
};

/** The operands as files, standard input spooled. A number instead: the command is over, with that exit code. */
export async function gatherInputs(
  session: Session,
  operands: readonly string[],
  { skipsCompacted, filesFrom = null, isStdinImplied = false }: GatherRules,
): Promise<Gathered | ExitCode> {
  const { terminal, reporter } = session;
  const readsStdin = operands.includes('-');
  if ((readsStdin || filesFrom === '-') && terminal.stdin.kind === 'terminal') {
    const what = readsStdin ? 'a transcript' : 'names of transcripts';
    return session.refuse(`standard input is a terminal: pipe ${what} in, or name a file`);
  }
  const names = filesFrom === null ? [] : await listNames(session, filesFrom);
  if (typeof names === 'number') return names;
  const found = await findInputs(
    operands.filter((operand) => operand !== '-'),
    { skipsCompacted, names },
  );
  const failures = found.problems.map(toFailure);
  for (const { error } of failures) reporter.error(error.message);
  for (const operand of found.empty) {
    const ours = skipsCompacted ? ' (*.compact.* is left out)' : '';
    reporter.report([`${safeText(operand)}: no transcripts in it${ours}; nothing to do.`]);
  }
  const files = found.files.map((file): ReadyInput => ({ ...file, name: file.path }));
  const count = files.length + failures.length + (readsStdin ? 1 : 0);
  const isSeveral = count > 1 || found.hasFolder || filesFrom !== null;
  if (!readsStdin) return { inputs: files, isSeveral, failures };

  const { describeMissingInput, spoolStdin } = await import('./stdin.ts');
  const missing = isStdinImplied ? await describeMissingInput(terminal) : null;
  if (missing !== null) return session.refuse(missing);
  const spooled = await spoolStdin(terminal);
  if (!spooled.ok) {
    reporter.error(renderStdinFailure(spooled.error));
    return EXIT_CODES.failed;
  }
  session.atEnd(spooled.value.remove);
  const stdin: ReadyInput = { path: spooled.value.path, pathInFolder: 'stdin', isNamed: true, name: 'stdin' };
  return { inputs: [...files, stdin], isSeveral, failures };
}

/** A list that cannot be read is a wrong command line: nothing is begun. One without names is nothing to do. */
async function listNames(session: Session, filesFrom: string): Promise<readonly string[] | ExitCode> {
  const listed = await readNameList(filesFrom, session.terminal);
  if (!listed.ok) return session.refuse(`--files-from ${renderFailure({ kind: 'file', failure: listed.error })}`);
  if (listed.value.length === 0) {
    const list = filesFrom === '-' ? 'standard input' : safeText(filesFrom);
    session.reporter.report([`${list}: no names in it; nothing to do.`]);
  }
  return listed.value;
}

function toFailure(problem: InputProblem): FailedReport {
  switch (problem.kind) {
    case 'missing':
      return toFailedReport(problem.operand, { kind: 'file', failure: { kind: 'not-found', path: problem.operand } });
    case 'no-match': {
      const message = `${safeText(problem.pattern)}: no file matches. Check the pattern.`;
      return failedReport(problem.pattern, { kind: 'no-match', message });
    }
    case 'file':
      return toFailedReport(problem.failure.path, { kind: 'file', failure: problem.failure });
    default:
      return assertNever(problem);
  }
}

/** The names that a file lists; `-` is standard input, which rejects when it is interrupted. */
async function readNameList(
  path: string,
  { stdin, signal }: Pick<Terminal, 'stdin' | 'signal'>,
): Promise<Result<readonly string[], FileFailure>> {
  try {
    if (path !== '-') return ok(parseNames(await readFile(path, { signal })));
    const pieces: Buffer[] = [];
    for await (const piece of addAbortSignal(signal, stdin.open())) {
      pieces.push(Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece)));
    }
    return ok(parseNames(Buffer.concat(pieces)));
  } catch (error) {
    if (signal.aborted) throw error;
    return err(toFileFailure(error, { path: path === '-' ? 'standard input' : path, what: 'read' }));
  }
}

const NUL = 0x00;
const BOM = '\ufeff';

/** Names that a NUL ends where there is any, so that they may hold anything; else one a line, blank lines left out. */
export function parseNames(list: Buffer): readonly string[] {
  const text = list.toString();
  if (list.includes(NUL)) return text.split('\0').filter((name) => name !== '');
  const lines = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  return lines.split(/\r?\n/).filter((name) => name.trim() !== '');
}
