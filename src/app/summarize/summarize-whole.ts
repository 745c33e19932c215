import { type SummaryBatch, timeSpanOf } from '../../core/batch.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { batchTokensOf, type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { isInterrupted } from '../contract/interruption.ts';
import type { LineageMaterial } from '../read/lineage-material.ts';
import { summarizeChunk, type SummaryDeps } from './summarize-chunk.ts';
import type { FreshBatch } from './summarize.ts';
import type { Usage } from './usage.ts';

export type WholeInput = {
  /** Indices of the messages that go, in the order in which they were said. */
  readonly members: readonly number[];
  readonly load: (index: number) => ConversationMessage;
  /** 1-based over the conversation's life. */
  readonly lifeIndex: (index: number) => number;
  readonly lineage: LineageMaterial;
  /** A summary that another program left in place of what it compacted. */
  readonly foreign: { readonly message: ConversationMessage; readonly batch: SummaryBatch } | null;
  /** What stands beside this summary. */
  readonly earlier: readonly string[];
  readonly config: CompactionConfig;
  readonly modelName: string;
};

/**
 * One summary of everything that has left a conversation so far, made from the originals of all its compactions: quoting from quotations would
 * lose something each time. The error says, for people, why there is none.
 */
export async function summarizeWhole(
  deps: SummaryDeps,
  input: WholeInput,
): Promise<Result<{ readonly batch: FreshBatch; readonly usage: Usage }, string>> {
  const { members, lineage, foreign, earlier, config, modelName } = input;
  if (await isInterrupted(deps)) return err('it was interrupted');
  const going = members.map(input.load);
  const messages = [...lineage.messages, ...(foreign === null ? [] : [foreign.message]), ...going];
  const request = {
    messages: [],
    model: modelName,
    max_tokens: batchTokensOf(config),
    source: { kind: 'chunk', messages, earlier },
  } as const;
  const answer = await summarizeChunk(
    deps,
    { request, messages, previousSummary: null, earlier, config },
    {
      inputTokens: messages.reduce((sum, { content }) => sum + estimateTokens(content), 0),
      maxRetries: config.maxRetries ?? DEFAULT_COMPACTION_CONFIG.maxRetries,
      canHalve: false,
      halvings: 0,
    },
  );
  if (answer.kind !== 'summary') return err(answer.message);
  const { text, level, retention, usage } = answer;
  const sources = [...lineage.replaced, ...(foreign === null ? [] : [foreign.batch])];
  const batch = {
    content: text,
    depth: sources.reduce((deepest, { depth }) => Math.max(deepest, depth + 1), 0),
    ...timeSpanOf([
      ...going.map((message) => message.created_at),
      ...sources.flatMap(({ startTime, endTime }) => [startTime, endTime]),
    ]),
    messageCount: members.length + sources.reduce((sum, { messageCount }) => sum + messageCount, 0),
    ...indexSpan(members.map(input.lifeIndex), sources),
  };
  return ok({ batch: { ...batch, members, level, retention }, usage });
}

function indexSpan(
  own: readonly number[],
  sources: readonly SummaryBatch[],
): Pick<SummaryBatch, 'firstIndex' | 'lastIndex'> {
  const firsts = sources.flatMap(({ firstIndex }) => firstIndex ?? []);
  const lasts = sources.flatMap(({ lastIndex }) => lastIndex ?? []);
  return {
    firstIndex: [...own, ...firsts].reduce((a, b) => Math.min(a, b)),
    lastIndex: [...own, ...lasts].reduce((a, b) => Math.max(a, b)),
  };
}
