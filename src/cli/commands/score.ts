import { parseCount } from '../../config/quantity.ts';
import { SCORE_ORDERS, type ScoreInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  FORMAT_FLAG,
  MANNER_FLAGS,
  MAX_UNPACKED_FLAG,
  readManner,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

export const scoreCommand: CommandDefinition<ScoreInvocation> = {
  operands: { syntax: '<transcript...>', description: 'files, folders, globs, or - for standard input' },
  flags: [
    { flags: '--explain', description: "show each factor's share" },
    { flags: '--limit <n>', description: 'no more rows than this', parse: parseCount },
    {
      flags: '--sort <order>',
      description: 'rows by score (a table is) or by position (JSON is)',
      choices: [...SCORE_ORDERS],
    },
    ...SELECTION_FLAGS,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  takesPipe: true,
  read: ({ options, args, isStdinImplied }) => ({
    kind: 'score',
    isStdinImplied,
    operands: args,
    format: options.format ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    explain: options.explain === true,
    limit: options.limit ?? null,
    sort: SCORE_ORDERS.find((order) => order === options.sort) ?? (options.json === true ? 'position' : 'score'),
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
