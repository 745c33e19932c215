import type { ConversationMessage, MessagePart, ToolCall } from '../../core/message.ts';
import type { CallLines, Message, ModelRequest } from '../../core/model-request.ts';
import { callLines, callsBefore, RESULT_MARK, shownMessages } from '../../core/prompt.ts';
import type { MaskedSecrets, ModelProvider, Redactor } from '../../ports/model.ts';

type Redact = Redactor['redact'];

/**
 * A provider that never sees a secret in the transcript: messages and previous summaries are masked before a request is sent, answers when
 * they arrive. The user's system prompt is sent as written. The source, which is never sent, is left out because it holds the transcript
 * unmasked.
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

/** A request as the redacting model sends it. */
export function redactRequest({ source, ...request }: ModelRequest, redactor: Redactor): ModelRequest {
  return { ...request, messages: redactAll(request.messages, redactor, redactContent, printersOf(request, source)) };
}

/** For each message of a request the calls whose results it holds, by which the redactor knows what printed them. */
function printersOf({ messages }: Pick<ModelRequest, 'messages'>, source: ModelRequest['source']): readonly string[] {
  if (source?.kind !== 'chunk') return [];
  const calls = source.calls ?? callLines(source.messages);
  const shown = shownMessages(source.messages);
  const first = messages.findIndex(({ role }) => role !== 'system');
  return messages.map((_, at) => {
    const message = shown[at - first];
    return message === undefined ? '' : callsBefore(message, calls);
  });
}

/** Masks texts together: a secret that one text reveals is masked in all. */
export function redactTexts(texts: readonly string[], redactor: Redactor): readonly string[] {
  return redactAll(texts, redactor, (text, redact) => redact(text));
}

/** A later text may reveal a secret that is in an earlier one, so if any was found, all are masked again. */
function redactAll<T>(
  texts: readonly T[],
  { redact, masked }: Redactor,
  redactOne: (text: T, redact: Redact) => T,
  before: readonly string[] = [],
): readonly T[] {
  const redactEach = (): readonly T[] =>
    texts.map((text, at) => redactOne(text, (part, own) => redact(part, own ?? before[at] ?? '')));
  const countBefore = secretCount(masked());
  const once = redactEach();
  return secretCount(masked()) === countBefore ? once : redactEach();
}

function secretCount(masked: readonly MaskedSecrets[]): number {
  return masked.reduce((sum, { count }) => sum + count, 0);
}

function redactContent(message: Message, redact: Redact): Message {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: redact(content) };
  return { ...message, content: content.map((block) => ({ ...block, text: redact(block.text) })) };
}

/** Messages as the redacting model saw them: whatever is compared with its summary, or quoted beside it, must be masked the same way. */
export function redactMessages(
  messages: readonly ConversationMessage[],
  redactor: Redactor,
  calls: CallLines = callLines(messages),
): readonly ConversationMessage[] {
  return redactAll(messages, redactor, (message, redact) => redactMessage(message, redact, calls));
}

function redactMessage(message: ConversationMessage, redact: Redact, calls: CallLines): ConversationMessage {
  const { content, parts, tool_calls: own } = message;
  return {
    ...message,
    content: redact(content, resultOf(callsBefore(message, calls))),
    ...(parts === undefined ? {} : { parts: parts.map((part) => redactPart(part, redact, calls)) }),
    ...(own === undefined ? {} : { tool_calls: own.map((call) => redactCall(call, redact)) }),
  };
}

/** What stands before the text of a result in a request. */
export function resultOf(calls: string): string {
  return calls === '' ? '' : `${calls}\n${RESULT_MARK}`;
}

function redactPart(part: MessagePart, redact: Redact, calls: CallLines): MessagePart {
  if (part.kind === 'call') return { ...part, arguments: redact(part.arguments) };
  return { ...part, text: redact(part.text, part.kind === 'result' ? resultOf(calls.get(part.callId) ?? '') : '') };
}

/** Arguments are compared and shown as JSON, so the JSON text is masked. */
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
