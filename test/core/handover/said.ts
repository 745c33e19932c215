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

/** A command with its output. */
export const run = (id: string, command: string, answer: string): readonly Part[] => [
  call(id, 'Bash', { command }),
  result(id, answer),
];

/** An edit of a file that succeeded. */
export const edit = (id: string, path: string, before: string, after: string): readonly Part[] => [
  call(id, 'Edit', { file_path: path, old_string: before, new_string: after }),
  result(id, 'The file was updated.'),
];

/** The hand-over of a conversation. */
export function handoverOf(parts: readonly Part[], maxChars = 6_000): string {
  return writeHandover({ messages: messages(...parts) }, { maxChars, stem: stemmer }).text;
}

/** The lines under a heading of a hand-over; empty: it has no such section. */
export function section(text: string, heading: string): string {
  const [, after = ''] = text.split(`## ${heading}\n`);
  return after.split('\n\n## ')[0] ?? '';
}
