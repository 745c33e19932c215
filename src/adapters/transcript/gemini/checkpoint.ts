import type { ConversationMessage } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { typedText, withTyped } from '../typed-text.ts';
import type { Answers } from './answers.ts';
import type { LogMessage } from './log.ts';
import { readMessage } from './message.ts';

/** What Gemini CLI itself puts into a list of messages, and which says nothing of the conversation. */
const FILLERS = new Set([
  'Got it. Thanks for the additional context!',
  '[The previous response was interrupted before it completed.]',
]);

/** A message of a checkpoint: how the log knows it, and what it says (null: nothing, or nothing new). */
export type CheckpointMessage = { readonly known: LogMessage; readonly message: ConversationMessage | null };

/** The messages of a checkpoint that have ids; others Gemini CLI passes over. One that cannot be read says nothing. */
export function readCheckpoint(
  messages: readonly Json[],
  { line, answers }: { readonly line: number; readonly answers: Answers },
): readonly CheckpointMessage[] {
  return messages.filter(isRecord).flatMap((record): readonly CheckpointMessage[] => {
    const id = stringAt(record, 'id');
    if (id === undefined) return [];
    const reading = readMessage(record, line);
    if ('problem' in reading) return [{ known: { id, key: '', isSaid: false }, message: null }];
    const { message = null } = reading.decoded;
    const isTold = answers.toldAt(reading) !== null;
    answers.add(reading, line);
    const text = message?.content.trim() ?? '';
    const isSaid = !isTold && text !== '' && !FILLERS.has(text);
    return [{ known: { id, key: reading.key, isSaid }, message: isSaid ? message : null }];
  });
}

/**
 * What a checkpoint is to the conversation. repeats: nothing of its own. summary: what Gemini CLI's compression left, or fragments beside a summary of
 * ours. message: it holds what was said, and nothing else does (a session that was compacted while Gemini CLI had it in memory).
 */
export type CheckpointKind = 'repeats' | 'summary' | 'message';

export function kindOfCheckpoint(only: readonly ConversationMessage[], hasSummary: boolean): CheckpointKind {
  if (only.length === 0) return 'repeats';
  return hasSummary || only.some(isSnapshot) ? 'summary' : 'message';
}

/** A clip-archive may quote one. */
function isSnapshot({ role, content }: ConversationMessage): boolean {
  return role === 'user' && content.includes('<state_snapshot>') && !isClipArchiveText(content);
}

/** A checkpoint by what it says that stands nowhere else. */
export function decodeCheckpoint(only: readonly ConversationMessage[], kind: CheckpointKind, line: number): Decoded {
  const [first] = only;
  if (first === undefined || kind === 'repeats') return { kind: 'meta' };
  const blocks = only.map(({ role, content }) => `[${role}]\n${content}`);
  const content = only.length === 1 ? first.content : blocks.join('\n\n');
  const message: ConversationMessage = {
    id: `line:${line}`,
    conversation_id: '',
    role: kind === 'summary' ? 'system' : 'user',
    content,
    created_at: only.at(-1)?.created_at ?? null,
    parts: [{ kind: 'text', text: content }],
  };
  if (kind === 'summary') return { kind, boundary: {}, message };
  const typed = typedText(only.flatMap((one) => one.typed ?? []));
  return { kind, hidesBefore: true, message: withTyped(message, typed) };
}
