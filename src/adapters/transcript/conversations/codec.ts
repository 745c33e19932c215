import { countOf } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Format, Json, SummaryInput } from '../../../ports/codec.ts';
import { readToolBlock } from '../chat-lines/content.ts';
import { createChatReader } from '../chat-lines/decode.ts';
import { findDialect, renderInDialect, toChatElement } from '../chat-lines/dialects.ts';
import { FORMATS } from '../formats.ts';
import { createListRecords } from '../json-list/records.ts';
import type { UnitKind } from '../json-list/units.ts';
import { idAt, isList, isRecord, type JsonRecord, recordsAt, stringAt, valueAt } from '../json.ts';
import { summaryRole } from '../message-parts.ts';
import { createSession, notOurs } from '../session.ts';

/** Where a conversation has its messages: in the value itself, in the request of a batch file's line, or in a state of LangGraph. */
const LIST_KEYS = [
  'messages',
  'conversations',
  'body.messages',
  'body.input',
  'params.messages',
  'modelInput.messages',
  'values.messages',
  'channel_values.messages',
] as const;
const ID_KEYS = ['id', 'conversation_id', 'custom_id', 'recordId'] as const;

/** `{messages: […]}` or ShareGPT's `{conversations: […]}`, one conversation a line. */
export const conversationLines: Codec = {
  ...codecFor('line', FORMATS.conversationLines),
  detect: (sample) => (sample.length === 0 ? notOurs('there are no records to judge by') : detectIn(sample)),
};

/** The same values as the elements of one JSON list. */
export const conversationList: Codec = {
  ...codecFor('element', FORMATS.conversationList),
  detect: ([beginning]) => detectIn(isList(beginning) ? beginning : []),
};

/** One such value, which is the whole file. */
export const conversationDocument: Codec = {
  ...codecFor('file', FORMATS.conversationDocument),
  detect: ([beginning = null]) => detectIn([isList(beginning) ? { messages: beginning } : beginning]),
};

function codecFor(unit: UnitKind, format: Format): Omit<Codec, 'detect'> {
  const records = createListRecords({ unit, kind: 'list', keys: LIST_KEYS, orItself: unit === 'file' });
  return { format, records, open: createListSession };
}

/** Judges by the share of values that hold a conversation; the last one may be cut off. */
function detectIn(values: readonly Json[]): Detection {
  const lists = values.flatMap((value) => {
    const list = LIST_KEYS.map((key) => valueAt(value, ...key.split('.'))).find(isList);
    return list === undefined ? [] : [list];
  });
  if (lists.length === 0) return notOurs('no record has a list "messages" or "conversations"');
  const spoken = lists.filter((list) => list.some(isSpoken)).length;
  if (spoken === 0) return notOurs('the lists hold no messages with a role, or with from and value');
  const reason = `${countOf(spoken, 'record')} with a list of messages`;
  return { confidence: spoken >= values.length / 2 ? 0.85 : 0.5, reason };
}

/** A message that was cut off counts too. */
function isSpoken(element: Json): boolean {
  return (stringAt(element, 'role') ?? stringAt(element, 'from')) !== undefined || findDialect(element) !== null;
}

/** Reads the elements of one conversation after another: messages as in chat lines, and those of ShareGPT and of the Responses API. */
export function createElementReader(note: Parameters<typeof createChatReader>[0]['note'] = () => undefined) {
  return createChatReader({ toChat: toChatElement, isSummary: ({ role }) => role !== 'assistant', note });
}

/**
 * Where a summary can stand in histories in Anthropic's style, as the APIs of Anthropic and Bedrock take them: only the roles user
 * and assistant, which take turns, and lists of blocks as content. The role system does not exist in them.
 */
function createListSession(): CodecSession {
  const shapes = new Map<number, Shape>();
  const reasoned = new Set<number>(); // the lines after OpenAI's reasoning items, which belong to the item after them
  const requests: { readonly line: number; readonly isAnthropic: boolean }[] = [];
  const reader = createElementReader((said, { value, line }) => {
    if (said.kind === 'said') shapes.set(line, shapeOf(said.record));
    else if (stringAt(value, 'type') === 'reasoning') reasoned.add(line + 1);
  });
  /** Whether the list with this line is a request to an API in Anthropic's style, whatever its messages look like. */
  const isAnthropicRequest = (line: number | undefined): boolean =>
    line !== undefined && requests.findLast((request) => request.line < line)?.isAnthropic === true;
  return createSession({
    what: 'a message that is',
    read: reader.read,
    openList: (around, line) => {
      reader.startOver();
      // A line of a batch file: `{custom_id, params}` of Anthropic, `{recordId, modelInput}` of Bedrock.
      requests.push({ line, isAnthropic: isRecord(around['params']) || isRecord(around['modelInput']) });
      const id = ID_KEYS.map((key) => idAt(around, key)).find((one) => one !== undefined);
      return id === '' ? undefined : id;
    },
    legalCuts: (entries) => {
      const messages = entries.filter(({ kind }) => kind === 'message' || kind === 'summary' || kind === 'instruction');
      const isOurs =
        isAnthropicRequest(messages[0]?.line) ||
        isAnthropicStyle(messages.map(({ line }) => shapes.get(line) ?? 'other'));
      const sides = messages.map(({ role }) => role === 'assistant');
      const takeTurns = isOurs && !sides.some((side, at) => at > 0 && side === sides[at - 1]);
      const answers = new Set(messages.flatMap(({ line, role }) => (role === 'assistant' ? [line] : [])));
      return (line) => {
        if (reasoned.has(line)) return 'the model reasoned right before it, in an item of its own';
        return takeTurns && !answers.has(line)
          ? 'users and assistants take turns, and the summary is a user message'
          : null;
      };
    },
    renderSummary: (input) => [renderSummary(input, isAnthropicRequest(input.beforeLine))],
  });
}

/**
 * tools: blocks that make or answer calls. blocks: other blocks. text: not a list. other: a role unknown to Anthropic.
 */
type Shape = 'tools' | 'blocks' | 'text' | 'other';

function shapeOf({ role, content }: JsonRecord): Shape {
  if (role !== 'user' && role !== 'assistant') return 'other';
  if (!isList(content)) return 'text';
  return content.some((block) => isRecord(block) && readToolBlock(block) !== null) ? 'tools' : 'blocks';
}

function isAnthropicStyle(shapes: readonly Shape[]): boolean {
  if (shapes.length === 0 || shapes.includes('other')) return false;
  return shapes.includes('tools') || !shapes.includes('text');
}

/**
 * One element in the style of its neighbors: `{from, value}` or `{role, content}`. In histories in Anthropic's style,
 * which have no role system, it is a user message.
 */
function renderSummary(input: SummaryInput, isAnthropicRequest: boolean): string {
  const { text, firstKept, firstDropped = null, lastDropped } = input;
  const neighbors = [firstKept, firstDropped, lastDropped].filter(isRecord);
  const dialect = renderInDialect(input);
  if (dialect !== null) return dialect;
  const isShareGpt = neighbors.some((record) => 'from' in record && !('role' in record));
  const isAnthropic = isAnthropicRequest || isAnthropicStyle(neighbors.map(shapeOf));
  const role = isAnthropic ? 'user' : summaryRole(input);
  if (isShareGpt) return JSON.stringify({ from: role === 'user' ? 'human' : 'system', value: text });
  const areBlocks = isAnthropic && neighbors.every(({ content }) => isList(content));
  return JSON.stringify({ role, content: areBlocks ? [textBlock(text, neighbors)] : text });
}

/** The text as a block like those of the messages around it: Bedrock's have no type. */
function textBlock(text: string, neighbors: readonly JsonRecord[]): object {
  const blocks = neighbors.flatMap((neighbor) => recordsAt(neighbor, 'content'));
  return blocks.some((block) => 'text' in block && !('type' in block)) ? { text } : { type: 'text', text };
}
