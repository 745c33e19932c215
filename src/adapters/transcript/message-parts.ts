import type { ConversationMessage, MessagePart, PlainCall } from '../../core/message.ts';
import { isWrittenByProducer } from '../../core/producer-texts.ts';
import type { Decoded, Entry } from '../../core/transcript.ts';
import type { Json, RecordProblem, SummaryInput } from '../../ports/codec.ts';
import { isRecord, type JsonRecord, listOf, stringAt, valueAt } from './json.ts';

/** Thinking is not part of the conversation, even when it has text. */
const THINKING = /think|thought|reasoning/i;
const MEDIA = /image|audio|video|media|file|document|encrypted/i;

/** A longer string without white space is data (a picture in base64), not something that was said. */
const MAX_DATA_CHARS = 512;
const SHOWN_DATA_CHARS = 32;

/**
 * The text of a part of a message: '' for thinking and media; JSON without long data for an unknown kind. An unknown
 * part never counts as empty, or its words would be missing from the summary.
 * @throws RangeError if it is nested too deeply to be written as JSON.
 */
export function readPartText(part: Json | undefined): string {
  if (part === undefined || part === null) return '';
  if (typeof part === 'string') return part;
  if (isRecord(part)) {
    const type = stringAt(part, 'type') ?? stringAt(part, 'content_type') ?? onlyKey(part) ?? 'text';
    const text = stringAt(part, 'text');
    if (type !== 'text' && THINKING.test(type)) return '';
    if (text !== undefined) return text;
    if (MEDIA.test(type)) return '';
  }
  return JSON.stringify(part, (_, value: Json) => {
    const isData = typeof value === 'string' && value.length > MAX_DATA_CHARS && !/\s/.test(value);
    return isData ? `${value.slice(0, SHOWN_DATA_CHARS)}…` : value;
  });
}

/**
 * Bedrock names a part by its only key: `{reasoningContent: {…}}`, `{image: {format, source}}`. Media must have its
 * data.
 */
function onlyKey(part: JsonRecord): string | undefined {
  const [[key, value] = [], ...others] = Object.entries(part);
  if (key === undefined || others.length > 0 || !isRecord(value)) return undefined;
  return THINKING.test(key) || 'source' in value ? key : undefined;
}

/** The texts of content that is a string or a list of parts; parts without text are left out. */
export function contentTexts(content: Json | undefined): readonly string[] {
  return listOf(content)
    .map(readPartText)
    .filter((text) => text !== '');
}

/** The same as one text. */
export function contentText(content: Json | undefined, separator = '\n'): string {
  return contentTexts(content).join(separator);
}

/**
 * The text of an Anthropic block of type document: its own text, or that of its blocks. '' for a PDF, which is media.
 * https://docs.anthropic.com/en/api/messages
 */
export function documentText({ source }: JsonRecord): string {
  const type = stringAt(source, 'type');
  if (type === 'text') return stringAt(source, 'data') ?? '';
  return type === 'content' ? contentText(valueAt(source, 'content')) : '';
}

/** The parts of a message as one text: texts, calls as `name arguments` (of a call without one of them the other alone), texts of results. */
export function textOfParts(parts: readonly MessagePart[]): string {
  let whole = '';
  for (const part of parts) {
    const text = part.kind === 'call' ? textOfCall(part) : part.text;
    if (text !== '') whole = whole === '' ? text : `${whole}\n${text}`;
  }
  return whole;
}

function textOfCall({ name, arguments: given }: PlainCall): string {
  return name === '' || given === '' ? name + given : `${name} ${given}`;
}

/** One text of those that are not empty. */
export function joinTexts(texts: readonly string[], separator = '\n'): string {
  return texts.filter((text) => text !== '').join(separator);
}

/**
 * The arguments of a call as JSON text; a string stays as it is.
 * @throws RangeError if they are nested too deeply to be written.
 */
export function argumentText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

/**
 * Blocks that a client adds to a prompt: reminders and hook output, which it writes itself, and what an editor shows,
 * which quotes files.
 */
const CLIENT_BLOCK =
  /<(system-reminder|user-prompt-submit-hook|ide_selection|ide_opened_file|ide_diagnostics|new-diagnostics)>/g;

/** Blocks that quote files. A file may contain the closing tag, so the last one counts. */
const FILE_BLOCKS: ReadonlySet<string> = new Set(['ide_selection', 'ide_diagnostics', 'new-diagnostics']);

/**
 * What a person typed in a prompt, without the blocks that the client added. Undefined if nothing is left. A text
 * without such blocks is returned as it is, so that a prompt of many megabytes is not copied.
 */
export function typedText(texts: readonly string[]): string | undefined {
  const left = texts.map(withoutClientBlocks).filter((text) => text.trim() !== '');
  if (left.length === 0) return undefined;
  return left.length === 1 ? left[0] : left.join('\n');
}

function withoutClientBlocks(text: string): string {
  if (!text.includes('<')) return text; // most prompts, and much cheaper than the search below
  const kept: string[] = [];
  let from = 0;
  for (const { 0: opening, 1: tag = '', index } of text.matchAll(CLIENT_BLOCK)) {
    if (index < from) continue;
    const closing = `</${tag}>`;
    const start = index + opening.length;
    const end = FILE_BLOCKS.has(tag) ? text.lastIndexOf(closing) : text.indexOf(closing, start);
    // A tag that is never closed was typed: somebody is writing about it.
    if (end < start) break;
    kept.push(text.slice(from, index));
    from = end + closing.length;
  }
  return from === 0 ? text : [...kept, text.slice(from)].join('').trim();
}

/** A text that begins with a tag is a client's: an attached file, a command, a note. */
const BEGINS_WITH_TAG = /^\s*<\/?[a-z]/i;
/** Where a client adds something below a prompt. */
const CLIENT_ADDS =
  /<(?:system-reminder|user-prompt-submit-hook|ide_[a-z_]+|new-diagnostics|hook_context|file_content|environment_details)\b|^--- Content from referenced files ---/m;

/**
 * The words of prompts that may state rules. What a client adds may quote a page that forges the closing tag, so nothing counts from the
 * opening tag on, whatever closes it.
 */
export function ruleWords(texts: readonly string[]): string | undefined {
  const words = texts.map((text) => {
    if (BEGINS_WITH_TAG.test(text)) return '';
    const at = text.search(CLIENT_ADDS);
    return at < 0 ? text : text.slice(0, at);
  });
  return typedText(words);
}

/** Adds what was typed in a message, and what of it may state rules; no key if nothing was, or if it is a producer's own summary. */
export function withTyped<T extends object>(
  message: T,
  typed: string | undefined,
  ruleText?: string,
): T & Pick<ConversationMessage, 'typed' | 'ruleText'> {
  if (typed === undefined || typed.trim() === '' || isWrittenByProducer(typed)) return message;
  return { ...message, typed, ...(ruleText !== undefined && ruleText.trim() !== '' && { ruleText }) };
}

/** For formats in which a program may have written the same record: what was typed in it states no rules. */
export function withoutRuleText<T extends Decoded>(decoded: T): T {
  if (decoded.message?.ruleText === undefined) return decoded;
  const { ruleText: _, ...message } = decoded.message;
  return { ...decoded, message };
}

/** For messages that no person typed after all: a model writes the prompts of a subagent, for instance. */
export function withoutTyped<T extends Decoded>(decoded: T): T {
  if (decoded.message?.typed === undefined) return decoded;
  const { typed: _, ruleText: _rules, ...message } = decoded.message;
  return { ...decoded, message };
}

/**
 * The role of the summary, in formats with the roles user and system. A model obeys its system, so tool results, which
 * quote web pages and files, must never become system messages: neither those of this compaction nor those that the
 * previous summary may quote.
 */
export function summaryRole({ quotesTools, prior = null }: SummaryInput): 'user' | 'system' {
  const wasUsers = isRecord(prior) && (prior['role'] === 'user' || prior['from'] === 'human');
  return quotesTools || wasUsers ? 'user' : 'system';
}

/**
 * The line of the summary that begins a conversation, after its instructions; null: something else comes first. A
 * summary anywhere else counts as a message.
 */
export function leadingSummaryLine(entries: readonly Entry[]): number | null {
  const first = entries.find(({ kind }) => kind === 'message' || kind === 'summary');
  return first?.kind === 'summary' ? first.line : null;
}

/**
 * Runs `decode`, and returns a problem if a value is nested too deeply to be written as JSON. `what` names the place:
 * "a message that is".
 */
export function refuseDeepNesting<T>(what: string, decode: () => T): T | RecordProblem {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RangeError) return { problem: `${what} nested too deeply to be read` };
    throw error;
  }
}
