import { likelyName } from '../../config/nearest.ts';
import { COMMAND_NAMES, listGroups, loadAll } from '../commands/table.ts';
import { findNothing } from '../inputs/inputs.ts';
import { ID_DIGITS, isSessionId } from '../../core/paths.ts';

/**
 * Why the run does not start: the first word is neither a command nor a file, or a later word is not a file and looks like a command
 * (`compact -i x.jsonl status`). With that command, the other operands would mean something else. Any other later word that
 * is not a file is a missing file, which fails alone. Null: no word is mistaken.
 */
export async function describeMistakenWord(words: readonly string[]): Promise<string | null> {
  for (const [index, word] of words.entries()) {
    if (word === '-' || (index > 0 && !COMMAND_LIKE.test(word))) continue;
    const nothing = await findNothing(word);
    if (nothing === 'no-match') return `${word}: no file matches, so nothing was done`;
    // The id of a session stands for its file.
    if (nothing === 'missing' && !isSessionId(word)) return describeMissing(word);
  }
  return null;
}

/** Matches words that are written like a command; transcripts have an extension, a folder or a number in their names. */
const COMMAND_LIKE = /^[a-z]+(?:-[a-z]+)*$/i;

/** Matches the beginning of a session's id that is too short to find it. */
const SHORT_ID = /^(?=.*\d)[0-9a-f]{4,7}$/i;

async function describeMissing(word: string): Promise<string> {
  if (/[/\\.]/.test(word)) return `${word}: no such file or folder, so nothing was done`;
  const commands = await listCommandLines();
  const meant = commands.has(word) ? word : likelyName(word, [...commands.keys()]);
  const names = listGroups().flatMap(({ rows }) => rows.map(([name]) => name));
  const unknown = SHORT_ID.test(word)
    ? `The id of a session needs at least ${ID_DIGITS} digits`
    : `The commands are ${names.join(', ')}`;
  const help = meant === null ? unknown : `Did you mean '${commands.get(meant) ?? meant}'?`;
  return `'${word}' is neither a command nor a file, so nothing was done. ${help}`;
}

/** What people type for what we call otherwise. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  'compact scan': 'ls list sessions history biggest largest',
  'compact resume': 'continue open load',
  'compact handoff': 'share migrate transfer',
  'compact search': 'find grep',
  'compact undo': 'revert rollback',
  'compact --keep MESSAGE-ID FILE': 'pin keep',
  'compact capture --remove --older-than 90d': 'free clean cleanup gc',
  'compact archive erase --match TEXT': 'delete remove rm forget purge',
};

/** What the user may have meant by each word. A command wins over the other words, and these over an action. */
async function listCommandLines(): Promise<ReadonlyMap<string, string>> {
  const commands = await loadAll();
  return new Map([
    ...commands.flatMap(([command, { actions = [] }]) =>
      actions.map(({ name }): [string, string] => [name, `compact ${command} ${name}`]),
    ),
    ...Object.entries(OTHER_WORDS).flatMap(([line, words]) =>
      words.split(' ').map((word): [string, string] => [word, line]),
    ),
    ...COMMAND_NAMES.map((name): [string, string] => [name, `compact ${name}`]),
    ['compact', 'compact run'],
  ]);
}
