import { SELECTION_FLAGS, SETTINGS_FLAGS } from './commands/options.ts';
import { shellWord } from './render/shell-word.ts';

/** A command line that was typed, to be typed again; a leading dash is a flag's. */
export function typedAgain(argv: readonly string[]): string {
  return argv.map((word) => (word.startsWith('-') ? shellWord(word).replace('./-', '-') : shellWord(word))).join(' ');
}

/** Its flags that decide what a compaction does, so that another command does what this one told. */
export function policyFlags(argv: readonly string[]): readonly string[] {
  return argv.flatMap((word, index) => {
    const [name = ''] = word.split('=');
    const flag = [...SELECTION_FLAGS, ...SETTINGS_FLAGS].find(({ flags }) => flags.split(' ')[0] === name);
    if (flag === undefined) return [];
    const hasOwnWord = flag.flags.includes('<') && name === word;
    return hasOwnWord ? argv.slice(index, index + 2) : [word];
  });
}
