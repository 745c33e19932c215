import { stemmer } from 'stemmer';
import { writeHandover } from '../../../src/core/handover/handover.ts';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { messages } from '../../support/messages.ts';

/** What a message says, to be numbered by `messages`. */
export type Part = Partial<ConversationMessage>;

export const typed = (text: string): Part => ({ role: 'user', content: text, typed: text });
export const said = (text: string): Part => ({ role: 'assistant', content: text });
export const call = (id: string, name: string, args: unknown): Part => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, name, arguments: args }],
});
export const result = (id: string, text: string): Part => ({ role: 'tool', content: text, tool_call_id: id });

/** The hand-over of a conversation. */
export function handoverOf(parts: readonly Part[], maxChars = 6_000): string {
  return writeHandover({ messages: messages(...parts) }, { maxChars, stem: stemmer }).text;
}

export function section(text: string, heading: string): string {
  const [, after = ''] = text.split(`## ${heading}\n`);
  return after.split('\n\n## ')[0] ?? '';
}
