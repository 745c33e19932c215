import type { CommandDefinition, Flag, Options, Operands, ParsedLine } from './commands/definition.ts';

/**
 * Reads a command line on which everything is written out: known flags, each value a word of its own, operands. Null: commander
 * has to read it, or to say what is wrong with it. What both read gives the same.
 */
export function readPlainLine(
  words: readonly string[],
  { flags, operands }: Pick<CommandDefinition<unknown>, 'flags' | 'operands'>,
): ParsedLine | null {
  const known = flags.map(describeFlag);
  const options = new Map<string, string | number | boolean>(known.flatMap(presetOf));
  const given = new Set<string>();
  const args: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!looksLikeFlag(word)) {
      args.push(word);
      continue;
    }
    const flag = known.find(({ names }) => names.includes(word));
    if (flag === undefined) return null;
    given.add(flag.option);
    if (!flag.takesValue) {
      options.set(flag.option, !flag.turnsOff);
      continue;
    }
    index += 1;
    const value = readValue(words[index], flag.flag);
    if (value === null) return null;
    options.set(flag.option, value);
  }
  const clash = known.some(
    ({ option, flag }) => flag.conflicts !== undefined && given.has(option) && given.has(flag.conflicts),
  );
  if (clash || !fits(args, operands)) return null;
  // The names and types of `Options` are those of the flags; the tests hold them to it.
  return { options: Object.fromEntries(options) as Options, args };
}

type KnownFlag = {
  readonly flag: Flag;
  readonly names: readonly string[];
  /** Its name in `Options`. */
  readonly option: string;
  readonly takesValue: boolean;
  readonly turnsOff: boolean;
};

function describeFlag(flag: Flag): KnownFlag {
  const names = flag.flags.split(/,? /).filter((part) => part.startsWith('-'));
  const long = names.at(-1) ?? '';
  const turnsOff = long.startsWith('--no-');
  const option = long
    .slice(turnsOff ? '--no-'.length : '--'.length)
    .replaceAll(/-[a-z]/g, (match) => match.slice(1).toUpperCase());
  return { flag, names, option, takesValue: flag.flags.endsWith('>'), turnsOff };
}

function presetOf({ flag, option, turnsOff }: KnownFlag): readonly (readonly [string, string | boolean])[] {
  if (turnsOff) return [[option, true]];
  return flag.default === undefined ? [] : [[option, flag.default]];
}

/** A lone `-` is standard input. */
function looksLikeFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

function readValue(word: string | undefined, flag: Flag): string | number | null {
  if (word === undefined || looksLikeFlag(word)) return null;
  if (flag.choices !== undefined && !flag.choices.includes(word)) return null;
  if (flag.parse === undefined) return word;
  const parsed = flag.parse(word);
  return parsed.ok ? parsed.value : null;
}

function fits(args: readonly string[], { syntax, choices }: Operands): boolean {
  if (syntax.startsWith('<') && args.length === 0) return false;
  if (!syntax.includes('...') && args.length > 1) return false;
  return choices === undefined || args.every((arg) => choices.includes(arg));
}
