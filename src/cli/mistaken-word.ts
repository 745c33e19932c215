import { likelyName } from '../config/nearest.ts';
import { COMMAND_NAMES } from './command-word.ts';
import { findNothing } from './inputs.ts';
import { ARCHIVE_ACTIONS, CONFIG_ACTIONS } from './invocation.ts';

/**
 * Why nothing is begun: the first word of the line is neither a command nor a file. With the command that was meant, the other operands
 * would mean something else. Null: it is a file.
 */
export async function describeFirstWord(word: string): Promise<string | null> {
  const nothing = word === '-' ? null : await findNothing(word);
  if (nothing === null) return null;
  if (nothing === 'no-match') return `${word}: no file matches, so nothing was done`;
  if (/[/\\.]/.test(word)) return `${word}: no such file or folder, so nothing was done`;
  const meant = likelyName(word, [...COMMANDS.keys()]);
  const help =
    meant === null ? `The commands are ${COMMAND_NAMES.join(', ')}` : `Did you mean '${COMMANDS.get(meant) ?? meant}'?`;
  return `'${word}' is neither a command nor a file, so nothing was done. ${help}`;
}

/** What may have been meant by a word. A command wins over an action of the same name. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ...CONFIG_ACTIONS.map((name): [string, string] => [name, `compact config ${name}`]),
  ...COMMAND_NAMES.map((name): [string, string] => [name, `compact ${name}`]),
  ...ARCHIVE_ACTIONS.map((name): [string, string] => [name, `compact archive ${name}`]),
]);
