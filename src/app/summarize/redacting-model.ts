import { callsOf, type ConversationMessage, type MessagePart, resultIdsOf, type ToolCall } from '../../core/message.ts';
import { type Message, type ModelRequest, textOfContent } from '../../core/model-request.ts';
import { CALL_MARK, callLine, RESULT_MARK } from '../../core/prompt.ts';
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
export function redactRequest({ source: _source, ...request }: ModelRequest, redactor: Redactor): ModelRequest {
  const before = callsBefore(request.messages.map(({ content }) => textOfContent(content)));
  return { ...request, messages: redactAll(request.messages, redactor, redactContent, before) };
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
    texts.map((text, at) => redactOne(text, (part) => redact(part, before[at] ?? '')));
  const countBefore = secretCount(masked());
  const once = redactEach();
  return secretCount(masked()) === countBefore ? once : redactEach();
}

const MAX_CALL_CHARS = 2000;

/** For each text of a request the calls without a result so far, by which the redactor knows what printed the text. */
function callsBefore(texts: readonly string[]): readonly string[] {
  let open: readonly string[] = [];
  return texts.map((text) => {
    const lines = text.split('\n');
    const before = text.startsWith(RESULT_MARK) ? open : [];
    const marks = lines.filter((line) => line.startsWith(RESULT_MARK) || line.startsWith(CALL_MARK));
    open = [
      ...before,
      ...marks.map((line) => (line.startsWith(CALL_MARK) ? line.slice(0, MAX_CALL_CHARS) : RESULT_MARK)),
    ];
    return before.join('\n');
  });
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
): readonly ConversationMessage[] {
  const calls = new Map(messages.flatMap(callsOf).map((call) => [call.id, `${callLine(call)}\n${RESULT_MARK}`]));
  const before = messages.map((message) => resultIdsOf(message).flatMap((id) => calls.get(id) ?? [])[0] ?? '');
  return redactAll(messages, redactor, redactMessage, before);
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
