import type { Flag } from '../commands/command.ts';
import { shellWord } from './text.ts';

/** A command line that can be typed again; `./` keeps a leading dash from being a flag. */
export function quoteForShell(argv: readonly string[]): string {
  return argv.map((word) => (word.startsWith('-') ? shellWord(word).replace('./-', '-') : shellWord(word))).join(' ');
}

/** The words of these flags with their values, and all other words. */
export function partFlags(
  argv: readonly string[],
  known: readonly Flag[],
): { readonly flags: readonly string[]; readonly rest: readonly string[] } {
  const flags: string[] = [];
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name = ''] = word.split('=');
    const flag = known.find((one) => one.flags.split(/,? /).includes(name));
    if (flag === undefined) rest.push(word);
    else flags.push(word);
    if (flag?.flags.includes('<') === true && name === word && index + 1 < argv.length) {
      index += 1;
      flags.push(argv[index] ?? '');
    }
  }
  return { flags, rest };
}
