import { SCHEMA_NAMES, type SchemaInvocation, type SchemaName } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';

export const schemaCommand: CommandDefinition<SchemaInvocation> = {
  operands: { syntax: '<command>', description: 'whose --json is described', choices: [...SCHEMA_NAMES, 'run'] },
  flags: [],
  read: ({ args }) => ({ kind: 'schema', of: readName(args[0] ?? '') }),
};

/** `run` is the default command's other name. */
function readName(name: string): SchemaName {
  return SCHEMA_NAMES.find((known) => known === name) ?? 'compact';
}
