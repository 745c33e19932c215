import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { totalTokens } from '../../src/app/compact/report.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { createWorkbench, reportOf } from '../support/workbench.ts';
import { settings } from './settings.ts';
import { conversations } from './transcripts/events.ts';
import { WRITERS } from './transcripts/writers.ts';

/**
 * How far an offline run may exceed its estimate here. Estimates count UTF-8 bytes, while the summarizer's limit counts characters, and they leave out the
 * arguments of calls: texts of other scripts alone may exceed them further.
 */
const MAX_FACTOR = 1.5;
const SMALL_TOKENS = 200;

const tokensOf = ({ conversations: all }: CompactReport): { readonly before: number; readonly after: number } =>
  totalTokens(all);

for (const [format, write] of WRITERS) {
  test(`${format}: a plan is an estimate that an offline run keeps near, and never a loss`, async () => {
    const drawn = fc.record({ events: conversations, flavor: fc.nat({ max: 59 }), settings, isWhole: fc.boolean() });
    const property = fc.asyncProperty(drawn, async ({ events, flavor, settings: chosen, isWhole }) => {
      const bench = createWorkbench();
      try {
        const lines = write(events, flavor).map((line) => `${line}\n`);
        bench.write('talk.jsonl', lines.join(''));
        const { keepRecent, chunkSize, maxSummaryTokens, clipFirst, clipLast, targetTokens } = chosen;
        const sizes = isWhole ? {} : { chunkSize, maxSummaryTokens, clipFirst, clipLast };
        const how = { format, keepInvalid: true, targetTokens, compaction: { keepRecent, ...sizes } };
        const planned = await bench.compact('talk.jsonl', { ...how, output: { kind: 'none' } });
        if (!planned.ok || planned.value.result !== 'planned') return;
        const plan = tokensOf(planned.value);
        assert.ok(plan.after <= plan.before, `the plan makes ${plan.before} tokens ${plan.after}`);
        const report = reportOf(await bench.compact('talk.jsonl', how));
        if (report.result !== 'compacted') return;
        const run = tokensOf(report);
        assert.ok(run.after < run.before, `the run made ${run.before} tokens ${run.after}`);
        const most = plan.after * MAX_FACTOR + SMALL_TOKENS;
        assert.ok(run.after <= most, `the run left ${run.after} tokens where about ${plan.after} were planned`);
      } finally {
        bench.remove();
      }
    });
    await fc.assert(property, { numRuns: 4, seed: 11 });
  });
}
