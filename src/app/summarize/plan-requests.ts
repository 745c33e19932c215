import type { ModelRequest } from '../../core/model-request.ts';
import { batchTokensOf, type CompactionConfig } from '../../core/policy.ts';
import { type CompactPlan, createLoader } from '../compact/compact-conversation.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import { expectedTokens } from './call-model.ts';
import { chunkRequest } from './summarize.ts';

/** The request of a chunk, as far as it is known before the chunks before it are summarized. */
export type PlannedRequest = {
  readonly messages: number;
  /** Estimate: a previous summary is counted as long as it may be. */
  readonly tokensIn: number;
  /** Whole for the first chunk; the others wait for the summary before them. */
  readonly request: Omit<ModelRequest, 'source' | 'timeout'> | null;
};

/** What would be asked for one conversation, chunk after chunk. */
export function* plannedRequests(
  transcript: Prepared,
  prepared: PreparedConversation,
  asked: {
    readonly plan: CompactPlan;
    readonly config: CompactionConfig;
    readonly modelName: string;
    /** As it would leave this machine. */
    readonly redact: (request: ModelRequest) => ModelRequest;
  },
): Generator<PlannedRequest> {
  const { plan, config, modelName, redact } = asked;
  const load = createLoader(transcript, prepared);
  const { prior } = prepared;
  for (const [at, chunk] of plan.chunks.entries()) {
    const isFirst = at === 0;
    const previousSummary = isFirst && prior.kind !== 'none' ? prior.text : null;
    const built = chunkRequest(chunk.map(load), { previousSummary, earlier: [], config, modelName });
    const { source: _source, timeout: _timeout, ...request } = redact(built);
    const tokensIn = expectedTokens(request) + (isFirst ? 0 : batchTokensOf(config));
    yield { messages: chunk.length, tokensIn, request: isFirst ? request : null };
  }
}
