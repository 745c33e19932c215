import type { ConversationMessage, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import { idAt, stringAt } from '../json.ts';
import { withTyped } from '../typed-text.ts';
import type { Content } from './content.ts';
import { isPersonsRole, type Said } from './record.ts';
import { parseTime } from './time.ts';

export type MessageSource = {
  readonly said: Said;
  readonly content: Content;
  readonly line: number;
  /** It is the summary that stands for everything before it. */
  readonly isSummary: boolean;
};

export function toDecoded(source: MessageSource): Decoded {
  const { said, content, isSummary } = source;
  const message = toMessage(source);
  const calls = content.calls.map((call) => call.id);
  const isPersons = message.role === 'user' && isPersonsRole(said.givenRole) && !isClipArchiveText(content.text);
  const typed = isPersons ? content.typed : undefined;
  return {
    kind: isSummary ? 'summary' : isInstruction(said, content) ? 'instruction' : 'message',
    ...(isSummary && isPersonsRole(said.givenRole) && { isUnmarked: true }),
    ...(said.conversation !== undefined && { conversation: said.conversation }),
    ...(calls.length > 0 && { calls }),
    ...(content.results.length > 0 && { results: content.results }),
    ...(typed !== undefined && { isPrompt: true }),
    message: withTyped(message, typed),
  };
}

/** Of two compacted files that were joined, the second's clip-archive stands in the middle: it tells what was said, and goes as that does. */
function isInstruction({ role }: Said, { text }: Content): boolean {
  return role === 'system' && !isClipArchiveText(text);
}

function toMessage({ said, content, line, isSummary }: MessageSource): ConversationMessage {
  const { record, givenRole } = said;
  const role = isSummary ? 'system' : roleOf(said, content);
  const name = stringAt(record, 'name') ?? (role === 'user' && !isPersonsRole(givenRole) ? givenRole : undefined);
  return {
    id: idAt(record, 'id') ?? `line:${line}`,
    conversation_id: said.conversation ?? '',
    role,
    ...(name !== undefined && name !== '' && { name }),
    content: content.text,
    ...(content.calls.length > 0 && { tool_calls: content.calls }),
    ...(role === 'tool' && content.results[0] !== undefined && { tool_call_id: content.results[0] }),
    created_at: parseTime(record['created_at']) ?? parseTime(record['timestamp']),
    parts: content.parts,
  };
}

/** Anthropic's results stand in a user's turn; those of tools that its server ran stand in the assistant's own. */
function roleOf({ role }: Said, { hasResultBlock }: Content): Role {
  return role === 'user' && hasResultBlock ? 'tool' : role;
}
