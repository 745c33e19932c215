import { ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { splitCommandLine } from './command-word.ts';
import { loadDefinition } from './commands/load.ts';
import { findConflict } from './conflicts.ts';
import type { Invocation, UsageProblem } from './invocation.ts';
import { readPlainLine } from './plain-line.ts';
import type { ProgramFacts } from './program.ts';

/** The command line as data. commander is loaded only for what is not plain: help, mistakes, `--flag=value`, `-ab`, `--`. */
export async function readCommandLine(
  argv: readonly string[],
  { widthColumns }: Pick<ProgramFacts, 'widthColumns'>,
): Promise<Result<Invocation, UsageProblem>> {
  const plain = await readPlainly(argv);
  if (plain !== null) return plain;
  const { readPackageVersion } = await import('./package-version.ts');
  const { parseArguments } = await import('./program.ts');
  return parseArguments(argv, { version: readPackageVersion(), widthColumns });
}

async function readPlainly(argv: readonly string[]): Promise<Result<Invocation, never> | null> {
  const { command, rest } = splitCommandLine(argv);
  if (command === 'help' || rest.length === 0) return null;
  const definition = await loadDefinition(command);
  const line = readPlainLine(rest, definition);
  if (line === null || line.options.formats === true) return null;
  const invocation = definition.read(line);
  return findConflict(invocation) === null ? ok(invocation) : null;
}
