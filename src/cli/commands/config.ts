import { parseCount, parseCountOrZero } from '../../config/quantity.ts';
import { CONFIG_ACTIONS, type ConfigInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { MANNER_FLAGS, MODEL_FLAGS, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

const AS_GIVEN = 'as if it were given to compact';
const LIKEWISE = 'likewise';

export const configCommand: CommandDefinition<ConfigInvocation> = {
  operands: [
    {
      syntax: '<action>',
      description:
        "show: each setting and where it comes from; path: the file that is read; trust: let a project's file set everything, until it changes",
      choices: CONFIG_ACTIONS,
    },
    { syntax: '[file]', description: 'of trust: a compact.toml, or its folder (default: the one that is found)' },
  ],
  flags: [
    { flags: '--list', description: 'of trust: the files that you have trusted', conflicts: 'revoke' },
    { flags: '--revoke', description: 'of trust: take it back' },
    ...MODEL_FLAGS.map((flag, at) => ({ ...flag, description: at === 0 ? AS_GIVEN : LIKEWISE })),
    { flags: '--keep-recent <n>', description: LIKEWISE, parse: parseCountOrZero },
    { flags: '--keep-recent-tokens <n>', description: LIKEWISE, parse: parseCountOrZero },
    { flags: '--chunk-size <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--max-summary-tokens <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--summary-tokens <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--rule <text>', description: LIKEWISE, isRepeatable: true },
    { flags: '--drop-rule <text>', description: LIKEWISE, isRepeatable: true },
    { flags: '--no-rules', description: LIKEWISE },
    { flags: '--keep-invalid', description: LIKEWISE },
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'config',
    action: CONFIG_ACTIONS.find((action) => action === args[0]) ?? 'show',
    file: args[1] ?? null,
    change: options.list === true ? 'list' : options.revoke === true ? 'revoke' : null,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
