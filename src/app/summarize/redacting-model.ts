import type { ConversationMessage, MessagePart, ToolCall } from '../../core/message.ts';
import type { Message, ModelRequest } from '../../core/model-request.ts';
import type { MaskedSecrets, ModelProvider, Redactor } from '../../ports/model.ts';

type Redact = Redactor['redact'];

/**
 * A provider that never sees a secret of the transcript: messages and previous summaries are masked before a request leaves, the answer when it
 * comes. The user's system prompt goes out as written; the source, which is never sent, is left out, as it holds the transcript as it is.
 */
export function createRedactingModel(model: ModelProvider, redactor: Redactor): ModelProvider {
  return {
    ...(model.isVerbatim === undefined ? {} : { isVerbatim: model.isVerbatim }),
    complete: async (request, signal) => {
      const response = await model.complete(redactRequest(request, redactor), signal);
      const content = response.content.map((block) => ({ ...block, text: redactor.redact(block.text) }));
      return { ...response, content };
    },
  };
}

/** A request as a redacting model sends it. */
export function redactRequest({ source: _source, ...request }: ModelRequest, redactor: Redactor): ModelRequest {
  return { ...request, messages: redactAll(request.messages, redactor, redactContent) };
}

/** As what a redacting model sends: what one text shows to be a secret is masked in all. */
export function redactTexts(texts: readonly string[], redactor: Redactor): readonly string[] {
  return redactAll(texts, redactor, (text, redact) => redact(text));
}

/** What a later one shows to be a secret may stand in an earlier one: where any was found, all are gone through again. */
function redactAll<T>(
  texts: readonly T[],
  { redact, masked }: Redactor,
  redactOne: (text: T, redact: Redact) => T,
): readonly T[] {
  const countBefore = secretCount(masked());
  const once = texts.map((text) => redactOne(text, redact));
  return secretCount(masked()) === countBefore ? once : once.map((text) => redactOne(text, redact));
}

function secretCount(masked: readonly MaskedSecrets[]): number {
  return masked.reduce((sum, { count }) => sum + count, 0);
}

function redactContent(message: Message, redact: Redact): Message {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: redact(content) };
  return { ...message, content: content.map((block) => ({ ...block, text: redact(block.text) })) };
}

/** Messages as a redacting model was shown them: what is compared with its summary, or quoted beside it, must be masked alike. */
export function redactMessages(
  messages: readonly ConversationMessage[],
  redactor: Redactor,
): readonly ConversationMessage[] {
  return redactAll(messages, redactor, redactMessage);
}

function redactMessage(message: ConversationMessage, redact: Redact): ConversationMessage {
  const { content, parts, tool_calls: calls } = message;
  return {
    ...message,
    content: redact(content),
    ...(parts === undefined ? {} : { parts: parts.map((part) => redactPart(part, redact)) }),
    ...(calls === undefined ? {} : { tool_calls: calls.map((call) => redactCall(call, redact)) }),
  };
}

function redactPart(part: MessagePart, redact: Redact): MessagePart {
  return part.kind === 'call' ? { ...part, arguments: redact(part.arguments) } : { ...part, text: redact(part.text) };
}

/** Arguments are compared and shown as JSON text, so that is what is masked. */
function redactCall(call: ToolCall, redact: Redact): ToolCall {
  if ('function' in call) {
    return { ...call, function: { ...call.function, arguments: redactValue(call.function.arguments, redact) } };
  }
  if ('input' in call) return { ...call, input: redactValue(call.input, redact) };
  return { ...call, arguments: redactValue(call.arguments, redact) };
}

function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  const json = JSON.stringify(value);
  return json === undefined ? value : redact(json);
}
