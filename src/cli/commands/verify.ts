import type { VerifyInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MANNER_FLAGS,
  MAX_UNPACKED_FLAG,
  readManner,
  readSettings,
  SETTINGS_FLAGS,
} from './options.ts';

export const verifyCommand: CommandDefinition<VerifyInvocation> = {
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: [FILES_FROM_FLAG, FORMAT_FLAG, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS, ...MANNER_FLAGS],
  takesPipe: true,
  read: ({ options, args, isStdinImplied }) => ({
    kind: 'verify',
    isStdinImplied,
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
