import type { UsageReport } from '../app/contract/reports.ts';
import { countOf, formatCount } from '../core/tokens.ts';
export { countOf, formatCount };

/** '420 → 26'. */
export function formatChange(change: { readonly before: number; readonly after: number }): string {
  return `${formatCount(change.before)} → ${formatCount(change.after)}`;
}

/** '420 → at most 26'. */
export function formatAtMost(change: { readonly before: number; readonly after: number }): string {
  return `${formatCount(change.before)} → at most ${formatCount(change.after)}`;
}

/** '95 % saved', or by how much it grew. Rounded toward zero, so that it never claims too much. */
export function formatSaving(change: { readonly before: number; readonly after: number }): string {
  const saved = change.before - change.after;
  if (change.before === 0) return 'nothing saved';
  if (saved === 0) return 'as many as before';
  const percent = Math.trunc((100 * Math.abs(saved)) / change.before);
  return `${percent === 0 ? 'less than 1' : formatCount(percent)} % ${saved < 0 ? 'more' : 'saved'}`;
}

/** Money in any currency: to the cent, small sums to two significant digits. */
export function formatCost(cost: number): string {
  if (cost === 0 || cost >= 0.1) return cost.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');
  const digits = Math.min(8, 1 - Math.floor(Math.log10(cost)));
  return cost.toFixed(digits);
}

/** What a model was asked and what that cost, or what it would be asked at most. The offline summarizer asks nobody: then there is nothing to say. */
export function describeSpending(
  usage: UsageReport | undefined,
  { isPlan = false }: { readonly isPlan?: boolean } = {},
): readonly string[] {
  if (usage === undefined) return [];
  const { calls, inputTokens, cachedInputTokens, outputTokens, reused, retries, waitedMs, cost, listedOn } = usage;
  if (inputTokens + outputTokens + reused + retries === 0) return [];
  const about = isPlan ? 'about ' : '';
  const cached = cachedInputTokens === 0 ? '' : ` (${formatCount(cachedInputTokens)} cached)`;
  const out = `${isPlan ? 'at most ' : ''}${formatCount(outputTokens)} out`;
  const tokens = [`${about}${countOf(inputTokens, 'token')} in${cached}`, out];
  return [
    ...(calls === 0 ? ['no calls'] : [countOf(calls, isPlan ? 'request' : 'call'), ...tokens]),
    ...(retries === 0 ? [] : [countOf(retries, 'retry', 'retries')]),
    ...(waitedMs === 0 ? [] : [`${formatDuration(waitedMs)} waited`]),
    ...(reused === 0 ? [] : [`${countOf(reused, 'summary', 'summaries')} paid before`]),
    ...(cost === null ? [] : [`cost ${about}${formatCost(cost)}`]),
    ...(cost === null || listedOn === undefined ? [] : [`USD at the list price of ${listedOn}`]),
  ];
}

/** What stands behind costs, and which prices they are at. `listedOn`: the day of the vendors' list; undefined: the user's own prices. */
export function namePrices(listedOn: string | undefined): { readonly currency: string; readonly prices: string } {
  return listedOn === undefined
    ? { currency: '', prices: 'your prices' }
    : { currency: ' USD', prices: `list prices of ${listedOn}` };
}

/** '4 s', '3 min 20 s'. Rounded up, so that it never claims to be faster than it was. */
export function formatDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return `${formatCount(Math.floor(seconds / 60))} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/** Bytes for people: '512 bytes', '4.2 MB', '50 kB'. */
export function formatBytes(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  if (bytes < 1000) return countOf(bytes, 'byte');
  // 999,950 bytes are 1.0 MB, not 1000 kB.
  const power = Math.min(units.length, Math.floor(Math.log10(bytes * 1.0005) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[power - 1] ?? ''}`;
}

/** '3 restored' for each kind of which there is any. */
export function tally(kinds: readonly (readonly [count: number, words: string, paint?: (text: string) => string])[]) {
  return kinds.flatMap(([count, words, paint = String]) => (count > 0 ? paint(`${formatCount(count)} ${words}`) : []));
}

export function sumOf<T>(items: Iterable<T>, figure: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += figure(item);
  return sum;
}

/** Why something was skipped: the only reason, or how often each, the most frequent first. */
export function reasonsOf(skipped: ReadonlyMap<string, number>): string {
  const [first, ...others] = skipped.keys();
  return others.length === 0 ? (first ?? '') : countReasons(skipped);
}

/** "12 nothing new, 3 no messages", the most frequent first. */
export function countReasons(skipped: ReadonlyMap<string, number>): string {
  const counts = [...skipped].toSorted(([, a], [, b]) => b - a);
  return counts.map(([words, count]) => `${formatCount(count)} ${words}`).join(', ');
}

/** '3 holds' for each kind of which there is any. */
export function countsOf(kinds: readonly (readonly [count: number, noun: string, plural?: string])[]) {
  return kinds.flatMap(([count, noun, plural]) => (count > 0 ? countOf(count, noun, plural) : []));
}
