import type { ShowInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, MANNER_FLAGS, readManner, readSettings } from './options.ts';

export const showCommand: CommandDefinition<ShowInvocation> = {
  operands: {
    syntax: '<name>',
    description:
      "a label or its beginning, what a search names, the id of a message, or the key in a clip-archive's last line",
  },
  flags: [
    { flags: '--messages', description: 'the original lines behind it, byte for byte' },
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'show',
    name: args[0] ?? '',
    originals: options.messages === true,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
