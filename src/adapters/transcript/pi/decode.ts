import type { MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, readMilliseconds, stringAt } from '../json.ts';
import { argumentText, readPartText, ruleWords, typedText } from '../message-parts.ts';
import type { Noted } from '../session.ts';
import { asTyped, callPart, decodeSaid, decodeSummary, resultPart, type SaidPlace, textParts } from '../said.ts';

/** The id of the first entry before it that a compaction kept. */
export type CompactionNote = { readonly keptFrom: string };

/** Decodes an entry. Only a message or a compaction can have a problem. */
export function decodeEntry(entry: JsonRecord, line: number): Noted<CompactionNote> | RecordProblem {
  const place = { id: stringAt(entry, 'id'), line, at: readTime(entry['timestamp']) };
  const { type, content, message } = entry;
  if (type === 'message') return decodeMessage(message, place);
  if (type === 'compaction') return decodeCompaction(entry, place);
  const summary = type === 'branch_summary' ? (stringAt(entry, 'summary') ?? '') : '';
  if (summary !== '') return decodeWords(summary, place);
  if (type !== 'custom_message' || !isContent(content)) return { kind: 'meta' };
  const words = decodeSaid({ ...place, role: 'user', parts: readContent(content) });
  return decodeWords(words.message.content, place, stringAt(entry, 'customType'));
}

/** pi's compaction, or ours. What it keeps of the entries before it begins at `firstKeptEntryId`; version 1 counts entries instead. */
function decodeCompaction(entry: JsonRecord, place: SaidPlace): Noted<CompactionNote> | RecordProblem {
  const { summary, firstKeptEntryIndex: index } = entry;
  if (typeof summary !== 'string') return { problem: 'a compaction entry whose summary is not a string' };
  const keptFrom = stringAt(entry, 'firstKeptEntryId') ?? (typeof index === 'number' ? entryName(index) : undefined);
  return { ...decodeSummary(summary, place), ...(keptFrom !== undefined && { note: { keptFrom } }) };
}

/** Our name for the n-th entry of a version 1 file, in which entries have no ids. The header is entry 0. */
export function entryName(index: number): string {
  return `entry:${index}`;
}

/** The roles of messages with content, and the role in which pi sends each. `hookMessage` is the name of `custom` in version 2. */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['toolResult', 'tool'],
  ['custom', 'user'],
  ['hookMessage', 'user'],
]);

/** An entry of type message. A role that pi does not send to the model is not part of the main thread. */
function decodeMessage(message: Json | undefined, entryPlace: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a message entry without a message' };
  const { role, summary, content } = message;
  if (typeof role !== 'string') return { problem: "a message entry whose message's role is not a string" };
  const place = { ...entryPlace, at: entryPlace.at ?? readTime(message['timestamp']) };
  if (role === 'bashExecution') {
    const isSide = message['excludeFromContext'] === true;
    return { ...decodeWords(shellText(message), place), ...(isSide && { isSide }) };
  }
  if (role === 'branchSummary' || role === 'compactionSummary') {
    if (typeof summary === 'string') return decodeWords(summary, place);
    return { problem: `a message entry whose ${role} message's summary is not a string` };
  }
  const sentAs = ROLES.get(role);
  if (sentAs === undefined) return { ...decodeWords('', place), isSide: true };
  if (!isContent(content))
    return { problem: `a message entry whose ${role} message's content is neither text nor a list` };
  const callId = sentAs === 'tool' ? stringAt(message, 'toolCallId') : undefined;
  const name = stringAt(message, sentAs === 'tool' ? 'toolName' : 'customType');
  const parts = readContent(content);
  const said = decodeSaid({ ...place, role: sentAs, name, parts });
  if (callId !== undefined) {
    const result = resultPart(callId, said.message.content, message['isError'] === true);
    return decodeSaid({ ...place, role: sentAs, name, parts: [result] });
  }
  if (role !== 'user') return said;
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const isShown = texts.some((text) => text.trim() !== '') || (isList(content) && content.some(isImage));
  return {
    ...asTyped(said, typedText(texts.map(withoutAttached)), ruleWords(texts)),
    ...(isShown && { isPrompt: true }),
  };
}

function isImage(block: Json): boolean {
  return isRecord(block) && block['type'] === 'image';
}

/**
 * What pi adds before a prompt in the same text: files named on the command line, and a skill. Their text may contain
 * the closing tag, so the last one counts.
 */
const ATTACHED = /^\s*<(file|skill) name="[^"\n]*"[^>\n]*>/;

function withoutAttached(text: string): string {
  const tag = ATTACHED.exec(text)?.[1];
  if (tag === undefined) return text;
  const end = text.lastIndexOf(`</${tag}>`);
  return end < 0 ? '' : text.slice(end + tag.length + 3).trim();
}

/** Text that pi sends as the user's although no person typed it as a prompt. */
function decodeWords(text: string, place: SaidPlace, name?: string): Decoded {
  return decodeSaid({ ...place, role: 'user', name, parts: textParts([text]) });
}

/** The content of a message, without thinking and images. */
function readContent(content: string | readonly Json[]): readonly MessagePart[] {
  return (isList(content) ? content : [content]).flatMap((block) => {
    if (!isRecord(block) || block['type'] !== 'toolCall') return textParts([readPartText(block)]);
    return [callPart(stringAt(block, 'id'), stringAt(block, 'name') ?? '', argumentText(block['arguments']))];
  });
}

/** A command that a person ran in pi's own shell, as text: the command, what it printed, and how it ended if it failed. */
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
