import type { RestoreInvocation } from '../invocation.ts';
import type { CommandDefinition, Options } from './definition.ts';
import { FORMAT_FLAG, MANNER_FLAGS, MAX_UNPACKED_FLAG, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

export const restoreCommand: CommandDefinition<RestoreInvocation> = {
  operands: { syntax: '<compacted>', description: 'a compacted file, or - for standard input' },
  flags: [
    { flags: '-o, --output <path>', description: 'write here instead of to stdout', conflicts: 'inPlace' },
    { flags: '-i, --in-place', description: 'replace the compacted file, atomically' },
    { flags: '--all', description: 'back to before the first compaction, not the last' },
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  takesPipe: true,
  read: ({ options, args, isStdinImplied }) => ({
    kind: 'restore',
    isStdinImplied,
    operand: args[0] ?? '',
    format: options.format ?? null,
    output: readOutput(options),
    all: options.all === true,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};

function readOutput(options: Options): RestoreInvocation['output'] {
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === undefined || options.output === '-') return { kind: 'stdout' };
  return { kind: 'path', path: options.output };
}
