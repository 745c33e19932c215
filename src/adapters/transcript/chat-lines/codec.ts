import { hasQuotationNotice, parseClipArchiveHead } from '../../../core/clip-archive.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Json } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { isRecord, type JsonRecord, recordsAt, stringAt } from '../json.ts';
import { createSession } from '../session.ts';
import { classify, createChatReader, isUserRole } from './decode.ts';
import { findDialect, toChatMessage } from './dialects.ts';
import { createSurvey, renderSummary } from './render.ts';

/** Messages of chat models, one a line: OpenAI's, Anthropic's, the `context.jsonl` of Kimi CLI, rows of a database. */
export const chatLines: Codec = {
  format: FORMATS.chatLines,
  detect: detectChatLines,
  open: createChatSession,
};

/** How sure we are that these are messages, one a line. Formats with clearer signs are preferred to this one. */
function detectChatLines(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there are no records to judge by' };
  const records = sample.filter(isRecord);
  const other = records.flatMap((record) => nameOther(record) ?? []);
  const chat = records.filter((record) => isChat(record) && nameOther(record) === null).length;
  if (other[0] !== undefined && other.length >= chat) {
    return { confidence: 0, reason: `most records are those of ${mostFrequent(other)}` };
  }
  if (chat === 0) {
    const hasRole = records.some((record) => 'role' in record);
    return { confidence: 0, reason: hasRole ? 'no record has a role and content' : 'no record has a role' };
  }
  const reason = `${countOf(chat, 'record')} with a role and content`;
  // Messages with another type may be records of an unknown program.
  const surest = records.some(hasOtherType) ? 0.6 : 0.9;
  return { confidence: chat >= sample.length / 2 ? surest : 0.5, reason };
}

function hasOtherType(record: JsonRecord): boolean {
  const { type } = record;
  return typeof type === 'string' && type !== 'message' && findDialect(record) === null;
}

function isChat(record: JsonRecord): boolean {
  if (findDialect(record) !== null) return true;
  const { role } = record;
  if (typeof role !== 'string') return false;
  if (role.startsWith('_')) return true;
  const kind = classify(record);
  return (
    'kind' in kind &&
    kind.kind === 'said' &&
    ('content' in record || 'tool_calls' in record || 'function_call' in record)
  );
}

function mostFrequent(names: readonly string[]): string {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].reduce((best, one) => (one[1].length > best[1].length ? one : best))[0];
}

/** Records of formats that have their own codec, and the name for a file of them. */
type OtherFormat = { readonly name: string; readonly matches: (record: JsonRecord, type: string) => boolean };

const LOOSE_ITEMS = new Set([
  'function_call',
  'function_call_output',
  'reasoning',
  'custom_tool_call',
  'local_shell_call',
]);

const OTHER_FORMATS: readonly OtherFormat[] = [
  { name: 'a Codex session', matches: (record, type) => type !== '' && isRecord(record['payload']) },
  {
    name: 'an older Codex session, or bare items of the Responses API',
    matches: (record, type) =>
      'record_type' in record ||
      ('instructions' in record && 'git' in record) ||
      (LOOSE_ITEMS.has(type) && !('role' in record)) ||
      (type === 'message' && recordsAt(record, 'content').some(isResponsePart)),
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

function isResponsePart({ type }: JsonRecord): boolean {
  return type === 'input_text' || type === 'output_text';
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
