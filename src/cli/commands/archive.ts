import { ARCHIVE_ACTIONS } from '../invocation.ts';
import type { ArchiveInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, MANNER_FLAGS, readManner, readSettings, TRUST_FLAG } from './options.ts';

export const archiveCommand: CommandDefinition<ArchiveInvocation> = {
  operands: {
    syntax: '<action>',
    description:
      'list: the compactions in it; stats: counts and sizes; check: whether all of it is whole; embed: make the vectors that are missing',
    choices: ARCHIVE_ACTIONS,
  },
  flags: [TRUST_FLAG, CONFIG_FLAG, ARCHIVE_FLAG, ...MANNER_FLAGS],
  read: ({ options, args }) => ({
    kind: 'archive',
    action: ARCHIVE_ACTIONS.find((action) => action === args[0]) ?? 'list',
    trustsConfig: options.trustConfig === true,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
