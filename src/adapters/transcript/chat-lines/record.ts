import type { Role } from '../../../core/message.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord } from '../json.ts';

/** A line that somebody said: a message, an instruction or a summary. */
export type Said = {
  readonly kind: 'said';
  readonly record: JsonRecord;
  /** As the record has it. */
  readonly givenRole: string;
  /** Before it is known whether it holds a tool's result. */
  readonly role: Role;
  readonly conversation?: string;
};

/** A line that is carried and never summarized. */
export type Carried = { readonly kind: 'meta'; readonly pin?: string; readonly conversation?: string };

/** What the producers call the four roles. Kimi keeps its system prompt among its own records. */
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

/** Names that others give to the role of a tool: `toolResult`, `tool_response`. */
const TOOL_ROLE = /^tool[-_]?(?:result|response|output)$/i;

const SPEECH_KEYS = ['content', 'tool_calls', 'toolCalls', 'function_call'];

/** Tells messages from what a producer writes beside them. A role of nobody's making speaks as another user, under its own name. */
export function classify(value: Json): Said | Carried | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const id = idAt(value, 'conversation_id');
  const conversation = id === undefined || id === '' ? {} : { conversation: id };
  const givenRole = value['role'];
  if (givenRole === undefined) return { kind: 'meta', ...conversation };
  if (typeof givenRole !== 'string') return { problem: 'a record whose role is no text' };
  const role = ROLES.get(givenRole) ?? (TOOL_ROLE.test(givenRole) ? 'tool' : undefined);
  if (role === undefined && givenRole.startsWith('_')) return { kind: 'meta', pin: givenRole, ...conversation };
  const speaks = SPEECH_KEYS.some((key) => value[key] !== undefined);
  if (!speaks && (role === undefined || isRecord(value['message']))) return { kind: 'meta', ...conversation };
  const unread = findUnread(value);
  if (unread !== null)
    return { problem: `a message of role ${givenRole} whose text stands under ${unread}, where it is not read` };
  return { kind: 'said', record: value, givenRole, role: role ?? 'user', ...conversation };
}

/** Where other programs keep what was said. */
const TEXT_KEYS = ['parts', 'text', 'value', 'message', 'blocks', 'contents', 'body', 'output'];
/** Texts and lists that say nothing. */
const ASIDE_KEYS = new Set(['role', 'name', 'created_at', 'timestamp', 'reasoning', 'reasoning_content', 'thinking']);

/** The key of something that was said in a message that would be empty; null: it is. */
function findUnread(record: JsonRecord): string | null {
  if (SPEECH_KEYS.some((key) => !isEmpty(record[key]))) return null;
  const known = TEXT_KEYS.find((key) => !isEmpty(record[key]));
  if (known !== undefined || SPEECH_KEYS.some((key) => key in record)) return known ?? null;
  return Object.keys(record).find((key) => !ASIDE_KEYS.has(key) && isWords(record[key])) ?? null;
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (isList(value) && value.length === 0);
}

/** Several words, or a list of anything: not an id, a time or a number. */
function isWords(value: Json | undefined): boolean {
  return typeof value === 'string' ? /\S\s+\S/.test(value) : isList(value) && value.length > 0;
}

/** Whether a record's role is one that a person speaks in. */
export function isPersonsRole(givenRole: string): boolean {
  return givenRole === 'user' || givenRole === 'human';
}

/** A name that Kimi gives to records of its own. */
export function isKimiRole(givenRole: string): boolean {
  return givenRole.startsWith('_');
}
