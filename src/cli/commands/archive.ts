import { ARCHIVE_ACTIONS } from '../invocation.ts';
import type { ArchiveInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, MANNER_FLAGS, readManner, readSettings } from './options.ts';

export const archiveCommand: CommandDefinition<ArchiveInvocation> = {
  operands: {
    syntax: '<action>',
    description: 'list: the compactions in it; stats: counts and sizes; check: whether all of it is whole',
    choices: ARCHIVE_ACTIONS,
  },
  flags: [CONFIG_FLAG, ARCHIVE_FLAG, ...MANNER_FLAGS],
  read: ({ options, args }) => ({
    kind: 'archive',
    action: ARCHIVE_ACTIONS.find((action) => action === args[0]) ?? 'list',
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
