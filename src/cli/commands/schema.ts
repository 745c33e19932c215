import { defineBareCommand, EXIT_CODES } from '../line/command.ts';
import schemas from '../report-schemas.json' with { type: 'json' };
import type { Reports } from '../reports.ts';

const SCHEMAS = new Map<string, object>(Object.entries(schemas satisfies { readonly [name in keyof Reports]: object }));

/** Prints the JSON Schema (2020-12) of a command's report. */
export const command = defineBareCommand({
  operands: {
    syntax: '<command>',
    description: 'the command whose --json report is described',
    choices: [...SCHEMAS.keys(), 'run'],
  },
  flags: [],
  examples: [
    ['compact schema search', 'describes what search --json prints'],
    ['compact schema compact > report.schema.json', 'for a validator'],
  ],
  run: async ({ terminal }, { operands: [name = ''] }) => {
    // `run` is the other name of the default command.
    const schema = SCHEMAS.get(name === 'run' ? 'compact' : name);
    terminal.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    return EXIT_CODES.done;
  },
});
