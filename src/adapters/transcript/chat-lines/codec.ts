import { hasQuotationNotice, parseClipArchiveHead } from '../../../core/clip-archive.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { idAt, isRecord, type JsonRecord, recordsAt, stringAt } from '../json.ts';
import { createSession, notOurs } from '../session.ts';
import { classify, createChatReader, isKimiRole, isUserRole, parseTime, type Said } from './decode.ts';
import { findDialect, renderInDialect, toChatMessage } from './dialects.ts';
import { summaryRole } from '../message-parts.ts';
import { listCalls } from './content.ts';

/** Messages of chat models, one a line: OpenAI's, Anthropic's, the `context.jsonl` of Kimi CLI, rows of a database. */
export const chatLines: Codec = {
  format: FORMATS.chatLines,
  detect: detectChatLines,
  open: createChatSession,
};

/** How sure we are that these are messages, one a line. Formats with clearer signs are preferred to this one. */
function detectChatLines(sample: readonly Json[]): Detection {
  if (sample.length === 0) return notOurs('there are no records to judge by');
  const records = sample.filter(isRecord);
  const other = records.flatMap((record) => nameOther(record) ?? []);
  const chat = records.filter((record) => isChat(record) && nameOther(record) === null).length;
  if (other.length > 0 && other.length >= chat) {
    const counts = [...Map.groupBy(other, (name) => name).values()];
    const [most = ''] = counts.reduce((best, one) => (one.length > best.length ? one : best));
    return notOurs(`most records are those of ${most}`);
  }
  if (chat === 0) {
    const hasRole = records.some((record) => 'role' in record);
    return notOurs(hasRole ? 'no record has a role and content' : 'no record has a role');
  }
  const reason = `${countOf(chat, 'record')} with a role and content`;
  // Messages with another type may be records of an unknown program.
  const isOther = (record: JsonRecord): boolean =>
    (stringAt(record, 'type') ?? 'message') !== 'message' && findDialect(record) === null;
  const surest = records.some(isOther) ? 0.6 : 0.9;
  return { confidence: chat >= sample.length / 2 ? surest : 0.5, reason };
}

function isChat(record: JsonRecord): boolean {
  if (findDialect(record) !== null) return true;
  const { role } = record;
  if (typeof role !== 'string') return false;
  if (role.startsWith('_')) return true;
  const said = classify(record);
  const speaks = 'content' in record || 'tool_calls' in record || 'function_call' in record;
  return 'kind' in said && said.kind === 'said' && speaks;
}

const LOOSE_ITEM = /^(?:function_call(?:_output)?|reasoning|(?:custom_tool|local_shell)_call)$/;

/** Records of formats that have their own codec, and the name for a file of them. */
const OTHER_FORMATS: readonly { readonly name: string; matches: (record: JsonRecord, type: string) => boolean }[] = [
  { name: 'a Codex session', matches: (record, type) => type !== '' && isRecord(record['payload']) },
  {
    name: 'an older Codex session, or bare items of the Responses API',
    matches: (record, type) =>
      'record_type' in record ||
      ('instructions' in record && 'git' in record) ||
      (LOOSE_ITEM.test(type) && !('role' in record)) ||
      (type === 'message' &&
        recordsAt(record, 'content').some((part) => part['type'] === 'input_text' || part['type'] === 'output_text')),
  },
  {
    name: 'a Claude Code session',
    matches: (record, type) => 'parentUuid' in record || 'leafUuid' in record || type === 'file-history-snapshot',
  },
];

/** The format that a record seems to come from; null: none that we know. */
function nameOther(record: JsonRecord): string | null {
  const type = stringAt(record, 'type') ?? '';
  return OTHER_FORMATS.find(({ matches }) => matches(record, type))?.name ?? null;
}

/** Remembers how the file's records are written. */
function createChatSession(): CodecSession {
  const survey = createSurvey();
  const reader = createChatReader({
    toChat: toChatMessage,
    isSummary: ({ givenRole, conversation }, text) => {
      if (givenRole === 'system') return true;
      if (!isUserRole(givenRole)) return false;
      // It is the user's if it quotes tools. One without the notice comes from an older version, in files with Anthropic's
      // blocks; only later lines show whether this is such a file.
      if (hasQuotationNotice(text)) return true;
      return conversation === undefined && !survey.hasKimi() && parseClipArchiveHead(text) !== null;
    },
    note: (said, { isSummary }) => {
      if (said.kind === 'said') survey.noteSaid(said, isSummary);
      else if (said.latestKey !== undefined) survey.noteKimi();
    },
  });
  return createSession({
    what: 'a record that is',
    read: reader.read,
    renderSummary: (input) => renderSummary(input, survey),
  });
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ID_PREFIX = /^[a-z]+[-_:.]/i;
/** JSON allows them, but readers that split text at any kind of line end would split the record. */
const RARE_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * One record that looks like those of the conversation: if every message has an id, a conversation or a time, the
 * summary has them too, in the same order. Other columns get their defaults.
 */
function renderSummary(input: SummaryInput, survey: Survey): readonly string[] {
  const inDialect = renderInDialect(input);
  if (inDialect !== null) return [inDialect.replace(RARE_LINE_ENDS, escapeChar)];
  const [dropped, kept] = [input.lastDropped, input.firstKept].map((one) => (isRecord(one) ? one : undefined));
  const template = kept ?? dropped ?? {};
  const { keys, laterInstruction } = survey.read(idAt(template, 'conversation_id') ?? '');
  const isRow = keys.has('conversation_id');
  const timeOf = (key: OwnKey): Json | undefined =>
    keys.has(key) ? findTime([dropped?.[key], kept?.[key], laterInstruction?.[key]]) : undefined;
  const values: { readonly [key: string]: Json | undefined } = {
    role: survey.hasBlocks() && !isRow ? 'user' : summaryRole(input),
    content: input.text,
    id: keys.has('id') ? newId(dropped?.['id'], kept?.['id'], input.uuid('summary')) : undefined,
    conversation_id: isRow ? template['conversation_id'] : undefined,
    created_at: timeOf('created_at'),
    timestamp: timeOf('timestamp'),
  };
  const record = Object.fromEntries(orderOf(template).map((key) => [key, values[key]]));
  return [JSON.stringify(record).replace(RARE_LINE_ENDS, escapeChar)];
}

/** The keys of a record of the conversation, with content right after the role if that record has none. */
function orderOf(template: JsonRecord): readonly string[] {
  const own = new Set<string>(['role', 'content', ...OWN_KEYS]);
  const keys = Object.keys(template).filter((key) => own.has(key));
  if (!keys.includes('role')) return ['role', 'content', ...keys.filter((key) => key !== 'content')];
  return keys.includes('content') ? keys : keys.flatMap((key) => (key === 'role' ? ['role', 'content'] : [key]));
}

/**
 * A new id of the kind that the conversation uses. No new number is available, but that of the last message that left
 * is free, and it is in the right place in the order.
 */
function newId(dropped: Json | undefined, kept: Json | undefined, fresh: string): Json {
  const like = kept ?? dropped;
  if (typeof like === 'number') return dropped ?? like;
  if (typeof like !== 'string' || UUID.test(like)) return fresh;
  return `${ID_PREFIX.exec(like)?.[0] ?? ''}${fresh}`;
}

/**
 * The earliest time, as written, of the last message that left, the first that stays, and an instruction between them.
 */
function findTime(times: readonly [Json | undefined, Json | undefined, Json | undefined]): Json | undefined {
  const [dropped, kept] = times;
  const msOf = (value: Json | undefined): number | undefined =>
    typeof value === typeof (kept ?? dropped) ? parseTime(value)?.getTime() : undefined;
  const dated = times.filter((value) => msOf(value) !== undefined);
  const [first] = dated.toSorted((a, b) => (msOf(a) ?? 0) - (msOf(b) ?? 0));
  return dated.length === 0 ? (kept ?? dropped) : first;
}

function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The summary needs these columns if every message has them. */
const OWN_KEYS = ['id', 'conversation_id', 'created_at', 'timestamp'] as const;
type OwnKey = (typeof OWN_KEYS)[number];

type Survey = ReturnType<typeof createSurvey>;

/** How the records of a file are written, according to all its lines. */
function createSurvey() {
  const newTally = () => ({
    hasBegun: false,
    messages: 0,
    counts: new Map<OwnKey, number>(),
    laterInstruction: null as JsonRecord | null,
  });
  const tallies = new Map<string, ReturnType<typeof newTally>>();
  const marks = { kimi: false, blocks: 0, openai: 0 };
  return {
    /** One of Kimi's own records, which is not a message. */
    noteKimi: (): void => {
      marks.kimi = true;
    },
    noteSaid: (said: Said, isSummary: boolean): void => {
      const { record, role, conversation = '' } = said;
      if (isKimiRole(said.givenRole)) marks.kimi = true;
      if (hasAnthropicBlocks(record)) marks.blocks += 1;
      if (hasOpenAiShape(said)) marks.openai += 1;
      const tally = tallies.get(conversation) ?? newTally();
      tallies.set(conversation, tally);
      if (isSummary || role !== 'system') tally.hasBegun = true;
      else if (tally.hasBegun) {
        const { created_at = null, timestamp = null } = record;
        tally.laterInstruction ??= { created_at, timestamp };
      }
      if (isSummary || role === 'system') return;
      tally.messages += 1;
      for (const key of OWN_KEYS)
        if ((record[key] ?? null) !== null) tally.counts.set(key, (tally.counts.get(key) ?? 0) + 1);
    },
    hasKimi: (): boolean => marks.kimi,
    /** Whether the records are Anthropic's: blocks as content, and no role for system messages. */
    hasBlocks: (): boolean => !marks.kimi && marks.blocks > marks.openai,
    /**
     * The columns that every message of a conversation has, and the times of the first instruction after other messages: it stays, and the summary
     * must not be later.
     */
    read: (conversation: string) => {
      const { messages, counts, laterInstruction } = tallies.get(conversation) ?? newTally();
      const keys = new Set(OWN_KEYS.filter((key) => messages > 0 && counts.get(key) === messages));
      return { keys, laterInstruction };
    },
  };
}

const ANTHROPIC_BLOCK = /tool_use$|tool_result$|^(?:redacted_)?thinking$/;
const OPENAI_PART = /^(?:image_url|input_audio|input_text|output_text|refusal)$/;

function hasAnthropicBlocks(record: JsonRecord): boolean {
  if (record['type'] === 'message') return true;
  return recordsAt(record, 'content').some((block) => {
    const kind = stringAt(block, 'type') ?? '';
    return ANTHROPIC_BLOCK.test(kind) || (/^(?:image|document)$/.test(kind) && isRecord(block['source']));
  });
}

function hasOpenAiShape({ record, role }: Said): boolean {
  if (role === 'tool' || isRecord(record['function_call'])) return true;
  if ((listCalls(record['tool_calls']) ?? []).some((call) => isRecord(call['function']))) return true;
  return recordsAt(record, 'content').some((part) => OPENAI_PART.test(stringAt(part, 'type') ?? ''));
}
