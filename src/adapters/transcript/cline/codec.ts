import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createElementReader } from '../conversations/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, type JsonRecord, listAt, parseText, readMilliseconds, stringAt, valueAt } from '../json.ts';
import { leadingSummaryLine, typedText, withTyped } from '../message-parts.ts';
import { textBlocks } from '../said.ts';
import { createSession, notOurs } from '../session.ts';

/** The histories that Cline and Roo Code send to a model: `api_conversation_history.json`, and `*.messages.json` of newer Clines. */
export const cline: Codec = {
  format: FORMATS.cline,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'], orItself: true }),
  formsOf,
  detect: ([beginning = null]) => detectCline(beginning),
  open: createTaskSession,
};

/**
 * Roo Code marks messages that a summary or a marker of its own hides. A task that is taken up again goes on in the last message if a person
 * or a tool said it: both programs write that message anew, with its text as a block, a new time, and new details of the environment.
 */
function formsOf(element: Json): readonly Json[] {
  if (!isRecord(element)) return [element];
  const { condenseParent: _condensed, truncationParent: _truncated, ...stored } = element;
  const { ts: _, content = null, ...message } = stored;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (message['role'] !== 'user' || !isList(blocks)) return [stored];
  const isDetails = (block: Json): boolean => {
    const [text = ''] = isRecord(block) ? textBlocks(block) : [];
    return /^\s*<environment_details>[^]*<\/environment_details>\s*$/.test(text);
  };
  const lasting = blocks.filter((block) => !isDetails(block));
  return [lasting, ...lasting.slice(1).map((__, at) => lasting.slice(0, -1 - at))].map((first) => ({
    ...message,
    content: first,
  }));
}

function detectCline(beginning: Json): Detection {
  const isSession = isRecord(beginning) && typeof beginning['sessionId'] === 'string' && 'agent' in beginning;
  const list = isSession ? beginning['messages'] : beginning;
  const messages = (isList(list) ? list : []).filter(isRecord).filter((record) => 'role' in record);
  const isAnthropics = messages.every(({ role }) => role === 'user' || role === 'assistant');
  if (messages.length === 0 || !isAnthropics) return notOurs('it is not a list of messages of user and assistant');
  if (isSession) return { confidence: 0.95, reason: "messages in a session of Cline's" };
  const own = messages.filter(isDistinctive).length;
  if (own === 0) return { confidence: 0.3, reason: 'no message has what Cline or Roo Code adds to it' };
  return { confidence: 0.95, reason: `${countOf(own, 'message')} as Cline and Roo Code write them` };
}

const OWN_KEYS = ['isSummary', 'condenseId', 'condenseParent', 'truncationParent', 'isTruncationMarker'];
const OWN_TEXT = /^\s*<(?:task|user_message|environment_details)>\s|^\[TASK RESUMPTION\]/;

/** Roo's marks, a time in milliseconds beside blocks, or what both programs add to a prompt. */
function isDistinctive(record: JsonRecord): boolean {
  const { content } = record;
  if (OWN_KEYS.some((key) => key in record)) return true;
  if (!isList(content)) return false;
  return typeof record['ts'] === 'number' || content.some((block) => OWN_TEXT.test(stringAt(block, 'text') ?? ''));
}

/** What Roo Code notes beside a message. */
function readMark(record: JsonRecord) {
  return {
    isSummary: record['isSummary'] === true,
    /** The id of a marker that hides messages. */
    marker: record['isTruncationMarker'] === true ? (stringAt(record, 'truncationId') ?? '') : undefined,
    /** The marker that hides this message, if it is in the file. */
    hiddenBy: stringAt(record, 'truncationParent'),
  };
}

/** Messages are read as in other conversations; this adds Roo's own marks, times, and what a person typed. */
function createTaskSession(): CodecSession {
  const reader = createElementReader();
  const marks = new Map<number, ReturnType<typeof readMark>>();
  const seen = { isSession: false };
  const readContext = (entries: readonly Entry[]): ContextView => {
    const own = entries.findLast(({ line }) => marks.get(line)?.isSummary === true)?.line;
    const markers = new Set(entries.flatMap(({ line }) => marks.get(line)?.marker ?? []));
    return {
      priorLine: own ?? leadingSummaryLine(entries),
      isStale: ({ line }) => (own !== undefined && line < own) || markers.has(marks.get(line)?.hiddenBy ?? ''),
      isInSummary: ({ line }) => own !== undefined && line < own,
    };
  };
  return createSession({
    what: 'a message that is',
    read: (record, place) => {
      if (place.isFirstPass) marks.set(place.line, readMark(record));
      const decoded = reader.read(record, place);
      return 'problem' in decoded ? decoded : withMarks(decoded, record, seen.isSession);
    },
    openList: (around) => {
      reader.startOver();
      const sessionId = stringAt(around, 'sessionId');
      seen.isSession = sessionId !== undefined;
      return sessionId;
    },
    readContext,
    legalCuts: (entries) => {
      const { isStale } = readContext(entries);
      const isAnswer = (entry: Entry): boolean =>
        entry.kind === 'message' && entry.role === 'assistant' && !isStale(entry);
      const legal = new Set(entries.filter(isAnswer).map(({ line }) => line));
      return (line) => (legal.has(line) ? null : 'the summary is a user message, so an answer must follow it');
    },
    renderSummary,
  });
}

function withMarks(decoded: Decoded, record: JsonRecord, isSession: boolean): Decoded {
  if (decoded.message === undefined) return decoded;
  const { marker, isSummary } = readMark(record);
  if (marker !== undefined) return { kind: 'meta' };
  const { isPrompt: _, ...facts } = decoded;
  const { typed: _typed, ...said } = decoded.message;
  const message = { ...said, created_at: said.created_at ?? readMilliseconds(record['ts']) };
  if (isSummary || decoded.kind === 'summary')
    return { ...facts, kind: 'summary', message: { ...message, role: 'system' } };
  const { role } = message;
  const typed = role === 'user' || role === 'tool' ? readTyped(record, isSession) : undefined;
  const ruleText = role === 'user' ? readRuleText(record, isSession) : undefined;
  return {
    ...facts,
    ...(typed !== undefined && role === 'user' && { isPrompt: true }),
    message: withTyped(message, typed, ruleText),
  };
}

/** What both programs put around the words of a person. */
const TYPED = /<(task|user_message|feedback|answer)>\n?([\s\S]*?)\n?<\/\1>/g;
const STARTS_TYPED =
  /^\s*(?:<(?:task|user_message|feedback|answer)>|\[TASK RESUMPTION\]|The user (?:denied|has provided))/;
/** Before the tools of the API were used, a result was a line like this and a block with the output. */
const RESULT_LINE = /^\[(\w+)[^\n]*\] Result:\s*/;
/** Tools whose result is what a person answered. */
const ASKING = new Set(['ask_followup_question', 'attempt_completion', 'plan_mode_respond', 'new_task', 'condense']);

/**
 * What a person typed in a user's record: the words in the tags that Cline and Roo Code put around them, also in
 * answers to a question and in a denied call. Output of other tools may contain such tags and is not searched.
 * In sessions of newer Clines a text is a person's, unless it has a tag of Cline's.
 */
function readTyped({ content = null, metadata }: JsonRecord, isSession: boolean): string | undefined {
  if (stringAt(metadata, 'displayRole') === 'system') return undefined;
  const blocks = isList(content) ? content : [content];
  const typed: string[] = [];
  let isOutput = false;
  for (const block of blocks) {
    const text = textOf(block);
    const tool = RESULT_LINE.exec(text);
    const rest = text.replace(RESULT_LINE, '');
    const isFromTool = tool !== null && !ASKING.has(tool[1] ?? '');
    const isSkipped: boolean = (isFromTool || isOutput) && !rest.startsWith('The user denied');
    isOutput = isFromTool && rest === '';
    if (isSkipped) continue;
    if (stringAt(block, 'type') !== 'tool_result') typed.push(...(isSession ? wordsOfSession(rest) : wordsIn(rest)));
    else {
      // Roo Code's answer to a call that a person denied or commented on: `{status, feedback}`.
      const feedback = rest.startsWith('{"status":') ? stringAt(parseText(rest), 'feedback') : undefined;
      typed.push(...wordsIn(rest), feedback ?? '');
    }
  }
  return typedText(typed.map((text) => text.trim()));
}

function textOf(block: Json): string {
  if (typeof block === 'string') return block;
  if (stringAt(block, 'type') !== 'tool_result') return stringAt(block, 'text') ?? '';
  const parts = listAt(block, 'content').map((part) => stringAt(part, 'text') ?? '');
  return stringAt(block, 'content') ?? parts.join('\n');
}

function wordsIn(text: string): readonly string[] {
  if (!STARTS_TYPED.test(text)) return [];
  return Array.from(text.matchAll(TYPED), ([, , words = '']) => words);
}

const USER_INPUT = /<user_input\b[^>]*>([\s\S]*)<\/user_input>/;
const CLINES_TAG = /^\s*<(?:SYSTEM_NOTICE|mode_notice|file_content|environment_details|user_command)\b/;

function wordsOfSession(text: string): readonly string[] {
  const [, words] = USER_INPUT.exec(text) ?? [];
  if (words !== undefined) return [words];
  return CLINES_TAG.test(text) ? [] : [text];
}

const SURROUNDINGS = /^\s*<environment_details>/;
const PROMPT = /^\s*<(task|user_message|user_input)\b[^>\n]*>\n?([\s\S]*?)\n?<\/\1>/;

/**
 * What may state rules: the first block of a record that answers no call, in the tag that both programs put around a prompt, up to its first
 * end. What stands behind it, or in later blocks, may quote a file, a page or a tool. A list without a session could be the log of any chat in
 * which somebody wrote such a tag; both programs add their surroundings as a block of their own, which the text of one message cannot.
 */
function readRuleText({ content = null }: JsonRecord, isSession: boolean): string | undefined {
  const blocks = isList(content) ? content : [content];
  if (blocks.some((block) => stringAt(block, 'type') === 'tool_result')) return undefined;
  const [first = null, ...rest] = blocks;
  if (!isSession && !rest.some((block) => SURROUNDINGS.test(textOf(block)))) return undefined;
  return PROMPT.exec(textOf(first))?.[2];
}

/** A user's message with the keys that the messages around it have: Cline once sent records as they were stored. */
function renderSummary({ text, firstKept, firstDropped = null, lastDropped, uuid }: SummaryInput): readonly string[] {
  const neighbors = [firstKept, firstDropped, lastDropped].filter(isRecord);
  const areNamed = neighbors.every((record) => typeof record['id'] === 'string');
  const areTimed = neighbors.every((record) => typeof record['ts'] === 'number');
  const areTexts = neighbors.every(({ content }) => typeof content === 'string');
  const record = {
    id: areNamed ? `msg_${uuid('summary')}` : undefined,
    role: 'user',
    content: areTexts ? text : [{ type: 'text', text }],
    ts: areTimed ? valueAt(lastDropped, 'ts') : undefined,
  };
  return [JSON.stringify(record)];
}
