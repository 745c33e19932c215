import type { BatchReport, CompactReport } from '../../app/contract/reports.ts';
import { countOf, formatCost, formatCount, formatDuration } from './quantities.ts';
import { reportList } from './report-row.ts';
import type { Theme } from './theme.ts';

/** What the model took. The offline provider uses no tokens, and its calls are nobody's concern. */
export function usageRows({ usage }: Pick<CompactReport, 'usage'>): readonly string[] {
  if (usage === undefined) return [];
  const { calls, inputTokens, cachedInputTokens, outputTokens, reused, retries, waitedMs, cost } = usage;
  if (inputTokens + outputTokens + reused + retries === 0) return [];
  const cached = cachedInputTokens === 0 ? '' : ` (${formatCount(cachedInputTokens)} cached)`;
  return reportList('model', [
    calls === 0 ? 'no calls' : countOf(calls, 'call'),
    ...(calls === 0 ? [] : [`${countOf(inputTokens, 'token')} in${cached}`, `${formatCount(outputTokens)} out`]),
    ...(retries === 0 ? [] : [countOf(retries, 'retry', 'retries')]),
    ...(waitedMs === 0 ? [] : [`${formatDuration(waitedMs)} waited`]),
    ...(reused === 0 ? [] : [`${countOf(reused, 'summary', 'summaries')} paid before`]),
    ...(cost === null ? [] : [`cost ${formatCost(cost)}`]),
  ]);
}

export function planRows({ plan }: CompactReport): readonly string[] {
  if (plan === undefined) return [];
  const { chunks, requests, tokensIn, tokensOut, cost } = plan;
  return [
    ...reportList('chunks', [formatCount(chunks)]),
    ...reportList('requests', [
      formatCount(requests),
      `about ${countOf(tokensIn, 'token')} in`,
      `${formatCount(tokensOut)} out`,
      ...(cost === null ? [] : [`cost about ${formatCost(cost)}`]),
    ]),
  ];
}

export const LEVEL_TEXTS: { readonly [level in NonNullable<BatchReport['level']>]: string } = {
  fallback: 'summarized offline, the model failed',
  halved: 'summarized in parts',
  feedback: 'asked for again, with what was wrong',
};

/** How many batches came about in which way, where it was not by the model's first answer. */
export type LevelCounts = { readonly [level in NonNullable<BatchReport['level']>]: number };

export function countLevels({ conversations }: CompactReport): LevelCounts {
  const levels = conversations.flatMap(({ batches }) => batches.flatMap(({ level }) => level ?? []));
  const count = (level: keyof LevelCounts): number => levels.filter((one) => one === level).length;
  return { fallback: count('fallback'), halved: count('halved'), feedback: count('feedback') };
}

/** The worst first. */
export function levelRows(counts: LevelCounts, theme: Theme): readonly string[] {
  const parts = (['fallback', 'halved', 'feedback'] as const).flatMap((level) => {
    const count = counts[level];
    if (count === 0) return [];
    const text = `${countOf(count, 'batch', 'batches')} ${LEVEL_TEXTS[level]}`;
    return [level === 'fallback' ? theme.warning(text) : text];
  });
  return parts.flatMap((part, index) => reportList(index === 0 ? 'levels' : '', [part]));
}
