import type { ShowInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { MANNER_FLAGS, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

export const showCommand: CommandDefinition<ShowInvocation> = {
  operands: {
    syntax: '<name>',
    description:
      "a label or its beginning, what a search names, the id of a message, or the key in a clip-archive's last line",
  },
  flags: [
    { flags: '--messages', description: 'the original lines behind it, byte for byte' },
    ...SETTINGS_FLAGS,
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
