import { Argument } from 'commander';
import { SCHEMA_NAMES } from '../invocation.ts';
import type { SchemaInvocation, SchemaName } from '../invocation.ts';
import type { CommandDefinition } from './options.ts';

export const schemaCommand: CommandDefinition<SchemaInvocation> = {
  define: (command) =>
    command.addArgument(new Argument('<command>', 'whose --json is described').choices([...SCHEMA_NAMES, 'run'])),
  read: (command) => ({ kind: 'schema', of: readName(command.args[0] ?? '') }),
};

/** `run` is the default command's other name. */
function readName(name: string): SchemaName {
  return SCHEMA_NAMES.find((known) => known === name) ?? 'compact';
}
