import type { CompactFileRequest } from '../app/contract/requests.ts';
import type { ResolvedSettings } from '../config/resolve.ts';

/** Of the model that summarizes, where the configuration has it. */
export function priceOf({ prices, summarization }: ResolvedSettings): Pick<CompactFileRequest, 'price'> {
  const { name, provider } = summarization;
  const price = name === null || provider === 'extractive' ? undefined : prices[name];
  return price === undefined ? {} : { price };
}
