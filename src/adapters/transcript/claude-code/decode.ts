import type { MessagePart, Role } from '../../../core/message.ts';
import { isClientOnly, isClientText } from '../../../core/producer-texts.ts';
import type { EntryFacts } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, listOf, readIsoTime, recordAt, stringAt, valueAt } from '../json.ts';
import {
  argumentText,
  documentText,
  joinTexts,
  readPartText,
  refuseDeepNesting,
  ruleWords,
  typedText,
} from '../message-parts.ts';
import type { Noted } from '../session.ts';
import { callPart, conversationOf, linksOf, resultPart, type SaidPlace, say, textBlocks, textParts } from '../said.ts';

/** What a record says about the thread. */
export type ThreadNote =
  /** The producer's own compaction stands here. It kept these records before it (ids, both included). */
  | { readonly kind: 'boundary'; readonly keptFrom?: string; readonly keptTo?: string }
  /** A person went back to this record; the thread ends there unless something follows. */
  | { readonly kind: 'tip'; readonly id: string };

/**
 * Types that are part of the chain of parents, besides messages. A record of another type is too if it names a parent.
 */
const CHAIN_TYPES = new Set(['user', 'assistant', 'system', 'attachment', 'progress']);

/** Decodes a record. Only user and assistant records can have a problem, and attachments that are nested too deeply. */
export function decodeRecord(record: JsonRecord, line: number): Noted<ThreadNote> | RecordProblem {
  const { type } = record;
  if (type === 'attachment') return refuseDeepNesting('an attachment that is', () => decodeAttachment(record, line));
  if (type !== 'user' && type !== 'assistant') return decodeMeta(record);
  const shape = readShape(record);
  if (typeof shape === 'string') return { problem: `${type === 'user' ? 'a user' : 'an assistant'} record ${shape}` };
  const { message, content } = shape;
  const isUser = type === 'user';
  if (!isUser && record['isApiErrorMessage'] === true) return decodeMeta(record);
  const isSummary = isUser && record['isCompactSummary'] === true;
  const role: Role = isSummary ? 'system' : !isUser ? 'assistant' : hasResult(content) ? 'tool' : 'user';
  const words = role === 'tool' ? rejectionWords(record, content) : undefined;
  return say<ThreadNote>(
    {
      ...placeOf(record, line),
      role,
      parts: readParts(content),
      // Whether the words of a rejection may state rules depends on its call, which the session knows.
      typed: isUser ? (words ?? typedPrompt(record, content)) : undefined,
      ruleText: isUser ? (words ?? promptRules(record, content)) : undefined,
    },
    {
      ...(isSummary && { kind: 'summary' }),
      ...readChain(record),
      groupKey: isUser ? undefined : answerKey(record, message),
      ...(isUser && isTypedPrompt(record, content) && { isPrompt: true }),
    },
  );
}

function placeOf(record: JsonRecord, line: number): SaidPlace {
  return {
    id: stringAt(record, 'uuid'),
    line,
    conversation: stringAt(record, 'sessionId'),
    at: readIsoTime(record['timestamp']),
  };
}

/** The message of a user or assistant record and its content, or what is wrong with them. */
function readShape(record: JsonRecord): { message: JsonRecord; content: string | readonly Json[] } | string {
  const { message } = record;
  if (!isRecord(message)) return 'without a message';
  const { content, role } = message;
  if (typeof content !== 'string' && !isList(content)) return "whose message's content is neither text nor a list";
  if (role !== undefined && typeof role !== 'string') return "whose message's role is not a string";
  const badId = ['uuid', 'parentUuid'].find((key) => typeof (record[key] ?? '') !== 'string');
  return badId === undefined ? { message, content } : `whose ${badId} is not a string`;
}

/**
 * What was typed, or reported by a background task, while the model worked: the client sends it as the user's. Other
 * attachments have no words.
 */
function decodeAttachment(record: JsonRecord, line: number): Noted<ThreadNote> {
  const { type, prompt, commandMode } = recordAt(record, 'attachment');
  const meta = decodeMeta(record);
  const isQueued = type === 'queued_command' && (typeof prompt === 'string' || isList(prompt));
  const parts = isQueued && meta.recordId !== undefined ? readParts(prompt) : [];
  if (parts.every((part) => 'text' in part && part.text === '')) return meta;
  return say<ThreadNote>(
    {
      ...placeOf(record, line),
      role: 'user',
      parts,
      typed: typedPrompt(record, prompt),
      ruleText: commandMode === 'prompt' ? promptRules(record, prompt) : undefined,
    },
    {
      ...meta,
      kind: 'message',
      calls: undefined,
      results: undefined,
      isAside: true,
      ...(isTypedPrompt(record, prompt) && { isPrompt: true }),
    },
  );
}

/**
 * The parts of a message, without thinking and media.
 * @throws RangeError if the arguments of a call are nested too deeply to be written as JSON.
 */
export function readParts(content: Json | undefined): readonly MessagePart[] {
  return listOf(content).flatMap((block) => {
    const type = stringAt(block, 'type') ?? '';
    if (!isRecord(block)) return textParts([readPartText(block)]);
    if (type.endsWith('tool_use'))
      return callPart(stringAt(block, 'id'), stringAt(block, 'name') ?? '', argumentText(block['input']));
    if (!type.endsWith('tool_result')) return textParts([blockText(block)]);
    const text = joinTexts(listOf(block['content']).map(blockText));
    return resultPart(stringAt(block, 'tool_use_id'), text, block['is_error'] === true);
  });
}

function blockText(block: Json | undefined): string {
  return isRecord(block) && block['type'] === 'document' ? documentText(block) : readPartText(block);
}

/** The content holds a tool result, with or without an id. */
export function hasResult(content: Json | undefined): boolean {
  return isList(content) && content.some((block) => stringAt(block, 'type')?.endsWith('tool_result') === true);
}

/** The model's answer is written as one record per block, all with its id. */
function answerKey(record: JsonRecord, message: JsonRecord): string | undefined {
  const answer = stringAt(message, 'id');
  const request = stringAt(record, 'requestId');
  return answer === undefined || request === undefined ? answer : `${answer} ${request}`;
}

/** What was sent to the API (2.1.3xx). The client resumes without it, and one record has the texts of all tools. */
const REQUEST_LOG: ReadonlySet<string> = new Set(['api-request', 'api-request-blob', 'api-request-shape']);

function decodeMeta(record: JsonRecord): Noted<ThreadNote> {
  const type = stringAt(record, 'type');
  const chain = readChain(record);
  const isPinned =
    type !== undefined && !CHAIN_TYPES.has(type) && !REQUEST_LOG.has(type) && chain.recordId === undefined;
  const isBoundary = type === 'system' && record['subtype'] === 'compact_boundary';
  const tipId = type === 'last-prompt' && record['explicit'] === true ? stringAt(record, 'leafUuid') : undefined;
  return {
    kind: 'meta',
    ...chain,
    ...(isPinned && { latestKey: type }),
    ...(tipId !== undefined && { note: { kind: 'tip', id: tipId } }),
    ...(isBoundary && { note: readBoundary(record['compactMetadata']) }),
  };
}

function readChain(record: JsonRecord): Pick<EntryFacts, 'conversation' | 'recordId' | 'parentId' | 'isSide'> {
  const isInChain = record['parentUuid'] !== undefined || CHAIN_TYPES.has(stringAt(record, 'type') ?? '');
  return {
    ...conversationOf(record, 'sessionId'),
    ...(isInChain && linksOf(record, 'uuid', 'parentUuid')),
    ...(record['isSidechain'] === true && { isSide: true }),
  };
}

/**
 * The records that the producer's own compaction kept in its context. If a newer version lists them, the client goes
 * by the list and not by the segment; `allUuids` beside it also names records that were never written.
 */
function readBoundary(metadata: Json | undefined): ThreadNote {
  const ids = valueAt(metadata, 'preservedMessages', 'uuids');
  const segment = recordAt(metadata, 'preservedSegment');
  const [from, to] = isList(ids) ? [ids[0], ids.at(-1)] : [segment['headUuid'], segment['tailUuid']];
  const isRange = typeof from === 'string' && typeof to === 'string';
  return { kind: 'boundary', ...(isRange && { keptFrom: from, keptTo: to }) };
}

const NO_PROMPT_FLAGS = ['isMeta', 'isCompactSummary', 'isVisibleInTranscriptOnly'];

/**
 * Whether a person typed this user record (or pasted its images) for the model to answer. For a subagent, the model
 * that gives it its task counts as the person.
 */
export function isTypedPrompt(record: JsonRecord, content: Json | undefined): boolean {
  if (NO_PROMPT_FLAGS.some((flag) => record[flag] === true)) return false;
  if ((stringAt(record, 'origin', 'kind') ?? 'human') !== 'human') return false;
  if (typeof content === 'string') return isTypedText(content);
  return isList(content) && content.some(isTypedBlock) && !hasResult(content);
}

/** A slash command is a prompt, although its words are those of the command. */
const COMMAND = /^\s*<command-(?:message|name)>/;

/** How versions that did not mark their summaries began them. */
const UNMARKED_SUMMARY = 'This session is being continued from a previous conversation that ran out of context';

/**
 * What a person typed in a prompt, without commands, notices and reminders. The prompts of a subagent come from a
 * model.
 */
export function typedPrompt(record: JsonRecord, content: Json | undefined): string | undefined {
  if (record['isSidechain'] === true || !isTypedPrompt(record, content)) return undefined;
  return typedText(textBlocks(content).filter(isUserText));
}

/** Records that a tool or the client made carry one of these. */
const NOT_TYPED_KEYS = ['toolUseResult', 'sourceToolUseID', 'sourceToolAssistantUUID', 'teamName'];

/** What of a typed prompt may state rules: blocks of text in a record that no tool has a part in. */
function promptRules(record: JsonRecord, content: Json | undefined): string | undefined {
  if (NOT_TYPED_KEYS.some((key) => key in record)) return undefined;
  return ruleWords(textBlocks(content).filter(isUserText));
}

function isUserText(text: string): boolean {
  return isTypedText(text) && !(COMMAND.test(text) && isClientOnly(text)) && !text.startsWith(UNMARKED_SUMMARY);
}

function isTypedBlock(block: Json): boolean {
  if (!isRecord(block)) return typeof block === 'string' && isTypedText(block);
  if (block['type'] === 'text') return isTypedText(stringAt(block, 'text') ?? '');
  return block['type'] === 'image' || block['type'] === 'document';
}

function isTypedText(text: string): boolean {
  return text.trim() !== '' && !isClientText(text);
}

const REJECTED = "The user doesn't want to proceed with this tool use.";
const WORDS_FOLLOW = 'To tell you how to proceed, the user said:\n';
/** Newer versions add this below the words. */
const CLIENT_NOTE = "\n\nNote: The user's next message may contain";
/** The client's own words if a person wants to talk about questions, which are the model's. */
const QUESTIONS = 'The user wants to clarify these questions.';

/**
 * What a person wrote when rejecting a tool call. The record itself must say that the call was rejected, since any
 * tool can print the sentence.
 */
function rejectionWords(record: JsonRecord, content: Json | undefined): string | undefined {
  if (record['isSidechain'] === true || !isList(content) || content.length !== 1) return undefined;
  const [block = null] = content;
  if (!isRecord(block) || block['type'] !== 'tool_result' || block['is_error'] !== true) return undefined;
  const text = stringAt(block, 'content') ?? '';
  // Newer versions name the kind of denial; older ones repeat the whole text as the error of the call.
  const isMarked = isMarkedAsRejected(record) || record['toolUseResult'] === `Error: ${text}`;
  if (!text.startsWith(REJECTED) || !isMarked) return undefined;
  const at = text.indexOf(WORDS_FOLLOW);
  if (at < 0) return undefined;
  const words = text.slice(at + WORDS_FOLLOW.length);
  const note = words.lastIndexOf(CLIENT_NOTE);
  const said = (note < 0 ? words : words.slice(0, note)).trim();
  return said === '' || said.startsWith(QUESTIONS) ? undefined : said;
}

/** By a field of the client's own. */
function isMarkedAsRejected({ toolDenialKind, toolUseResult }: JsonRecord): boolean {
  return toolDenialKind === 'user-rejected' || toolUseResult === 'User rejected tool use';
}

/** The client's own tools that neither run anything nor fetch text from outside. */
const OWN_TOOLS: ReadonlySet<string> = new Set(
  'Edit MultiEdit Write NotebookEdit TodoWrite ExitPlanMode AskUserQuestion'.split(' '),
);

/**
 * Whether the words of a rejection may state rules: the client marks the rejection in a field of its own (a copy of the error is none, since
 * a hook's is copied too), and the tool cannot return text from outside.
 */
export function canRejectionRule(record: JsonRecord, callName: string | undefined): boolean {
  return isMarkedAsRejected(record) && callName !== undefined && OWN_TOOLS.has(callName);
}

/**
 * The error of such a call is text from outside, in a record just like a rejection: calls of an MCP server, or of the
 * shell in version 1.
 */
export function canForgeRejection(record: JsonRecord, callName: string): boolean {
  return callName.startsWith('mcp__') || (callName === 'Bash' && (stringAt(record, 'version') ?? '').startsWith('1.'));
}
