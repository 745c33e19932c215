import { Option } from 'commander';
import type { RestoreInvocation } from '../invocation.ts';
import { addArchive, addConfig, addFormat, addManner, readManner, readSettings } from './options.ts';
import type { CommandDefinition, MannerOptions, SettingOptions } from './options.ts';

type Options = MannerOptions &
  SettingOptions & {
    readonly output?: string;
    readonly inPlace?: boolean;
    readonly all?: boolean;
    readonly format?: string;
  };

export const restoreCommand: CommandDefinition<RestoreInvocation> = {
  define: (command) => {
    command
      .argument('<compacted>', 'a compacted file, or - for standard input')
      .addOption(new Option('-o, --output <path>', 'write here instead of to stdout').conflicts('inPlace'))
      .option('-i, --in-place', 'replace the compacted file, atomically')
      .option('--all', 'back to before the first compaction, not the last');
    return addManner(addArchive(addConfig(addFormat(command))));
  },
  read: (command) => {
    const options = command.opts<Options>();
    return {
      kind: 'restore',
      operand: command.args[0] ?? '',
      format: options.format ?? null,
      output: readOutput(options),
      all: options.all === true,
      manner: readManner(options),
      settings: readSettings(options),
    };
  },
};

function readOutput(options: Options): RestoreInvocation['output'] {
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === undefined || options.output === '-') return { kind: 'stdout' };
  return { kind: 'path', path: options.output };
}
