import type { CompactReport, UsageReport } from '../app/reports.ts';
import { addUsage } from '../app/usage.ts';
import { sumTokens } from './render/compact.ts';
import type { RunTotals } from './render/compact.ts';
import { countLevels } from './render/model-rows.ts';

export const NO_TOTALS: RunTotals = {
  compacted: 0,
  planned: 0,
  skipped: 0,
  failed: 0,
  left: 0,
  previewed: 0,
  tokens: { before: 0, after: 0 },
  facts: { kept: 0, total: 0 },
  levels: { fallback: 0, halved: 0, feedback: 0 },
};

export function addToTotals(totals: RunTotals, report: CompactReport): RunTotals {
  const counted = { ...totals, [report.result]: totals[report.result] + 1 };
  if (report.result === 'skipped') return addSpending(counted, report.usage);
  const { preview, retention, usage } = report;
  const { tokens, facts, levels } = totals;
  const { before, after } = sumTokens(report);
  const made = countLevels(report);
  const told = {
    ...counted,
    previewed: totals.previewed + (preview === undefined ? 0 : 1),
    tokens: { before: tokens.before + before, after: tokens.after + after },
    facts: { kept: facts.kept + (retention?.kept ?? 0), total: facts.total + (retention?.total ?? 0) },
    levels: {
      fallback: levels.fallback + made.fallback,
      halved: levels.halved + made.halved,
      feedback: levels.feedback + made.feedback,
    },
  };
  return addSpending(told, usage);
}

/** What a transcript cost, also where nothing came of it. */
export function addSpending(totals: RunTotals, usage: UsageReport | undefined): RunTotals {
  return usage === undefined ? totals : { ...totals, usage: sumUsage(totals.usage, usage) };
}

/** A cost that nobody knows is not counted. */
function sumUsage(sum: UsageReport | undefined, usage: UsageReport): UsageReport {
  if (sum === undefined) return usage;
  const cost = usage.cost === null ? sum.cost : (sum.cost ?? 0) + usage.cost;
  return { ...addUsage(sum, usage), cost };
}
