import { likelyName } from '../config/nearest.ts';
import { COMMAND_NAMES } from './command-word.ts';
import type { InputProblem } from './inputs.ts';
import { ARCHIVE_ACTIONS } from './invocation.ts';

/**
 * Why nothing is begun: the first word of the line is neither a command nor a file. With the command that was meant, the other operands
 * would mean something else. Null: it is a file.
 */
export function describeFirstWord(word: string | null, problems: readonly InputProblem[]): string | null {
  const problem = problems.find((one) => word !== null && operandOf(one) === word);
  if (word === null || problem === undefined) return null;
  if (problem.kind === 'no-match') return `${word}: no file matches, so nothing was done`;
  if (/[/\\.]/.test(word)) return `${word}: no such file or folder, so nothing was done`;
  const meant = likelyName(word, [...COMMANDS.keys()]);
  const help =
    meant === null ? `The commands are ${COMMAND_NAMES.join(', ')}` : `Did you mean '${COMMANDS.get(meant) ?? meant}'?`;
  return `'${word}' is neither a command nor a file, so nothing was done. ${help}`;
}

function operandOf(problem: InputProblem): string | null {
  if (problem.kind === 'missing') return problem.operand;
  return problem.kind === 'no-match' ? problem.pattern : null;
}

/** What may have been meant by a word. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ...COMMAND_NAMES.map((name): [string, string] => [name, `compact ${name}`]),
  ...ARCHIVE_ACTIONS.map((name): [string, string] => [name, `compact archive ${name}`]),
]);
