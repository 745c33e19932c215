import { defineBareCommand, EXIT_CODES } from '../line/command.ts';
import schemas from '../report-schemas.json' with { type: 'json' };
import type { Reports } from '../reports.ts';

const SCHEMAS: { readonly [name in keyof Reports]: object } = schemas;

/** Prints the JSON Schema (2020-12) of a command's report. */
export const command = defineBareCommand({
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
  run: async ({ terminal }, { operands: [name = ''] }) => {
    // `run` is the other name of the default command.
    const schema = SCHEMAS[isReportName(name) ? name : 'compact'];
    terminal.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    return EXIT_CODES.done;
  },
});

function isReportName(name: string): name is keyof Reports {
  return Object.hasOwn(SCHEMAS, name);
}
