import { likelyName } from '../config/nearest.ts';
import { COMMAND_NAMES } from './command-word.ts';
import { findNothing } from './inputs.ts';
import { ARCHIVE_ACTIONS, CONFIG_ACTIONS } from './invocation.ts';

/**
 * Why nothing is begun: the first word of the line is neither a command nor a file, or a later one is no file and looks like a command
 * (`compact -i x.jsonl status`). With the command that was meant, the other operands would mean something else. Any other later word that
 * is no file is a missing file, which fails alone. Null: no word is mistaken.
 */
export async function describeMistakenWord(words: readonly string[]): Promise<string | null> {
  for (const [index, word] of words.entries()) {
    if (word === '-' || (index > 0 && !COMMAND_LIKE.test(word))) continue;
    const nothing = await findNothing(word);
    if (nothing !== null) return describe(word, nothing);
  }
  return null;
}

/** As command names are written; transcripts have an ending, a folder or a number in their names. */
const COMMAND_LIKE = /^[a-z]+(?:-[a-z]+)*$/i;

function describe(word: string, nothing: 'missing' | 'no-match'): string {
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
