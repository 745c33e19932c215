import type { ConfigInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  ARCHIVE_FLAG,
  CONFIG_FLAG,
  MANNER_FLAGS,
  parseCount,
  parseCountOrZero,
  parseProvider,
  readManner,
  readSettings,
} from './options.ts';

export const configCommand: CommandDefinition<ConfigInvocation> = {
  operands: {
    syntax: '<action>',
    description: 'show: each setting and where it comes from; path: the file that is read',
    choices: ['show', 'path'],
  },
  flags: [
    { flags: '--provider <name>', description: 'as if it were given to compact', parse: parseProvider },
    { flags: '--keep-recent <n>', description: 'likewise', parse: parseCountOrZero },
    { flags: '--chunk-size <n>', description: 'likewise', parse: parseCount },
    { flags: '--max-summary-tokens <n>', description: 'likewise', parse: parseCount },
    { flags: '--keep-invalid', description: 'likewise' },
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'config',
    action: args[0] === 'path' ? 'path' : 'show',
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
