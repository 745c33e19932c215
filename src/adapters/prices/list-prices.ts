import { calcPrice } from '@pydantic/genai-prices';
import type { FindPrice } from '../../ports/model.ts';

/** The day on which the installed version of the list was published. */
const LISTED_ON = '2026-09-23';

const MILLION = 1_000_000;

/** What vendors ask, without discounts for cached tokens and batches. A router's name of a model (`vendor/model`) counts as the vendor's. */
export const findListPrice: FindPrice = (model, requestTokens) => {
  const tokens = Math.max(1, requestTokens);
  const usage = { input_tokens: tokens, output_tokens: tokens };
  const found = calcPrice(usage, model) ?? calcPrice(usage, model.slice(model.lastIndexOf('/') + 1));
  if (found === null) return null;
  const perMillion = (price: number): number => (price * MILLION) / tokens;
  return { input: perMillion(found.input_price), output: perMillion(found.output_price), listedOn: LISTED_ON };
};
