import { Argument } from 'commander';
import type { ConfigInvocation } from '../invocation.ts';
import {
  addArchive,
  addConfig,
  addManner,
  parseCount,
  parseCountOrZero,
  parseProvider,
  readManner,
  readSettings,
} from './options.ts';
import type { CommandDefinition, MannerOptions, SettingOptions } from './options.ts';

type Options = MannerOptions & SettingOptions;

export const configCommand: CommandDefinition<ConfigInvocation> = {
  define: (command) => {
    command
      .addArgument(
        new Argument('<action>', 'show: each setting and where it comes from; path: the file that is read').choices([
          'show',
          'path',
        ]),
      )
      .option('--provider <name>', 'as if it were given to compact', parseProvider)
      .option('--keep-recent <n>', 'likewise', parseCountOrZero)
      .option('--chunk-size <n>', 'likewise', parseCount)
      .option('--max-summary-tokens <n>', 'likewise', parseCount)
      .option('--keep-invalid', 'likewise');
    return addManner(addArchive(addConfig(command)));
  },
  read: (command) => {
    const options = command.opts<Options>();
    return {
      kind: 'config',
      action: command.args[0] === 'path' ? 'path' : 'show',
      manner: readManner(options),
      settings: readSettings(options),
    };
  },
};
