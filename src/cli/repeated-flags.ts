import { MAX_UNPACKED_FLAG, SELECTION_FLAGS, SETTINGS_FLAGS } from './commands/options.ts';
import { shellWord } from './render/shell-word.ts';

/** A command line that was typed, to be typed again; a leading dash is a flag's. */
export function typedAgain(argv: readonly string[]): string {
  return argv.map((word) => (word.startsWith('-') ? shellWord(word).replace('./-', '-') : shellWord(word))).join(' ');
}

const POLICY_FLAGS = [...SELECTION_FLAGS, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS];

/** The flags of a command line that decide what a compaction does, so that the next command does what this one announced. */
export function policyFlags(argv: readonly string[]): readonly string[] {
  return argv.flatMap((word, index) => {
    const [name = ''] = word.split('=');
    const flag = POLICY_FLAGS.find(({ flags }) => flags.split(' ')[0] === name);
    if (flag === undefined) return [];
    const hasOwnWord = flag.flags.includes('<') && name === word;
    return hasOwnWord ? argv.slice(index, index + 2) : [word];
  });
}
