import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import type { CompactReport, RestoreReport, ScoreReport, VerifyReport } from '../../src/app/reports.ts';
import { run } from '../../src/cli/run.ts';
import { compactReportSchema } from '../../src/cli/schemas/compact.ts';
import type { restoreReportSchema } from '../../src/cli/schemas/restore.ts';
import { scoreReportSchema } from '../../src/cli/schemas/score.ts';
import { verifyReportSchema } from '../../src/cli/schemas/verify.ts';
import { compactReport, createFakeTerminal, createFakeUseCases, scoreReport, verifyReport } from './fakes.ts';

// That a report has every key of its schema is checked where the schema stands; that the schema has every key of the report, here.
type KnowsAll<Schema extends z.ZodType, Report> = [keyof Report] extends [keyof z.output<Schema>] ? true : false;
const known: readonly [
  KnowsAll<typeof compactReportSchema, CompactReport>,
  KnowsAll<typeof scoreReportSchema, ScoreReport>,
  KnowsAll<typeof restoreReportSchema, RestoreReport>,
  KnowsAll<typeof verifyReportSchema, VerifyReport>,
] = [true, true, true, true];

test('each schema takes the report that it describes', () => {
  assert.deepEqual(compactReportSchema.parse(compactReport()), compactReport());
  assert.deepEqual(scoreReportSchema.parse(scoreReport()), scoreReport());
  assert.deepEqual(verifyReportSchema.parse(verifyReport()), verifyReport());
  assert.equal(known.length, 4);
});

test('a key that no schema knows is refused, so that a new one cannot be forgotten', () => {
  assert.equal(scoreReportSchema.safeParse({ ...scoreReport(), extra: 1 }).success, false);
});

for (const command of ['compact', 'run', 'score', 'restore', 'verify']) {
  test(`the schema of ${command} is printed as JSON Schema with the name that its reports bear`, async () => {
    const terminal = createFakeTerminal(['schema', command]);
    assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
    const schema = JSON.parse(terminal.out());
    const name = command === 'compact' || command === 'run' ? 'compact/report@1' : `compact/${command}@1`;
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
    assert.equal(schema.properties.schema.const, name);
    assert.ok(schema.required.includes('file'));
  });
}
