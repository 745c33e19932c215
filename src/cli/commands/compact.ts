import { Option } from 'commander';
import type { CompactInvocation, OutputChoice } from '../invocation.ts';
import {
  addArchive,
  addConfig,
  addFormat,
  addManner,
  addSelection,
  parseCount,
  parseProvider,
  readManner,
  readSettings,
} from './options.ts';
import type { CommandDefinition, MannerOptions, SettingOptions } from './options.ts';

type Options = MannerOptions &
  SettingOptions & {
    readonly output?: string;
    readonly inPlace?: boolean;
    readonly dryRun?: boolean;
    readonly ifOver?: number;
    readonly ifOverBudget?: boolean;
    readonly target?: number;
    readonly format?: string;
    readonly conversation?: string;
    readonly formats?: boolean;
  };

/** The default command, which is `run` too. */
export const compactCommand: CommandDefinition<CompactInvocation> = {
  define: (command) => {
    command
      .argument('[transcript...]', 'files, folders, globs, or - for standard input')
      .addOption(new Option('-o, --output <path>', 'a file; a folder for several; - for stdout').conflicts('inPlace'))
      .option('-i, --in-place', 'replace the input, atomically')
      .option('-n, --dry-run', 'show the plan; nothing is written')
      .addOption(
        new Option('--if-over <tokens>', 'leave transcripts at or under this alone')
          .argParser(parseCount)
          .conflicts('ifOverBudget'),
      )
      .option('--if-over-budget', 'leave transcripts alone that fit the context budget')
      .option('--provider <name>', 'who summarizes: extractive (offline)', parseProvider);
    addFormat(addSelection(command)).option('--formats', 'list the formats and leave');
    return addManner(addArchive(addConfig(command)));
  },
  read: (command) => {
    const options = command.opts<Options>();
    return {
      kind: 'compact',
      operands: command.args,
      format: options.format ?? null,
      policy: {
        targetTokens: options.target ?? null,
        ifOver: options.ifOverBudget === true ? 'budget' : (options.ifOver ?? null),
        conversation: options.conversation ?? null,
      },
      output: readOutput(options, command.args),
      isDryRun: options.dryRun === true,
      manner: readManner(options),
      settings: readSettings(options),
    };
  },
};

/** What comes in on standard input goes out on standard output unless told otherwise. */
function readOutput(options: Options, operands: readonly string[]): OutputChoice {
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === '-') return { kind: 'stdout' };
  if (options.output !== undefined) return { kind: 'path', path: options.output };
  return operands.includes('-') ? { kind: 'stdout' } : { kind: 'default' };
}
