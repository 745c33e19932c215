import * as fc from 'fast-check';
import { codePoint } from './code-points.ts';
import type { ConversationMessage, MessagePart, ToolCall } from '../../src/core/message.ts';

/** A message of which only what matters to a test is said. */
export function message(said: Partial<ConversationMessage> = {}): ConversationMessage {
  return { id: 'm1', conversation_id: 'c1', role: 'user', content: 'hello', created_at: null, ...said };
}

/** Messages m1, m2, … of one conversation. */
export function messages(...said: readonly Partial<ConversationMessage>[]): readonly ConversationMessage[] {
  return said.map((one, index) => message({ id: `m${index + 1}`, ...one }));
}

/** `count` messages of plain text, by turns the user's and the assistant's. */
export function talk(count: number): readonly ConversationMessage[] {
  return messages(
    ...Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `turn ${index + 1}`,
    })),
  );
}

export function toolCall(id: string, name = 'look'): ToolCall {
  return { id, name, arguments: { at: id } };
}

/** An assistant's message that makes the calls with these ids at once. */
export function calling(...ids: readonly string[]): Partial<ConversationMessage> {
  return { role: 'assistant', content: '', tool_calls: ids.map((id) => toolCall(id)) };
}

/** A message that holds the results of the calls with these ids: one in the plain form, several as parts. */
export function answering(...ids: readonly string[]): Partial<ConversationMessage> {
  const [id] = ids;
  const text = ids.map((each) => `result of ${each}`).join('\n');
  if (id !== undefined && ids.length === 1) return { role: 'tool', content: text, tool_call_id: id };
  const parts = ids.map((callId): MessagePart => ({
    kind: 'result',
    callId,
    text: `result of ${callId}`,
    isError: false,
  }));
  return { role: 'tool', content: text, parts };
}

/** Texts that trip up what looks at them: words that score, patterns, half characters, line ends of other systems. */
export const oddTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: codePoint, maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    'why?',
    'an ERROR, then a fix',
    '[Context Summary — no',
    '\ud83d',
    '\ude00',
    '😀',
    'a\r\nb\u2028c',
    '.*(+',
  ),
  fc.integer({ min: 1, max: 500 }).map((count) => 'word '.repeat(count)),
);

// So few ids that they are used again, and results meet calls by chance in any order.
const callIds = fc.constantFrom('a', 'b', 'c', 'd');

const spoken: fc.Arbitrary<Partial<ConversationMessage>> = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
  content: oddTexts,
});

/** A call of several tools whose results come in any order, some twice, some never, with talk between them. */
const toolTurns: fc.Arbitrary<readonly Partial<ConversationMessage>[]> = fc
  .uniqueArray(callIds, { minLength: 1, maxLength: 3 })
  .chain((ids) =>
    fc
      .array(
        fc.oneof(
          fc.constantFrom(...ids).map((id) => answering(id)),
          spoken,
        ),
        { maxLength: 5 },
      )
      .map((rest) => [calling(...ids), ...rest]),
  );

/** Calls and results with nothing that holds them together: orphans, results before their calls, records of several. */
const strayTraffic: fc.Arbitrary<readonly Partial<ConversationMessage>[]> = fc
  .oneof(
    fc.array(callIds, { minLength: 1, maxLength: 3 }).map((ids) => calling(...ids)),
    fc.array(callIds, { minLength: 1, maxLength: 3 }).map((ids) => answering(...ids)),
  )
  .map((one) => [one]);

/** Conversations with odd tool traffic and odd texts; with all of their times, with some, or with none. */
export const conversations: fc.Arbitrary<readonly ConversationMessage[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { arbitrary: spoken.map((one) => [one]), weight: 3 },
        { arbitrary: toolTurns, weight: 2 },
        { arbitrary: strayTraffic, weight: 1 },
      ),
      { maxLength: 12 },
    ),
    fc.func(fc.option(fc.date({ noInvalidDate: true }), { nil: null })),
    fc.boolean(),
  )
  .map(([turns, timeOf, isTimed]) =>
    messages(...turns.flat()).map((one) => ({ ...one, created_at: isTimed ? timeOf(one.id) : null })),
  );
