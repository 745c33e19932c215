import type { CompactReport, PassedReport, UsageReport } from '../app/contract/reports.ts';
import { addUsage } from '../app/summarize/usage.ts';
import { type RunTotals, sumTokens } from './render/compact.ts';
import { countLevels } from './render/model-rows.ts';
import { skipWords } from './render/skip-words.ts';

export const NO_TOTALS: RunTotals = {
  compacted: 0,
  planned: 0,
  skipped: new Map(),
  failed: 0,
  left: 0,
  previewed: 0,
  tokens: { before: 0, after: 0 },
  facts: { kept: 0, total: 0 },
  levels: { fallback: 0, halved: 0, feedback: 0 },
};

export function addToTotals(totals: RunTotals, report: CompactReport | PassedReport): RunTotals {
  if (!('ledger' in report)) return addSkip(totals, report.reason);
  if (report.result === 'skipped') return addSpending(addSkip(totals, report.reason), report.usage);
  const counted = { ...totals, [report.result]: totals[report.result] + 1 };
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

function addSkip(totals: RunTotals, reason: Parameters<typeof skipWords>[0]): RunTotals {
  const words = skipWords(reason);
  const count = (totals.skipped.get(words) ?? 0) + 1;
  return { ...totals, skipped: new Map(totals.skipped).set(words, count) };
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
