import type { SummaryInput } from '../../ports/codec.ts';
import { isRecord } from './json.ts';

/**
 * Who says the summary, in formats whose roles are user and system. A model obeys a system, so results of tools, which hold what web pages and
 * files say, never become a system's words: neither those of this compaction nor those that the summary before it may quote.
 */
export function summaryRole({ quotesTools, prior = null }: SummaryInput): 'user' | 'system' {
  const wasUsers = isRecord(prior) && (prior['role'] === 'user' || prior['from'] === 'human');
  return quotesTools || wasUsers ? 'user' : 'system';
}
