import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import schemas from '../report-schemas.json' with { type: 'json' };
import type { Reports } from '../reports.ts';
import type { CliContext } from '../session.ts';
import { defineCommand } from './command.ts';

const SCHEMAS: { readonly [name in keyof Reports]: object } = schemas;

export type SchemaInvocation = { readonly kind: 'schema'; readonly of: keyof Reports };

export const schemaCommand = defineCommand({
  operands: {
    syntax: '<command>',
    description: 'the command whose --json report is described',
    choices: [...Object.keys(SCHEMAS), 'run'],
  },
  flags: [],
  examples: [
    ['compact schema search', 'describes what search --json prints'],
    ['compact schema compact > report.schema.json', 'for a validator'],
  ],
  read: ({ args: [name = ''] }): SchemaInvocation => ({ kind: 'schema', of: isReportName(name) ? name : 'compact' }),
  run,
});

/** `run` is left out: it is the other name of the default command. */
function isReportName(name: string): name is keyof Reports {
  return Object.hasOwn(SCHEMAS, name);
}

/** Prints the JSON Schema (2020-12) of a command's report. */
async function run({ terminal }: CliContext, { of }: SchemaInvocation): Promise<ExitCode> {
  terminal.stdout.write(`${JSON.stringify(SCHEMAS[of], null, 2)}\n`);
  return EXIT_CODES.done;
}
