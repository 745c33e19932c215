import type { ConversationMessage, MessagePart, Role, ToolCall } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, readMilliseconds, stringAt } from '../json.ts';
import { readPartText, refuseDeepNesting, ruleWords, typedText, withTyped } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import type { CompactionNote } from './context.ts';

/** Decodes an entry; `line` names one without an id. Only a message or a compaction can have a problem. */
export function decodeEntry(value: Json, line: number): Noted<CompactionNote> | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const place = { id: stringAt(value, 'id') ?? `line:${line}`, at: readTime(value['timestamp']) };
  return refuseDeepNesting('a call whose arguments are', () => decodeSaid(value, place) ?? { kind: 'meta' });
}

/** null: the model gets nothing from this entry. */
function decodeSaid(entry: JsonRecord, place: EntryPlace): Noted<CompactionNote> | RecordProblem | null {
  switch (entry['type']) {
    case 'message':
      return decodeMessage(entry['message'], place);
    case 'compaction':
      return decodeCompaction(entry, place);
    case 'branch_summary': {
      const summary = stringAt(entry, 'summary') ?? '';
      return summary === '' ? null : decodeWords(summary, place);
    }
    case 'custom_message': {
      const { content } = entry;
      return isContent(content) ? decodeWords(readContent(content).text, place, stringAt(entry, 'customType')) : null;
    }
    default:
      return null;
  }
}

/**
 * pi's compaction, or ours. What it keeps of the entries before it begins at `firstKeptEntryId`; version 1 counts
 * entries instead.
 */
function decodeCompaction(entry: JsonRecord, { id, at }: EntryPlace): Noted<CompactionNote> | RecordProblem {
  const { summary, firstKeptEntryIndex: index } = entry;
  if (typeof summary !== 'string') return { problem: 'a compaction entry whose summary is not a string' };
  const keptFrom = stringAt(entry, 'firstKeptEntryId') ?? (typeof index === 'number' ? entryName(index) : undefined);
  return {
    kind: 'summary',
    ...(keptFrom !== undefined && { note: { keptFrom } }),
    message: {
      id,
      conversation_id: '',
      role: 'system',
      content: summary,
      created_at: at,
      parts: [{ kind: 'text', text: summary }],
    },
  };
}

/** Our name for the n-th entry of a version 1 file, in which entries have no ids. The header is entry 0. */
export function entryName(index: number): string {
  return `entry:${index}`;
}

/** The id and the time of an entry. */
type EntryPlace = { readonly id: string; readonly at: Date | null };

/**
 * The roles of messages with content, and the role in which pi sends each. `hookMessage` is the name of `custom` in
 * version 2.
 */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['toolResult', 'tool'],
  ['custom', 'user'],
  ['hookMessage', 'user'],
]);

/** An entry of type message. A role that pi does not send to the model is not part of the main thread. */
function decodeMessage(message: Json | undefined, { id, at }: EntryPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a message entry without a message' };
  const { role } = message;
  if (typeof role !== 'string') return { problem: "a message entry whose message's role is not a string" };
  const place = { id, at: at ?? readTime(message['timestamp']) };
  if (role === 'bashExecution') {
    const isSide = message['excludeFromContext'] === true;
    return { ...decodeWords(shellText(message), place), ...(isSide && { isSide }) };
  }
  if (role === 'branchSummary' || role === 'compactionSummary') {
    const { summary } = message;
    if (typeof summary !== 'string')
      return { problem: `a message entry whose ${role} message's summary is not a string` };
    return decodeWords(summary, place);
  }
  const sentAs = ROLES.get(role);
  if (sentAs === undefined) return { ...decodeWords('', place), isSide: true };
  const { content } = message;
  if (!isContent(content))
    return { problem: `a message entry whose ${role} message's content is neither text nor a list` };
  return decodeContent({ message, content, role: sentAs }, place);
}

type Said = { readonly message: JsonRecord; readonly content: string | readonly Json[]; readonly role: Role };

function decodeContent({ message, content, role }: Said, { id, at }: EntryPlace): Decoded {
  const { parts, text, calls, isShown } = readContent(content);
  const callId = role === 'tool' ? stringAt(message, 'toolCallId') : undefined;
  const name = stringAt(message, role === 'tool' ? 'toolName' : 'customType');
  const isError = message['isError'] === true;
  const said: ConversationMessage = {
    id,
    conversation_id: '',
    role,
    ...(name !== undefined && { name }),
    content: text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(callId !== undefined && { tool_call_id: callId }),
    created_at: at,
    parts: callId === undefined ? parts : [{ kind: 'result', callId, text, isError }],
  };
  return {
    kind: 'message',
    ...(calls.length > 0 && { calls: calls.map((call) => call.id) }),
    ...(callId !== undefined && { results: [callId] }),
    ...(message['role'] === 'user' && isShown && { isPrompt: true }),
    message: message['role'] === 'user' ? withTyped(said, readTyped(parts), ruleWords(textsOf(parts))) : said,
  };
}

/**
 * What pi adds before a prompt in the same text: files named on the command line, and a skill. Their text may contain
 * the closing tag, so the last one counts.
 */
const ATTACHED = /^\s*<(file|skill) name="[^"\n]*"[^>\n]*>/;

function readTyped(parts: readonly MessagePart[]): string | undefined {
  return typedText(textsOf(parts).map(withoutAttached));
}

function textsOf(parts: readonly MessagePart[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}

function withoutAttached(text: string): string {
  const tag = ATTACHED.exec(text)?.[1];
  if (tag === undefined) return text;
  const end = text.lastIndexOf(`</${tag}>`);
  return end < 0 ? '' : text.slice(end + tag.length + 3).trim();
}

/** Text that pi sends as the user's although no person typed it as a prompt. */
function decodeWords(text: string, { id, at }: EntryPlace, name?: string): Decoded {
  const parts: readonly MessagePart[] = text === '' ? [] : [{ kind: 'text', text }];
  return {
    kind: 'message',
    message: {
      id,
      conversation_id: '',
      role: 'user',
      ...(name !== undefined && { name }),
      content: text,
      created_at: at,
      parts,
    },
  };
}

/** The content of a message, without thinking and images. */
type Content = {
  readonly parts: readonly MessagePart[];
  /** The parts as one text: texts, and calls as `name {json}`. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** It holds an image, or text that is not blank. */
  readonly isShown: boolean;
};

/** @throws RangeError if the arguments of a call are nested too deeply to be written as JSON. */
function readContent(content: string | readonly Json[]): Content {
  const parts: MessagePart[] = [];
  const calls: ToolCall[] = [];
  let hasImage = false;
  for (const block of typeof content === 'string' ? [content] : content) {
    const type = isRecord(block) ? block['type'] : undefined;
    if (isRecord(block) && type === 'toolCall') {
      const call = readCall(block);
      if (call.id !== undefined) calls.push({ ...call, id: call.id });
      parts.push(callPart(call));
      continue;
    }
    if (type === 'image') hasImage = true;
    const text = readPartText(block);
    if (text !== '') parts.push({ kind: 'text', text });
  }
  const isShown = hasImage || parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  return { parts, text: textOf(parts), calls, isShown };
}

type Call = { readonly id: string | undefined; readonly name: string; readonly arguments: string };

function readCall(block: JsonRecord): Call {
  const args = block['arguments'] ?? {};
  return {
    id: stringAt(block, 'id'),
    name: stringAt(block, 'name') ?? '',
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  };
}

/** A call without an id can never be answered, so it becomes text. */
function callPart({ id, name, arguments: args }: Call): MessagePart {
  return id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text)).join('\n');
}

/**
 * A command that a person ran in pi's own shell, as text: the command, what it printed, and how it ended if it failed.
 */
function shellText(message: JsonRecord): string {
  const { exitCode, cancelled } = message;
  const failed = typeof exitCode === 'number' && exitCode !== 0;
  return [
    `$ ${stringAt(message, 'command') ?? ''}`,
    stringAt(message, 'output') ?? '',
    cancelled === true ? '(cancelled)' : failed ? `(exit code ${exitCode})` : '',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function isContent(content: Json | undefined): content is string | readonly Json[] {
  return typeof content === 'string' || isList(content);
}

/** The time of an entry (ISO 8601) or of a message (milliseconds since 1970), or null. */
export function readTime(value: Json | undefined): Date | null {
  return readIsoTime(value) ?? readMilliseconds(value);
}
