import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { summaryRole } from '../message-parts.ts';
import { listCalls } from './content.ts';
import { isKimiRole, parseTime, type Said } from './decode.ts';
import { renderInDialect } from './dialects.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ID_PREFIX = /^[a-z]+[-_:.]/i;
/** JSON allows them, but readers that split text at any kind of line end would split the record. */
const RARE_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * One record that looks like those of the conversation: if every message has an id, a conversation or a time, the
 * summary has them too, in the same order. Other columns get their defaults.
 */
export function renderSummary(input: SummaryInput, survey: Survey): readonly string[] {
  const inDialect = renderInDialect(input);
  if (inDialect !== null) return [inDialect.replace(RARE_LINE_ENDS, escapeChar)];
  const kept = recordOf(input.firstKept);
  const dropped = recordOf(input.lastDropped);
  const template = kept ?? dropped ?? {};
  const conversation = idAt(template, 'conversation_id') ?? '';
  const keys = survey.keysOf(conversation);
  const isRow = keys.has('conversation_id');
  const candidates = [dropped, kept, survey.laterInstructionOf(conversation)];
  const values: { readonly [key: string]: Json } = {
    role: survey.hasBlocks() && !isRow ? 'user' : summaryRole(input),
    content: input.text,
    ...(keys.has('id') && { id: newId(input, { kept, dropped }) }),
    ...(isRow && { conversation_id: template['conversation_id'] ?? null }),
    ...timeOf('created_at', keys, candidates),
    ...timeOf('timestamp', keys, candidates),
  };
  const record = Object.fromEntries(
    orderOf(template).flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  );
  return [JSON.stringify(record).replace(RARE_LINE_ENDS, escapeChar)];
}

/** The keys of a record of the conversation, with content right after the role if that record has none. */
function orderOf(template: JsonRecord): readonly string[] {
  const known = new Set<string>(['role', 'content', ...OWN_KEYS]);
  const keys = Object.keys(template).filter((key) => known.has(key));
  if (!keys.includes('role')) return ['role', 'content', ...keys.filter((key) => key !== 'content')];
  return keys.includes('content') ? keys : keys.flatMap((key) => (key === 'role' ? ['role', 'content'] : [key]));
}

/**
 * A new id of the kind that the conversation uses. No new number is available, but that of the last message that left
 * is free, and it is in the right place in the order.
 */
function newId(
  { uuid }: SummaryInput,
  { kept, dropped }: { readonly kept: JsonRecord | null; readonly dropped: JsonRecord | null },
): Json {
  const like = kept?.['id'] ?? dropped?.['id'];
  if (typeof like === 'number') return dropped?.['id'] ?? like;
  const fresh = uuid('summary');
  if (typeof like !== 'string' || UUID.test(like)) return fresh;
  return `${ID_PREFIX.exec(like)?.[0] ?? ''}${fresh}`;
}

/**
 * The earliest time, as written, of the last message that left, the first that stays, and an instruction between them.
 */
function timeOf(
  key: OwnKey,
  keys: ReadonlySet<OwnKey>,
  candidates: readonly (JsonRecord | Times | null)[],
): { readonly [key: string]: Json } {
  if (!keys.has(key)) return {};
  const values = candidates.flatMap((candidate) => candidate?.[key] ?? []);
  const form = typeof (candidates[1] ?? candidates[0])?.[key];
  const dated = values.flatMap((value) => {
    const time = typeof value === form ? parseTime(value) : null;
    return time === null ? [] : [{ value, ms: time.getTime() }];
  });
  const earliest = dated.reduce((best, one) => (one.ms < best.ms ? one : best), dated[0] ?? { value: null, ms: 0 });
  const value = dated.length === 0 ? (candidates[1]?.[key] ?? candidates[0]?.[key]) : earliest.value;
  return value === undefined ? {} : { [key]: value };
}

function recordOf(value: Json): JsonRecord | null {
  return isRecord(value) ? value : null;
}

function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The summary needs these columns if every message has them. */
const OWN_KEYS = ['id', 'conversation_id', 'created_at', 'timestamp'] as const;
type OwnKey = (typeof OWN_KEYS)[number];

/** The values that decide the order of rows. */
type Times = { readonly [key in OwnKey]?: Json };

/** How the records of a file are written, according to all its lines. */
type Survey = {
  /** One of Kimi's own records, which is not a message. */
  readonly noteKimi: () => void;
  readonly noteSaid: (said: Said, isSummary: boolean) => void;
  readonly hasKimi: () => boolean;
  /** Whether the records are Anthropic's: blocks as content, and no role for system messages. */
  readonly hasBlocks: () => boolean;
  /** The columns that every message of a conversation has. */
  readonly keysOf: (conversation: string) => ReadonlySet<OwnKey>;
  /** The times of the first instruction after other messages: it stays, and the summary must not be later. */
  readonly laterInstructionOf: (conversation: string) => Times | null;
};

type Tally = {
  hasBegun: boolean;
  messages: number;
  readonly keys: Map<OwnKey, number>;
  laterInstruction: Times | null;
};

export function createSurvey(): Survey {
  const tallies = new Map<string, Tally>();
  const marks = { kimi: false, blocks: 0, openai: 0 };
  return {
    noteKimi: () => {
      marks.kimi = true;
    },
    noteSaid: (said, isSummary) => {
      if (isKimiRole(said.givenRole)) marks.kimi = true;
      if (hasAnthropicBlocks(said.record)) marks.blocks += 1;
      if (hasOpenAiShape(said)) marks.openai += 1;
      tally(tallies, said, isSummary);
    },
    hasKimi: () => marks.kimi,
    hasBlocks: () => !marks.kimi && marks.blocks > marks.openai,
    keysOf: (conversation) => {
      const { messages = 0, keys } = tallies.get(conversation) ?? {};
      return new Set(OWN_KEYS.filter((key) => messages > 0 && keys?.get(key) === messages));
    },
    laterInstructionOf: (conversation) => tallies.get(conversation)?.laterInstruction ?? null,
  };
}

function tally(tallies: Map<string, Tally>, { record, role, conversation = '' }: Said, isSummary: boolean): void {
  const known = tallies.get(conversation) ?? { hasBegun: false, messages: 0, keys: new Map(), laterInstruction: null };
  tallies.set(conversation, known);
  if (isSummary) {
    known.hasBegun = true;
  } else if (role !== 'system') {
    known.hasBegun = true;
    known.messages += 1;
    for (const key of OWN_KEYS) {
      if ((record[key] ?? null) !== null) known.keys.set(key, (known.keys.get(key) ?? 0) + 1);
    }
  } else if (known.hasBegun) {
    known.laterInstruction ??= { created_at: record['created_at'] ?? null, timestamp: record['timestamp'] ?? null };
  }
}

const ANTHROPIC_BLOCK = /tool_use$|tool_result$|^(?:redacted_)?thinking$/;
const OPENAI_PART = /^(?:image_url|input_audio|input_text|output_text|refusal)$/;

function hasAnthropicBlocks({ content, type }: JsonRecord): boolean {
  if (type === 'message') return true;
  return someBlock(content, (block, kind) => {
    const isMedia = kind === 'image' || kind === 'document';
    return ANTHROPIC_BLOCK.test(kind) || (isMedia && isRecord(block['source']));
  });
}

function hasOpenAiShape({ record, role }: Said): boolean {
  if (role === 'tool' || isRecord(record['function_call'])) return true;
  if ((listCalls(record['tool_calls']) ?? []).some((call) => isRecord(call['function']))) return true;
  return someBlock(record['content'], (_, kind) => OPENAI_PART.test(kind));
}

function someBlock(content: Json | undefined, matches: (block: JsonRecord, kind: string) => boolean): boolean {
  return isList(content) && content.some((block) => isRecord(block) && matches(block, stringAt(block, 'type') ?? ''));
}
