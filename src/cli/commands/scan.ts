import { parseBytes, parseSince } from '../../config/quantity.ts';
import { SCAN_ORDERS, type ScanInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  MANNER_FLAGS,
  MAX_UNPACKED_FLAG,
  readManner,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

export const scanCommand: CommandDefinition<ScanInvocation> = {
  operands: {
    syntax: '[folder...]',
    description: 'where to look; without any, where the known programs keep their transcripts',
  },
  flags: [
    { flags: '--larger-than <size>', description: 'files over 5MB, 500kB, 1GiB', parse: parseBytes },
    {
      flags: '--older-than <age>',
      description: 'last message more than 12h, 30d, 2w, 6mo ago, or before 2026-03-01',
      parse: parseSince,
    },
    { flags: '--format <name>', description: 'of this format alone (see --formats)' },
    {
      flags: '--sort <order>',
      description: 'what comes first: most saved, largest, oldest, most tokens',
      choices: [...SCAN_ORDERS],
      default: 'saving',
    },
    { flags: '-0, --null', description: 'paths alone, each ended by a NUL, for xargs -0', conflicts: 'json' },
    ...SELECTION_FLAGS,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'scan',
    operands: args,
    format: options.format ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    largerThanBytes: options.largerThan ?? null,
    before: options.olderThan === undefined ? null : new Date(options.olderThan),
    sort: SCAN_ORDERS.find((order) => order === options.sort) ?? 'saving',
    output: options.null === true ? 'paths' : options.json === true ? 'json' : 'table',
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
