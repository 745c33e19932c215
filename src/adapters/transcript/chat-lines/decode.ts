import { callsOf, type PlainCall, resultIdsOf, type Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt, validDate } from '../json.ts';
import { say } from '../said.ts';
import { type RecordPlace } from '../session.ts';
import { type Content, type FindCall, readContent } from './content.ts';

/** A line of the conversation: a message, an instruction or a summary. */
export type Said = {
  readonly kind: 'said';
  readonly record: JsonRecord;
  /** The role as the record gives it. */
  readonly givenRole: string;
  /** The role before we know whether the record holds a tool result. */
  readonly role: Role;
  readonly conversation?: string;
};

/** A line that is carried along and never summarized. */
type Carried = { readonly kind: 'meta'; readonly latestKey?: string; readonly conversation?: string };

/** What producers call the four roles. Kimi keeps its system prompt among its own records. */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
  ['_system_prompt', 'system'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);

/** Other names for the role of a tool: `toolResult`, `tool_response`. */
const TOOL_ROLE = /^tool[-_]?(?:result|response|output)$/i;

const SPEECH_KEYS = ['content', 'tool_calls', 'toolCalls', 'function_call'];

/**
 * Separates messages from other records of the producer. An unknown role counts as another user, under its own name.
 */
export function classify(value: Json): Said | Carried | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const id = idAt(value, 'conversation_id');
  const conversation = id === undefined || id === '' ? {} : { conversation: id };
  const givenRole = value['role'];
  if (givenRole === undefined) return { kind: 'meta', ...conversation };
  if (typeof givenRole !== 'string') return { problem: 'a record whose role is not a string' };
  const role = ROLES.get(givenRole) ?? (TOOL_ROLE.test(givenRole) ? 'tool' : undefined);
  if (role === undefined && isKimiRole(givenRole)) return { kind: 'meta', latestKey: givenRole, ...conversation };
  const speaks = SPEECH_KEYS.some((key) => value[key] !== undefined);
  if (!speaks && (role === undefined || isRecord(value['message']))) return { kind: 'meta', ...conversation };
  const unread = findUnread(value);
  if (unread !== null)
    return { problem: `a message of role ${givenRole} whose text is under ${unread}, where it is not read` };
  return { kind: 'said', record: value, givenRole, role: role ?? 'user', ...conversation };
}

/** Where other programs keep the text of a message. */
const TEXT_KEYS = ['parts', 'text', 'value', 'message', 'blocks', 'contents', 'body', 'output'];
/** Texts and lists that are not part of the conversation. */
const ASIDE_KEYS = new Set(['role', 'name', 'created_at', 'timestamp', 'reasoning', 'reasoning_content', 'thinking']);

/** If a message would be empty: the key under which it says something after all. null: it is empty. */
function findUnread(record: JsonRecord): string | null {
  if (SPEECH_KEYS.some((key) => !isEmpty(record[key]))) return null;
  const known = TEXT_KEYS.find((key) => !isEmpty(record[key]));
  if (known !== undefined || SPEECH_KEYS.some((key) => key in record)) return known ?? null;
  // Several words or any list, but not an id, a time or a number.
  const isWords = (value: Json | undefined): boolean =>
    typeof value === 'string' ? /\S\s+\S/.test(value) : isList(value) && value.length > 0;
  return Object.keys(record).find((key) => !ASIDE_KEYS.has(key) && isWords(record[key])) ?? null;
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (isList(value) && value.length === 0);
}

/** Whether the role is one in which a person speaks. */
export function isUserRole(givenRole: string): boolean {
  return givenRole === 'user' || givenRole === 'human';
}

/** A role that marks one of Kimi's own records. */
export function isKimiRole(givenRole: string): boolean {
  return givenRole.startsWith('_');
}

/** Reads a record in which every result names its call. */
export function readAlone(record: JsonRecord, line: number) {
  const said = classify(record);
  if ('problem' in said || said.kind === 'meta') return said;
  return {
    said,
    content: readContent(said.record, { line, isResult: said.role === 'tool', findCall: () => null }),
    line,
  };
}

type MessageSource = {
  readonly said: Said;
  readonly content: Content;
  readonly line: number;
  /** It is the summary that replaces everything before it. */
  readonly isSummary: boolean;
};

/**
 * Anthropic's tool results are in a user's turn; those of tools that its server ran are in the assistant's own. In two compacted files that were
 * joined, the second clip-archive is in the middle: it is treated as a message.
 */
export function toDecoded({ said, content, line, isSummary }: MessageSource): Decoded {
  const { record, givenRole, conversation } = said;
  const { parts, text, hasResultBlock } = content;
  const role = isSummary ? 'system' : said.role === 'user' && hasResultBlock ? 'tool' : said.role;
  const isFromUser = isUserRole(givenRole);
  const name = stringAt(record, 'name') ?? (role === 'user' && !isFromUser ? givenRole : '');
  const isClip = isClipArchiveText(text);
  const typed = role === 'user' && isFromUser && !isClip ? content.typed : undefined;
  const at = parseTime(record['created_at']) ?? parseTime(record['timestamp']);
  return say(
    { line, id: idAt(record, 'id'), conversation, role, name: name === '' ? undefined : name, parts, at, typed },
    {
      kind: isSummary ? 'summary' : said.role === 'system' && !isClip ? 'instruction' : 'message',
      conversation,
      ...(isSummary && isFromUser && { isUnmarked: true }),
      ...(typed !== undefined && { isPrompt: true }),
    },
  );
}

type ChatRules = {
  /** A record as `{role, content}`. */
  readonly toChat: (value: Json) => Json;
  /** Whether a clip-archive that begins a conversation stands for what came before. */
  readonly isSummary: (said: Said, text: string) => boolean;
  /** Called in the first pass. */
  readonly note: (said: Said | Carried, seen: { value: Json; line: number; isSummary: boolean }) => void;
};

export type ChatReader = {
  /** @throws RangeError if something is nested too deeply to be written as JSON. */
  readonly read: (value: Json, place: RecordPlace) => Decoded | RecordProblem;
  /** Another conversation begins, and nothing is open of the one before. */
  readonly startOver: () => void;
};

/** Only the calls of the current turn are open: a result never answers a call that was given up before other messages. */
type Turn = { readonly calls: readonly PlainCall[]; readonly isCalling: boolean };

const NO_TURN: Turn = { calls: [], isCalling: false };

/**
 * Reads messages. It remembers which lines are summaries, and which call each result without an id answers: some producers rely on the order, or
 * on the name of the function.
 */
export function createChatReader({ toChat, isSummary, note }: ChatRules): ChatReader {
  const summaryLines = new Set<number>();
  const answered = new Map<string, string>();
  const turns = new Map<string, Turn>(); // by conversation, of those that have begun

  const answer = (conversation: string, id: string): void => {
    const calls = turns.get(conversation)?.calls.filter((call) => call.id !== id) ?? [];
    turns.set(conversation, { calls, isCalling: false });
  };
  /** The unanswered call with this name, or else the first one; null: every call is answered. */
  const takeCall = (conversation: string, name: string | undefined): string | null => {
    const { calls } = turns.get(conversation) ?? NO_TURN;
    const call = calls.find((one) => one.name === name) ?? calls[0];
    if (call !== undefined) answer(conversation, call.id);
    return call?.id ?? null;
  };
  const createCallFinder = (conversation: string, { line, isFirstPass }: RecordPlace): FindCall => {
    let position = 0;
    return (name) => {
      position += 1;
      const key = `${line}:${position}`;
      const taken = isFirstPass ? takeCall(conversation, name) : null;
      if (taken !== null) answered.set(key, taken);
      return answered.get(key) ?? null;
    };
  };
  const noteTurn = (conversation: string, { message }: Decoded): void => {
    const { calls, isCalling } = turns.get(conversation) ?? NO_TURN;
    turns.set(conversation, { calls, isCalling });
    if (message === undefined) return;
    const results = resultIdsOf(message);
    for (const id of results) answer(conversation, id);
    if (results.length > 0) return;
    const made = callsOf(message);
    const open = made.length === 0 ? calls : isCalling ? [...calls, ...made] : made;
    turns.set(conversation, { calls: open, isCalling: made.length > 0 });
  };
  const read = (value: Json, place: RecordPlace): Decoded | RecordProblem => {
    const { line, isFirstPass } = place;
    const said = classify(toChat(value));
    if ('problem' in said) return said;
    if (said.kind === 'meta') {
      if (isFirstPass) note(said, { value, line, isSummary: false });
      return said;
    }
    const { record, role, conversation = '' } = said;
    const findCall = createCallFinder(conversation, place);
    const content = readContent(record, { line, isResult: role === 'tool', findCall });
    if (isFirstPass && !turns.has(conversation) && isClipArchiveText(content.text) && isSummary(said, content.text))
      summaryLines.add(line);
    const isHead = summaryLines.has(line);
    const decoded = toDecoded({ said, content, line, isSummary: isHead });
    if (!isFirstPass) return decoded;
    note(said, { value, line, isSummary: isHead });
    if (isHead || role !== 'system') noteTurn(conversation, decoded);
    return decoded;
  };
  return { read, startOver: () => turns.clear() };
}

/** ISO 8601, and what databases make of it: a space instead of the T, `+00` as the offset. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** As almost every program writes it; the runtime reads it without help. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

/** Numbers up to this are seconds (the year 5138), larger ones milliseconds. */
const MAX_SECONDS = 1e11;

/** A time as text, or as seconds or milliseconds since 1970; null for anything else. Text without an offset is UTC. */
export function parseTime(value: Json | undefined): Date | null {
  if (typeof value === 'number') return validDate(new Date(Math.abs(value) < MAX_SECONDS ? value * 1000 : value));
  if (typeof value !== 'string') return null;
  if (USUAL_TIME.test(value)) return validDate(new Date(value));
  const match = ISO_TIME.exec(value.trim());
  if (match === null) return null;
  const [, day = '', minutes = '00:00', seconds = ':00', fraction = '', offset = 'Z'] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  // `+02` and `+0200` as `+02:00`.
  const fullOffset = offset
    .replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, rest = '00') => `${hours}:${rest}`)
    .toUpperCase();
  return validDate(new Date(`${day}T${minutes}${seconds}.${milliseconds}${fullOffset}`));
}
