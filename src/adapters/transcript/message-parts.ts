import type { MessagePart, ToolCall } from '../../core/message.ts';
import type { Decoded, Entry } from '../../core/transcript.ts';
import type { RecordProblem, SummaryInput } from '../../ports/codec.ts';
import type { Json } from '../../ports/json.ts';
import { isList, isRecord, type JsonRecord, stringAt } from './json.ts';

/** What a model thinks is not said, even where it has a text. */
const THINKING = /think|thought|reasoning/i;
const MEDIA = /image|audio|video|media|file|document|encrypted/i;

/** A string without white space beyond this is data (a picture as base64), and not what somebody said. */
const MAX_DATA_CHARS = 512;
const SHOWN_DATA_CHARS = 32;

/**
 * What a part of a message says: its text, '' for thinking and media, and of a kind that is not known its JSON, without long data. What is
 * not known is never taken for silence, or a message would leave without a word in the summary.
 * @throws RangeError where it is nested too deeply to be written as JSON.
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
  return JSON.stringify(part, (_, value: Json) => shortenData(value));
}

/** Bedrock names a part by its only key: `{reasoningContent: {…}}`, `{image: {format, source}}`. Of media, the data must be there. */
function onlyKey(part: JsonRecord): string | undefined {
  const [[key, value] = [], ...others] = Object.entries(part);
  if (key === undefined || others.length > 0 || !isRecord(value)) return undefined;
  return THINKING.test(key) || 'source' in value ? key : undefined;
}

function shortenData(value: Json): Json {
  if (typeof value !== 'string' || value.length <= MAX_DATA_CHARS || /\s/.test(value)) return value;
  return `${value.slice(0, SHOWN_DATA_CHARS)}…`;
}

/**
 * What an Anthropic block of type document says: the text of one that is text, or the blocks of one that has blocks. '' for a PDF, which is
 * media. https://docs.anthropic.com/en/api/messages
 */
export function documentText({ source }: JsonRecord): string {
  if (!isRecord(source)) return '';
  const type = stringAt(source, 'type');
  if (type === 'text') return stringAt(source, 'data') ?? '';
  const { content } = source;
  if (type !== 'content' || content === undefined) return '';
  const texts = (isList(content) ? content : [content]).map(readPartText);
  return texts.filter((text) => text !== '').join('\n');
}

/** The parts of a message as one text: text, calls as `name arguments`, text of results. */
export function textOfParts(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === 'call' ? `${part.name} ${part.arguments}`.trim() : part.text))
    .filter((text) => text !== '')
    .join('\n');
}

/** The calls among the parts, as the message lists them; nothing where there is none. */
export function listCalls(parts: readonly MessagePart[]): { readonly tool_calls?: readonly ToolCall[] } {
  const calls = parts.flatMap((part) =>
    part.kind === 'call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  );
  return calls.length === 0 ? {} : { tool_calls: calls };
}

/**
 * Arguments of a call as JSON text, or the text that they are.
 * @throws RangeError where they are nested too deeply to be written.
 */
export function argumentText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

/** Blocks that a client puts into a prompt: reminders and hook output, which it writes itself, and what an editor shows, which holds text of files. */
const CLIENT_BLOCK =
  /<(system-reminder|user-prompt-submit-hook|ide_selection|ide_opened_file|ide_diagnostics|new-diagnostics)>/g;

/** Blocks with text of files: a file may hold the closing tag, so the last one counts. */
const FILE_BLOCKS: ReadonlySet<string> = new Set(['ide_selection', 'ide_diagnostics', 'new-diagnostics']);

/**
 * What a person wrote of a prompt's texts: without the blocks that the client added. Undefined where nothing is left. A text without such
 * blocks comes back as it is, so that a prompt of many megabytes is not copied.
 */
export function typedText(texts: readonly string[]): string | undefined {
  const left = texts.map(withoutClientBlocks).filter((text) => text.trim() !== '');
  if (left.length === 0) return undefined;
  return left.length === 1 ? left[0] : left.join('\n');
}

function withoutClientBlocks(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { 0: opening, 1: tag = '', index } of text.matchAll(CLIENT_BLOCK)) {
    if (index < from) continue;
    const closing = `</${tag}>`;
    const start = index + opening.length;
    const end = FILE_BLOCKS.has(tag) ? text.lastIndexOf(closing) : text.indexOf(closing, start);
    // A tag that nothing closes was typed: somebody writes about it.
    if (end < start) break;
    kept.push(text.slice(from, index));
    from = end + closing.length;
  }
  return from === 0 ? text : [...kept, text.slice(from)].join('').trim();
}

/** `message` with what was typed in it; without the key where nothing was. */
export function withTyped<T extends object>(message: T, typed: string | undefined): T & { readonly typed?: string } {
  return typed === undefined || typed.trim() === '' ? message : { ...message, typed };
}

/** A message that no person typed after all: a model wrote a subagent's prompts, for instance. */
export function withoutTyped<T extends Decoded>(decoded: T): T {
  if (decoded.message?.typed === undefined) return decoded;
  const { typed: _, ...message } = decoded.message;
  return { ...decoded, message };
}

/**
 * Who says the summary, in formats whose roles are user and system. A model obeys a system, so results of tools, which hold what web pages and
 * files say, never become a system's words: neither those of this compaction nor those that the summary before it may quote.
 */
export function summaryRole({ quotesTools, prior = null }: SummaryInput): 'user' | 'system' {
  const wasUsers = isRecord(prior) && (prior['role'] === 'user' || prior['from'] === 'human');
  return quotesTools || wasUsers ? 'user' : 'system';
}

/**
 * The line of the summary with which a conversation begins, behind its instructions; null: something else is said first, and the words of one
 * elsewhere are somebody's.
 */
export function leadingSummaryLine(entries: readonly Entry[]): number | null {
  const first = entries.find(({ kind }) => kind === 'message' || kind === 'summary');
  return first?.kind === 'summary' ? first.line : null;
}

/** What `decode` gives; a problem where it meets a value that is nested too deeply to be written as JSON. `what` has that value: "a message". */
export function refuseDeepNesting<T>(what: string, decode: () => T): T | RecordProblem {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RangeError) return { problem: `${what} nested too deeply to be read` };
    throw error;
  }
}
