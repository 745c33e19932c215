import type { Settings } from '../config/settings.ts';
import type { FindPrice } from '../ports/model.ts';

/** Prices of `[prices]`, and for other models those of the vendors' list. Loads the list, which takes a while. */
export async function loadPrices(configured: Settings['prices']): Promise<FindPrice> {
  const { findListPrice } = await import('../adapters/prices/list-prices.ts');
  return (model, requestTokens) => configured[model] ?? findListPrice(model, requestTokens);
}
