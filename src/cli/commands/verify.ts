import type { VerifyInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import {
  ARCHIVE_FLAG,
  CONFIG_FLAG,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MANNER_FLAGS,
  readManner,
  readSettings,
} from './options.ts';

export const verifyCommand: CommandDefinition<VerifyInvocation> = {
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: [FILES_FROM_FLAG, FORMAT_FLAG, CONFIG_FLAG, ARCHIVE_FLAG, ...MANNER_FLAGS],
  read: ({ options, args }) => ({
    kind: 'verify',
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};
