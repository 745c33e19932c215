import type { Failure } from '../../app/contract/failure.ts';
import type { BatchReport, CompactReport } from '../../app/contract/reports.ts';
import { countOf, formatCost, formatCount, formatDuration } from './quantities.ts';
import { clipText, safeText, textWidth } from './text.ts';
import type { Theme } from './theme.ts';

type Kept = { readonly kept: number; readonly total: number; readonly lost: readonly string[] };

/** The batches of a long transcript would fill the screen. */
const MAX_BATCHES = 8;
const MAX_FACT_COLUMNS = 28;
const MIN_FACT_COLUMNS = 8;
const MAX_SHOWN = 3;

/** The salient facts that summaries keep and lose: one line, or with several batches one for each that lost any. */
export function factRows({ retention }: CompactReport, widthColumns: number): readonly string[] {
  if (retention === undefined || retention.total === 0) return [];
  const [first, ...others] = retention.batches;
  if (first === undefined) return [];
  if (others.length === 0) return [reportRow('facts', factsText(first, { prefix: '', widthColumns }))];
  const losing = retention.batches.flatMap((batch, index) =>
    batch.kept < batch.total ? [reportRow('', factsText(batch, { prefix: `${index + 1}: `, widthColumns }))] : [],
  );
  const unlisted = losing.length - MAX_BATCHES;
  return [
    reportRow('facts', `${countKept(retention)} in ${countOf(retention.batches.length, 'batch', 'batches')}`),
    ...losing.slice(0, MAX_BATCHES),
    ...(unlisted > 0 ? [reportRow('', `… and ${countOf(unlisted, 'more', 'more')}; --json lists them all`)] : []),
  ];
}

/** 'a, b and 8 more': as many as fit, and at least the beginning of the first. */
function listLost(
  lost: readonly string[],
  { count, columns }: { readonly count: number; readonly columns: number },
): string {
  const texts = lost.slice(0, MAX_SHOWN).map((text) => clipText(safeText(text), MAX_FACT_COLUMNS));
  for (let shown = texts.length; ; shown -= 1) {
    const rest = count - shown;
    const more = rest > 0 ? ` and ${formatCount(rest)} more` : '';
    const text = texts.slice(0, shown).join(', ');
    const room = columns - textWidth(more);
    if (textWidth(text) <= room) return text + more;
    if (shown <= 1) return clipText(text, Math.max(room, MIN_FACT_COLUMNS)) + more;
  }
}

function factsText(
  batch: Kept,
  { prefix, widthColumns }: { readonly prefix: string; readonly widthColumns: number },
): string {
  const text = `${prefix}${countKept(batch)}`;
  if (batch.lost.length === 0) return text;
  const start = `${text}; lost: `;
  const columns = widthColumns - INDENT_COLUMNS - textWidth(start);
  return start + listLost(batch.lost, { count: batch.total - batch.kept, columns });
}

/** '41 of 52 kept'. */
export function countKept({ kept, total }: Pick<Kept, 'kept' | 'total'>): string {
  return `${formatCount(kept)} of ${formatCount(total)} kept`;
}

/** The model's usage. The offline provider uses no tokens, and its calls do not matter. */
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

/** What a model would be asked. The offline summarizer asks nobody. */
export function planRows({ plan }: CompactReport): readonly string[] {
  if (plan?.asked === undefined) return [];
  const { requests, tokensIn, tokensOut, cost } = plan;
  return reportList('model', [
    countOf(requests, 'request'),
    `about ${countOf(tokensIn, 'token')} in`,
    `at most ${formatCount(tokensOut)} out`,
    ...(cost === null ? [] : [`cost about ${formatCost(cost)}`]),
  ]);
}

export const LEVEL_TEXTS: { readonly [level in NonNullable<BatchReport['level']>]: string } = {
  fallback: 'summarized offline, the model failed',
  halved: 'summarized in parts',
  feedback: 'requested again, with what was wrong',
};

/** How many batches came about in which way, except by the model's first answer. */
export type LevelCounts = { readonly [level in NonNullable<BatchReport['level']>]: number };

export function countLevels({ conversations }: CompactReport): LevelCounts {
  const levels = conversations.flatMap(({ batches }) => batches.flatMap(({ level }) => level ?? []));
  const count = (level: keyof LevelCounts): number => levels.filter((one) => one === level).length;
  return { fallback: count('fallback'), halved: count('halved'), feedback: count('feedback') };
}

/** The worst comes first. */
export function levelRows(counts: LevelCounts, theme: Theme): readonly string[] {
  const parts = (['fallback', 'halved', 'feedback'] as const).flatMap((level) => {
    const count = counts[level];
    if (count === 0) return [];
    const text = `${countOf(count, 'batch', 'batches')} ${LEVEL_TEXTS[level]}`;
    return [level === 'fallback' ? theme.warning(text) : text];
  });
  return parts.flatMap((part, index) => reportList(index === 0 ? 'levels' : '', [part]));
}

const LABEL_COLUMNS = 9;
/** The width of a report where possible: half of most screens. */
const REPORT_COLUMNS = 60;
const INDENT_COLUMNS = LABEL_COLUMNS + 3;

/** A line of a report; texts must be safe. */
export function reportRow(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)} ${text}`;
}

/** A comma-separated list that continues on the next line when one is full. */
export function reportList(label: string, parts: readonly string[], widthColumns = REPORT_COLUMNS): readonly string[] {
  const lines: string[] = [];
  for (const [index, part] of parts.entries()) {
    const text = index === parts.length - 1 ? part : `${part},`;
    const line = lines.at(-1);
    if (line !== undefined && textWidth(line) + 1 + textWidth(text) <= widthColumns) {
      lines[lines.length - 1] = `${line} ${text}`;
    } else lines.push(reportRow(lines.length === 0 ? label : '', text));
  }
  return lines;
}

/** The kept share is rounded down, so that it never looks like the wanted one. */
export function renderLowRetention({
  file,
  kept,
  total,
  wanted,
  lost,
}: Extract<Failure, { kind: 'low-retention' }>): string {
  const share = `${Math.floor((100 * kept) / total)} %`;
  const limit = `${Number((100 * wanted).toFixed(2))} %`;
  const losses = listLost(lost, { count: total - kept, columns: Number.POSITIVE_INFINITY });
  return [
    `${safeText(file)}: the summaries keep ${formatCount(kept)} of ${countOf(total, 'fact')} (${share}), and ${limit} are required; lost: ${losses}. The file is unchanged.`,
    'Try longer summaries (--max-summary-tokens), smaller chunks (--chunk-size), another model, or a lower --min-retention.',
  ].join(' ');
}
