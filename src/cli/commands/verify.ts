import type { VerifyInvocation } from '../invocation.ts';
import { addArchive, addConfig, addFormat, addManner, readManner, readSettings } from './options.ts';
import type { CommandDefinition, MannerOptions, SettingOptions } from './options.ts';

type Options = MannerOptions & SettingOptions & { readonly format?: string };

export const verifyCommand: CommandDefinition<VerifyInvocation> = {
  define: (command) => {
    command.argument('<compacted...>', 'compacted files, folders, globs, or - for standard input');
    return addManner(addArchive(addConfig(addFormat(command))));
  },
  read: (command) => {
    const options = command.opts<Options>();
    return {
      kind: 'verify',
      operands: command.args,
      format: options.format ?? null,
      manner: readManner(options),
      settings: readSettings(options),
    };
  },
};
