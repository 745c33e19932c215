import { buildAnthropicSystemParam } from '../../core/anthropic-system.ts';
import type { Message, ModelRequest } from '../../core/model-request.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';

type TextBlock = { readonly type: 'text'; readonly text: string };
type SystemBlock = TextBlock & { readonly cache_control?: { readonly type: 'ephemeral' } };
type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly TextBlock[] };

/** A request of the Messages API; no sampling parameters, which it refuses. */
export type AnthropicBody = {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string | readonly SystemBlock[];
  readonly messages: readonly Turn[];
  readonly output_config?: { readonly effort: 'low' };
  readonly stream: true;
};

/** The shortest prompt that the API keeps, for the models that keep the shortest. */
const MIN_CACHED_TOKENS = 1024;

/** The API's first message is a user's; where the excerpt begins with an answer, this stands before it. */
const BEGINS_WITH_ANSWER = '[The excerpt begins with an answer; what it answers is not shown.]';

/** The request in the API's form (M1, M4). `hasEffort`: little thinking is asked for, because thinking counts toward `max_tokens`. */
export function buildAnthropicBody(
  request: ModelRequest,
  { hasEffort }: { readonly hasEffort: boolean },
): AnthropicBody {
  const system = systemOf(request);
  return {
    model: request.model,
    max_tokens: request.max_tokens,
    ...(system === undefined ? {} : { system }),
    messages: turnsOf(request.messages),
    ...(hasEffort ? { output_config: { effort: 'low' } } : {}),
    stream: true,
  };
}

/** One text; or, where the part that is the same in every request is long enough to be cached, that part and the rest. */
function systemOf({ system, messages }: ModelRequest): AnthropicBody['system'] {
  const whole = buildAnthropicSystemParam(system, messages);
  if (system === undefined || whole === undefined || estimateTokensByBytes(system) < MIN_CACHED_TOKENS) {
    return whole?.toWellFormed();
  }
  const lasting: SystemBlock = {
    type: 'text',
    text: system.toWellFormed(),
    cache_control: { type: 'ephemeral' },
  };
  const rest = whole.slice(system.length);
  return rest === '' ? [lasting] : [lasting, { type: 'text', text: rest.toWellFormed() }];
}

/** Messages of one role in a row are one message of several blocks; blank ones, which the API refuses, are none. */
function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: { readonly role: Turn['role']; readonly content: TextBlock[] }[] = [];
  for (const { role, content } of messages) {
    if (role === 'system') continue;
    const blocks = blocksOf(content);
    if (blocks.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return turns[0]?.role === 'assistant'
    ? [{ role: 'user', content: [textBlock(BEGINS_WITH_ANSWER)] }, ...turns]
    : turns;
}

function blocksOf(content: Message['content']): readonly TextBlock[] {
  const texts = typeof content === 'string' ? [content] : content.map(({ text }) => text);
  return texts.filter((text) => text.trim() !== '').map(textBlock);
}

/** Half of a surrogate pair, as old transcripts have it, would make the request's JSON one that the API refuses. */
function textBlock(text: string): TextBlock {
  return { type: 'text', text: text.toWellFormed() };
}
