import type { ConversationMessage } from '../message.ts';
import type { Fact } from './fact.ts';
import { findFacts } from './find-facts.ts';
import { readSaid } from './said.ts';

/** How many of the facts of messages stand in their summary, and which do not, in the order in which they were said. */
export type Retention = {
  readonly kept: number;
  readonly total: number;
  /** Of the facts; 1 where there are none. */
  readonly share: number;
  readonly lost: readonly Fact[];
};

export type AuditInput = {
  readonly summary: string;
  /** What the summary stands for. */
  readonly messages: readonly ConversationMessage[];
  /** It stands beside the summary: what it says is kept. */
  readonly previousSummary?: string | null;
};

/** Measures what a summary lost. Same input, same result; time grows with the text. */
export function auditRetention({ summary, messages, previousSummary = null }: AuditInput): Retention {
  const facts = findFacts(messages);
  const said = readSaid(previousSummary === null ? [summary] : [previousSummary, summary]);
  const lost = facts.filter((fact) => !said.has(fact));
  const kept = facts.length - lost.length;
  return {
    kept,
    total: facts.length,
    share: facts.length === 0 ? 1 : kept / facts.length,
    lost: lost.map(({ kind, text, messageId }) => ({ kind, text, messageId })),
  };
}
