export const COMMAND_NAMES = [
  'run',
  'score',
  'scan',
  'restore',
  'verify',
  'search',
  'show',
  'archive',
  'mcp',
  'config',
  'schema',
  'help',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** Flags whose value is the next argument, so that the value is not taken for a command. */
export const VALUE_FLAGS: ReadonlySet<string> = new Set([
  '-o',
  '--output',
  '--if-over',
  '--target',
  '--keep-recent',
  '--keep-recent-tokens',
  '--chunk-size',
  '--max-summary-tokens',
  '--summary-tokens',
  '--rule',
  '--drop-rule',
  '--provider',
  '--model',
  '--base-url',
  '--min-retention',
  '-j',
  '--jobs',
  '--format',
  '--max-unpacked',
  '--files-from',
  '--conversation',
  '--config',
  '--archive',
  '--color',
  '--larger-than',
  '--older-than',
  '--limit',
  '--role',
  '--since',
  '--until',
  '--source',
  '--sort',
]);

export type CommandLine = {
  readonly command: CommandName | null;
  readonly rest: readonly string[];
  /** A command could stand where the first operand stands: that is no file's name before it is looked for. */
  readonly isOpen: boolean;
};

/**
 * The command is the first argument that is neither a flag nor a flag's value, if it is a command's name: flags may stand
 * before it. After `--` everything is a file.
 */
export function splitCommandLine(argv: readonly string[]): CommandLine {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (VALUE_FLAGS.has(word)) index += 1;
    else if (word === '-' || !word.startsWith('-')) {
      const command = COMMAND_NAMES.find((name) => name === word);
      if (command === undefined) return { command: null, rest: argv, isOpen: true };
      return { command, rest: argv.toSpliced(index, 1), isOpen: false };
    }
  }
  return { command: null, rest: argv, isOpen: false };
}
