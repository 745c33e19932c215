import { readToolCall } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Format, Json, RecordProblem } from '../../../ports/codec.ts';
import { readContent } from '../chat-lines/content.ts';
import { classify, type Said, toDecoded } from '../chat-lines/decode.ts';
import { createCallFinder, createPairing, type Pairing } from '../chat-lines/tools.ts';
import { findDialect } from '../dialects/find-dialect.ts';
import { createListRecords } from '../json-list/records.ts';
import type { UnitKind } from '../json-list/units.ts';
import { idAt, isList, isRecord, stringAt } from '../json.ts';
import { leadingSummaryLine, refuseDeepNesting } from '../message-parts.ts';
import { createTurnTaking } from './context.ts';
import { toChatRecord } from './decode.ts';
import { renderSummary } from './render.ts';

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
const CHECKED = 'nothing reads them back; the result is parsed, and what stays is compared byte for byte';

/** `{messages: […]}` or ShareGPT's `{conversations: […]}`, one conversation a line. */
export const conversationLines: Codec = {
  ...codecFor('line', {
    name: 'conversation-lines',
    title: 'conversations, one a line',
    summary:
      'fine-tuning data ({messages}), ShareGPT ({conversations}), batch requests to OpenAI, Anthropic and Bedrock: each line is compacted by itself, the others stay as they are',
  }),
  detect: detectConversations,
};

/** The same values as the elements of one JSON list. */
export const conversationList: Codec = {
  ...codecFor('element', {
    name: 'conversation-list',
    title: 'a JSON list of conversations',
    summary: 'a .json file, a list of such values: each element is compacted by itself',
  }),
  detect: ([beginning]) => detectIn(isList(beginning) ? beginning : []),
};

/** One such value, which is the whole file. */
export const conversationDocument: Codec = {
  ...codecFor('file', {
    name: 'conversation-document',
    title: 'one conversation in a JSON file',
    summary:
      'a .json file [message, …], {messages: […]} or {conversations: […]}, as requests to chat models are stored',
  }),
  detect: ([beginning = null]) => detectIn([isList(beginning) ? { messages: beginning } : beginning]),
};

function codecFor(unit: UnitKind, format: Pick<Format, 'name' | 'title' | 'summary'>): Omit<Codec, 'detect'> {
  return {
    format: { ...format, checked: CHECKED, layout: { kind: unit === 'line' ? 'lists' : 'document', links: 'order' } },
    records: createListRecords({ unit, kind: 'list', keys: LIST_KEYS, orItself: unit === 'file' }),
    open: createConversationSession,
  };
}

/** How sure we are that each line holds a conversation. */
function detectConversations(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there are no records to judge by' };
  return detectIn(sample);
}

/** Judges by the share of values that hold a conversation; the last one may be cut off. */
function detectIn(values: readonly Json[]): Detection {
  const lists = values.flatMap((value) => {
    const list = LIST_KEYS.map((key) => valueAt(value, key)).find(isList);
    return list === undefined ? [] : [list];
  });
  if (lists.length === 0) return { confidence: 0, reason: 'no record has a list "messages" or "conversations"' };
  const spoken = lists.filter((list) => list.some(isSpoken)).length;
  if (spoken === 0) return { confidence: 0, reason: 'the lists hold no messages with a role, or with from and value' };
  const reason = `${countOf(spoken, 'record')} with a list of messages`;
  return { confidence: spoken >= values.length / 2 ? 0.85 : 0.5, reason };
}

/** The value under `a`, or under `a.b`. */
function valueAt(value: Json, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

/** A message that was cut off counts too. */
function isSpoken(element: Json): boolean {
  if (isRecord(element) && (stringAt(element, 'role') ?? stringAt(element, 'from')) !== undefined) return true;
  return findDialect(element) !== null;
}

/** State of the current conversation. */
type ListState = { hasBegun: boolean; readonly pairing: Pairing };

/**
 * Elements are messages as in chat lines. Beyond the current conversation, it remembers which lines are summaries, and
 * which call each result without an id answers.
 */
export function createConversationSession(): CodecSession {
  const summaryLines = new Set<number>();
  const callFinder = createCallFinder();
  const turnTaking = createTurnTaking();
  let list = createListState();

  const note = ({ role }: Said, content: ReturnType<typeof readContent>, line: number): void => {
    const isSummary = !list.hasBegun && role !== 'assistant' && isClipArchiveText(content.text);
    if (isSummary) summaryLines.add(line);
    if (!isSummary && role === 'system') return;
    list.hasBegun = true;
    for (const id of content.results) list.pairing.noteResult('', id);
    if (content.results.length === 0) list.pairing.noteCalls('', content.calls.map(readToolCall));
  };

  const read = (value: Json, line: number, isFirstPass: boolean): Decoded | RecordProblem =>
    refuseDeepNesting('a message that is', (): Decoded | RecordProblem => {
      const said = classify(toChatRecord(value));
      if ('problem' in said) return said;
      if (said.kind === 'meta') {
        if (isFirstPass && isRecord(value) && value['type'] === 'reasoning') turnTaking.noteReasoning(line);
        return said;
      }
      const findCall = isFirstPass
        ? callFinder.take(list.pairing, { line, conversation: '' })
        : callFinder.recall(line);
      const content = readContent(said.record, { line, isResult: said.role === 'tool', findCall });
      if (isFirstPass) {
        turnTaking.note(said.record, line);
        note(said, content, line);
      }
      return toDecoded({ said, content, line, isSummary: summaryLines.has(line) });
    });
  const openList = (around: Json, line: number): { readonly conversation?: string } => {
    list = createListState();
    turnTaking.open(around, line);
    const id = isRecord(around) ? ID_KEYS.map((key) => idAt(around, key)).find((one) => one !== undefined) : undefined;
    return id === undefined || id === '' ? {} : { conversation: id };
  };
  return {
    observe: (value, line) => read(value, line, true),
    decode: (value, line) => read(value, line, false),
    openList,
    readContext,
    legalCuts: turnTaking.cutProblem,
    renderSummary: (input) => renderSummary(input, turnTaking.isAnthropicRequest(input.beforeLine)),
  };
}

function createListState(): ListState {
  return { hasBegun: false, pairing: createPairing() };
}

/** Everything in the list is in the context. */
function readContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}
