import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import type {
  ArchiveListReport,
  ArchiveStatsReport,
  SearchReport,
  ShowReport,
} from '../../src/app/contract/archive-reports.ts';
import type {
  CompactReport,
  FailedReport,
  FailureKind,
  RestoreReport,
  ScoreReport,
  VerifyReport,
} from '../../src/app/contract/reports.ts';
import type { ArchiveCheckReport } from '../../src/app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../../src/app/search/embeddings/embed-archive.ts';
import type { ScanReport } from '../../src/app/survey/scan-file.ts';
import { failedReport } from '../../src/cli/render/failed.ts';
import { run } from '../../src/cli/run.ts';
import { archiveCheckReportSchema } from '../../src/cli/schemas/archive-check.ts';
import { archiveEmbedReportSchema } from '../../src/cli/schemas/archive-embed.ts';
import { archiveListReportSchema } from '../../src/cli/schemas/archive-list.ts';
import { archiveStatsReportSchema } from '../../src/cli/schemas/archive-stats.ts';
import { compactReportSchema } from '../../src/cli/schemas/compact.ts';
import type { restoreReportSchema } from '../../src/cli/schemas/restore.ts';
import { scanReportSchema } from '../../src/cli/schemas/scan.ts';
import { scoreReportSchema } from '../../src/cli/schemas/score.ts';
import { searchReportSchema } from '../../src/cli/schemas/search.ts';
import { showReportSchema } from '../../src/cli/schemas/show.ts';
import { verifyReportSchema } from '../../src/cli/schemas/verify.ts';
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
import {
  compactReport,
  createFakeTerminal,
  createFakeUseCases,
  scanReport,
  scoreReport,
  verifyReport,
} from './fakes.ts';

// That a report has every key of its schema is checked where the schema stands; that the schema has every key of the report, here.
type KeysOf<T> = T extends unknown ? keyof T : never;
type KnowsAll<Schema extends z.ZodType, Report> = [KeysOf<Report>] extends [KeysOf<z.output<Schema>>] ? true : false;
type FailedLine = Extract<z.output<typeof compactReportSchema>, { readonly result: 'failed' }>;
const known: readonly [
  KnowsAll<typeof compactReportSchema, CompactReport | FailedReport>,
  [FailureKind] extends [FailedLine['error']['kind']] ? true : false,
  KnowsAll<typeof scoreReportSchema, ScoreReport>,
  KnowsAll<typeof restoreReportSchema, RestoreReport>,
  KnowsAll<typeof verifyReportSchema, VerifyReport>,
  KnowsAll<typeof searchReportSchema, SearchReport>,
  KnowsAll<typeof showReportSchema, ShowReport>,
  KnowsAll<typeof archiveListReportSchema, ArchiveListReport>,
  KnowsAll<typeof archiveStatsReportSchema, ArchiveStatsReport>,
  KnowsAll<typeof archiveCheckReportSchema, ArchiveCheckReport>,
  KnowsAll<typeof archiveEmbedReportSchema, ArchiveEmbedReport>,
  KnowsAll<typeof scanReportSchema, ScanReport>,
] = [true, true, true, true, true, true, true, true, true, true, true, true];

test('each schema takes the report that it describes', () => {
  assert.deepEqual(compactReportSchema.parse(compactReport()), compactReport());
  assert.deepEqual(scoreReportSchema.parse(scoreReport()), scoreReport());
  assert.deepEqual(verifyReportSchema.parse(verifyReport()), verifyReport());
  assert.deepEqual(searchReportSchema.parse(searchReport()), searchReport());
  assert.deepEqual(showReportSchema.parse(shownBatch()), shownBatch());
  assert.deepEqual(showReportSchema.parse(shownMessage()), shownMessage());
  assert.deepEqual(showReportSchema.parse(shownCompaction()), shownCompaction());
  assert.deepEqual(archiveListReportSchema.parse(listReport()), listReport());
  assert.deepEqual(archiveStatsReportSchema.parse(statsReport()), statsReport());
  assert.deepEqual(archiveCheckReportSchema.parse(checkReport()), checkReport());
  assert.deepEqual(archiveEmbedReportSchema.parse(embedReport()), embedReport());
  assert.deepEqual(scanReportSchema.parse(scanReport()), scanReport());
  assert.equal(known.length, 12);
});

test('the schema of a compaction takes the line of one that failed, and no half of either', () => {
  const failed = failedReport('x.jsonl', { kind: 'denied', message: 'x.jsonl: you may not read it.' });
  assert.deepEqual(compactReportSchema.parse(failed), failed);
  assert.equal(compactReportSchema.safeParse({ ...compactReport(), result: 'failed' }).success, false);
  assert.equal(compactReportSchema.safeParse({ ...failed, result: 'skipped' }).success, false);
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
    for (const line of schema.anyOf ?? [schema]) {
      assert.equal(line.properties.schema.const, name);
      assert.ok(line.required.includes('file'));
    }
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
