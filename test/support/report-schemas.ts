import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import schemas from '../../src/cli/report-schemas.json' with { type: 'json' };
import type { Reports } from '../../src/cli/reports.ts';

// The generator describes values that may be null by a union of types.
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));

/** What is wrong with a report by the schema that `compact schema` prints; nothing: it is right. */
export function problemsWith(name: keyof Reports, report: unknown): readonly string[] {
  const validate = ajv.getSchema(name) ?? ajv.addSchema(schemas[name], name).getSchema(name);
  assert.ok(validate !== undefined);
  if (validate(report)) return [];
  return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath}: ${message}`);
}

/** A report that its schema accepts. */
export function asReport<Name extends keyof Reports>(name: Name, report: unknown): Reports[Name] {
  assert.deepEqual(problemsWith(name, report), []);
  return report as Reports[Name];
}
