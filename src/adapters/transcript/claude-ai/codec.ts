import type { MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { detectConversations } from '../json-list/detect.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, type JsonRecord, listOf, readIsoTime, recordsAt, stringAt } from '../json.ts';
import { argumentText, contentText, leadingSummaryLine, readPartText, typedText } from '../message-parts.ts';
import { callPart, resultPart, say, textBlocks, textParts } from '../said.ts';
import { createSession } from '../session.ts';
import { buildTree } from '../parents.ts';

/** `conversations.json` of a Claude.ai export: a list of conversations with their messages. */
export const claudeAi: Codec = {
  format: FORMATS.claudeAi,
  records: createListRecords({ unit: 'element', kind: 'list', keys: ['chat_messages'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, 'a list "chat_messages"', (value) => isList(value['chat_messages'])),
  open: () =>
    createSession({
      what: 'a call whose arguments are',
      read: (record, { line }) => readMessage(record, line),
      openList: (around) => stringAt(around, 'uuid'),
      readContext: (entries) => {
        const branches = findBranches(entries);
        return { priorLine: leadingSummaryLine(entries), isStale: ({ line }) => branches.has(line) };
      },
      renderSummary,
    }),
};

/** An element of `chat_messages`. What neither a person nor the model says is carried along. */
function readMessage(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { sender, content, text } = record;
  if (sender !== 'human' && sender !== 'assistant') return { kind: 'meta' };
  if (content === undefined && text === undefined)
    return { problem: `a message of the ${sender} with neither content nor text` };
  const id = stringAt(record, 'uuid');
  const parts = readParts(record, id ?? `line:${line}`);
  const decoded = (role: Role, typed?: string): Decoded =>
    say(
      { line, id, role, parts, at: readIsoTime(record['created_at']), typed },
      { recordId: id, parentId: stringAt(record, 'parent_message_uuid'), ...(role === 'user' && { isPrompt: true }) },
    );
  if (sender === 'assistant') return decoded('assistant');
  const summary = decoded('system');
  return isClipArchiveText(summary.message?.content ?? '')
    ? { ...summary, kind: 'summary', isUnmarked: true }
    : decoded('user', readTyped(record));
}

/**
 * The content of a message: its blocks (or its `text`, in exports without blocks), and its attachments: pasted text and documents are sent with
 * the message; a file of which the export has only the name is media. If the export has no ids for calls, they are numbered within their message.
 * @throws RangeError if the arguments of a call are nested too deeply to be written as JSON.
 */
function readParts(message: JsonRecord, messageId: string): readonly MessagePart[] {
  const { content = null, text } = message;
  const blocks = readBlocks(listOf(content), messageId);
  const attached = recordsAt(message, 'attachments').map((one) => stringAt(one, 'extracted_content') ?? '');
  return [...(blocks.length === 0 ? textParts([readPartText(text)]) : blocks), ...textParts(attached)];
}

/** What a person typed: the text without the attachments. */
function readTyped({ content, text }: JsonRecord): string | undefined {
  const blocks = recordsAt(content);
  return typedText(blocks.length === 0 ? [readPartText(text)] : blocks.flatMap((block) => textBlocks(block)));
}

function readBlocks(blocks: readonly (Json | undefined)[], messageId: string): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  let lastCall: string | undefined;
  for (const [index, block] of blocks.entries()) {
    const type = stringAt(block, 'type');
    if (isRecord(block) && type === 'tool_use') {
      lastCall = stringAt(block, 'id') ?? `${messageId}:${index}`;
      parts.push(callPart(lastCall, stringAt(block, 'name') ?? '', argumentText(block['input'])));
    } else if (isRecord(block) && type === 'tool_result') {
      const callId = stringAt(block, 'tool_use_id') ?? lastCall;
      parts.push(resultPart(callId, contentText(block['content']), block['is_error'] === true));
    } else if (type !== 'token_budget') parts.push(...textParts([readPartText(block)]));
  }
  return parts;
}

/** The parent that the first message of a conversation names. */
const ROOT_ID = '00000000-0000-4000-8000-000000000000';

/**
 * The lines of messages that were edited or answered again: those that lead to the path from the last message to the
 * root, or to the root itself, but are not on the path. If messages name no parents, or their parents are gone, there
 * is no sign that they are such messages.
 */
function findBranches(entries: readonly Entry[]): ReadonlySet<number> {
  const tree = buildTree(entries);
  const path = tree.pathFrom(entries.findLast(({ kind }) => kind === 'message'));
  const reachesRoot = path.at(-1)?.parentId === ROOT_ID;
  const onPath = new Set(path);
  const branchesOff = tree.askUpwards((entry) => {
    if (onPath.has(entry)) return true;
    return entry.parentId === ROOT_ID ? reachesRoot : undefined;
  }, false);
  const branches = entries.filter((entry) => entry.kind === 'message' && !onPath.has(entry) && branchesOff(entry));
  return new Set(branches.map(({ line }) => line));
}

/**
 * A user message with the keys that the export uses. If messages name their parents, it takes the uuid that the first
 * kept one names, so that the path up from the last message leads through it.
 */
function renderSummary({ text, firstKept, lastDropped, uuid }: SummaryInput): readonly string[] {
  const parent = stringAt(firstKept, 'parent_message_uuid');
  const time = stringAt(lastDropped, 'created_at') ?? stringAt(firstKept, 'created_at');
  const record = {
    uuid: parent === undefined || parent === ROOT_ID ? uuid('summary') : parent,
    text,
    content: [{ type: 'text', text }],
    sender: 'human',
    created_at: time,
    updated_at: time,
    attachments: [],
    files: [],
    parent_message_uuid: parent === undefined ? undefined : ROOT_ID,
  };
  return [JSON.stringify(record)];
}
