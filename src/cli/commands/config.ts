import type { ConfigInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  ARCHIVE_FLAG,
  CONFIG_FLAG,
  MANNER_FLAGS,
  MODEL_FLAGS,
  parseCount,
  parseCountOrZero,
  readManner,
  readSettings,
} from './options.ts';

const AS_GIVEN = 'as if it were given to compact';
const LIKEWISE = 'likewise';

export const configCommand: CommandDefinition<ConfigInvocation> = {
  operands: {
    syntax: '<action>',
    description: 'show: each setting and where it comes from; path: the file that is read',
    choices: ['show', 'path'],
  },
  flags: [
    ...MODEL_FLAGS.map((flag, at) => ({ ...flag, description: at === 0 ? AS_GIVEN : LIKEWISE })),
    { flags: '--keep-recent <n>', description: LIKEWISE, parse: parseCountOrZero },
    { flags: '--chunk-size <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--max-summary-tokens <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--keep-invalid', description: LIKEWISE },
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
