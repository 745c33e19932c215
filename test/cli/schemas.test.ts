import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedReport } from '../../src/messages/failure.ts';
import { run } from '../../src/cli/run.ts';
import { problemsWith } from '../support/report-schemas.ts';
import {
  checkReport,
  embedReport,
  listReport,
  searchReport,
  shownBatch,
  shownCompaction,
  shownMessage,
  statsReport,
} from './archive-reports.ts';
import { compactReport, scanReport, scoreReport, verifyReport } from './fake-reports.ts';
import { createFakeTerminal, createFakeUseCases } from './fakes.ts';

for (const [name, report] of [
  ['compact', compactReport()],
  ['score', scoreReport()],
  ['verify', verifyReport()],
  ['search', searchReport()],
  ['show', shownBatch()],
  ['show', shownMessage()],
  ['show', shownCompaction()],
  ['archive-list', listReport()],
  ['archive-stats', statsReport()],
  ['archive-check', checkReport()],
  ['archive-embed', embedReport()],
  ['scan', scanReport()],
] as const) {
  test(`the schema of ${name} takes the report that it describes, and none with an unknown or a missing key`, () => {
    assert.deepEqual(problemsWith(name, report), []);
    assert.notDeepEqual(problemsWith(name, { ...report, extra: 1 }), []);
    for (const key of ['schema', name === 'search' || name.startsWith('archive') ? 'archive' : 'file']) {
      assert.notDeepEqual(problemsWith(name, { ...report, [key]: undefined }), [], key);
    }
  });
}

test('counts are whole, times are UTC and hashes are SHA-256', () => {
  for (const bytes of [-1, 0.5, '12']) assert.notDeepEqual(problemsWith('scan', { ...scanReport(), bytes }), []);
  for (const at of ['yesterday', '2026-03-02', '2026-03-02T09:00:00+01:00']) {
    assert.notDeepEqual(problemsWith('scan', { ...scanReport(), at }), [], at);
  }
  for (const sha256 of ['', 'g'.repeat(64), 'A'.repeat(64)]) {
    assert.notDeepEqual(problemsWith('show', { ...shownBatch(), sha256 }), [], sha256);
  }
});

test('the schema of a compaction takes the line of one that failed, and no half of either', () => {
  const failed = failedReport('x.jsonl', { kind: 'denied', message: 'x.jsonl: no permission to read it.' });
  assert.deepEqual(problemsWith('compact', failed), []);
  assert.notDeepEqual(problemsWith('compact', { ...compactReport(), result: 'failed' }), []);
  assert.notDeepEqual(problemsWith('compact', { ...failed, result: 'skipped' }), []);
});

for (const command of ['compact', 'run', 'score', 'restore', 'verify']) {
  test(`the schema of ${command} is printed as JSON Schema with the name that its reports bear`, async () => {
    const terminal = createFakeTerminal(['schema', command]);
    assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
    const schema = JSON.parse(terminal.out());
    const report = command === 'compact' || command === 'run' ? 'report' : command;
    const names = [`compact/${report}@1`, ...(command === 'restore' ? ['compact/restore-captured@1'] : [])];
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
    const lines: (typeof schema)[] = schema.anyOf ?? [schema];
    assert.deepEqual(new Set(lines.map((line) => line.properties.schema.const)), new Set(names));
    assert.ok(lines.every((line) => line.required.includes('file')));
  });
}

for (const [command, key] of [
  ['search', 'hits'],
  ['scan', 'saving'],
  ['show', 'archivedAt'],
  ['archive-list', 'compactions'],
  ['archive-stats', 'formats'],
  ['archive-check', 'problems'],
  ['archive-embed', 'missing'],
] as const) {
  test(`the schema of ${command} is printed with the name that its reports bear and what they tell`, async () => {
    const terminal = createFakeTerminal(['schema', command]);
    assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
    const schema = JSON.parse(terminal.out());
    for (const line of schema.oneOf ?? schema.anyOf ?? [schema]) {
      assert.equal(line.properties.schema.const, `compact/${command}@1`);
      assert.ok(line.required.includes(key));
    }
  });
}
