import { ARCHIVE_ACTIONS, type ArchiveInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { MANNER_FLAGS, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

export const archiveCommand: CommandDefinition<ArchiveInvocation> = {
  operands: {
    syntax: '<action>',
    description:
      'list: the compactions in it; stats: counts and sizes; check: whether all of it is whole; embed: make the vectors that are missing',
    choices: ARCHIVE_ACTIONS,
  },
  flags: [...SETTINGS_FLAGS, ...MANNER_FLAGS],
  read: ({ options, args }) => ({
    kind: 'archive',
    action: ARCHIVE_ACTIONS.find((action) => action === args[0]) ?? 'list',
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
