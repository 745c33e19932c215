import type { ScanReport } from '../../app/survey/scan-file.ts';
import { costOf } from '../../app/summarize/usage.ts';
import type { FindPrice } from '../../ports/model.ts';
import type { ReadCost } from '../reports.ts';

/** What sending it to its model once costs without a cache: that is how a session which lay for an hour goes on. */
export function costOfReading(
  { model, tokens }: Pick<ScanReport, 'model'> & { readonly tokens: Pick<ScanReport['tokens'], 'before' | 'after'> },
  findPrice: FindPrice,
): ReadCost | null {
  const price = model === null ? null : findPrice(model, tokens.before);
  if (model === null || price === null) return null;
  const cost = (inputTokens: number): number =>
    costOf({ inputTokens, outputTokens: 0 }, findPrice(model, inputTokens) ?? price) ?? 0;
  const { listedOn } = price;
  return { before: cost(tokens.before), after: cost(tokens.after), ...(listedOn !== undefined && { listedOn }) };
}
