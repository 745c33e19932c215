import type { ConversationMessage } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { summaryRole } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import { authorshipOf, type ItemPlace, textsOf } from './content.ts';
import type { CodexNote } from './context.ts';

/**
 * A `compacted` record as Codex writes one itself, whose history is the summary as a user's message, after what the compaction before it
 * still held of instructions. `message` is for versions that know no such history.
 */
export function renderCompaction(input: SummaryInput): string {
  const { text, prior = null } = input;
  const history = [...carriedItems(prior), summaryItem('user', text)];
  return JSON.stringify({
    ...stamp(input),
    type: 'compacted',
    payload: { message: text, replacement_history: history },
  });
}

/** The summary among items that stand alone: nothing but its first words and its role tells it from another message. */
export function renderItem(input: SummaryInput): string {
  const { timestamp } = stamp(input);
  return JSON.stringify({
    ...(timestamp !== undefined && { timestamp }),
    ...summaryItem(summaryRole(input), input.text),
  });
}

function summaryItem(role: 'user' | 'system', text: string): JsonRecord {
  return { type: 'message', role, content: [{ type: 'input_text', text }] };
}

/** The time of what left last. An ordinal where records are numbered: one that became free right before, so that numbers rise. */
function stamp({ firstKept, lastDropped, lastDroppedBefore = null }: SummaryInput): JsonRecord {
  const timestamp = fieldOf(lastDropped, 'timestamp') ?? fieldOf(firstKept, 'timestamp');
  const ordinal = fieldOf(lastDroppedBefore, 'ordinal') ?? fieldOf(lastDropped, 'ordinal');
  return {
    ...(typeof timestamp === 'string' && { timestamp }),
    ...(typeof ordinal === 'number' && { ordinal }),
  };
}

function fieldOf(record: Json, key: string): Json | undefined {
  return isRecord(record) ? record[key] : undefined;
}

const ENCRYPTED_TYPES = new Set(['compaction', 'compaction_summary', 'context_compaction']);
const ENCRYPTED =
  "Codex's own summary of what was said before is encrypted; only the service that wrote it can read it.";
const NOTHING = 'Codex compacted what was said before and left no text of it.';

/** A `compacted` record: the summary that stands for everything before it, or, in older versions, for all but what was typed. */
export function decodeCompaction(payload: JsonRecord, { line, at }: ItemPlace): Noted<CodexNote> {
  const history = payload['replacement_history'];
  const content = summaryText(payload);
  const message: ConversationMessage = {
    id: `line:${line}`,
    conversation_id: '',
    role: 'system',
    content,
    created_at: at,
    parts: [{ kind: 'text', text: content }],
  };
  return { kind: 'summary', ...(!isList(history) && { note: { kind: 'keeps-prompts' } }), message };
}

/**
 * What a compaction left to be read. Ours ends with its summary, which is all of it; else it is one text, or each with its role.
 * Instructions are not told of: they are carried over as they are.
 */
function summaryText(payload: JsonRecord): string {
  const items = historyOf(payload);
  const told = items.filter((item) => !isCarried(item)).flatMap(readTold);
  const last = items.slice(-1).flatMap(readTold)[0]?.text ?? '';
  if (isClipArchiveText(last)) return last;
  const isEncrypted = items.some(isEncryptedItem);
  const [only] = told;
  if (only !== undefined && told.length === 1 && !isEncrypted) return only.text;
  const blocks = [...told.map(({ role, text }) => `[${role}]\n${text}`), ...(isEncrypted ? [ENCRYPTED] : [])];
  if (blocks.length > 0) return blocks.join('\n\n');
  const message = stringAt(payload, 'message') ?? '';
  return message.trim() === '' ? NOTHING : message;
}

/**
 * The items of a compaction's history that a summary cannot stand for: instructions, surroundings, and what is encrypted. They go on into
 * the history of the compaction that takes its place.
 */
function carriedItems(record: Json): readonly JsonRecord[] {
  const payload = isRecord(record) ? record['payload'] : undefined;
  return isRecord(payload) ? historyOf(payload).filter((item) => isCarried(item) || isEncryptedItem(item)) : [];
}

function historyOf(payload: JsonRecord): readonly JsonRecord[] {
  const history = payload['replacement_history'];
  return isList(history) ? history.filter(isRecord) : [];
}

function isCarried(item: JsonRecord): boolean {
  const role = stringAt(item, 'role');
  if (role === 'developer' || role === 'system') return true;
  return role === 'user' && authorshipOf(textsOf(item['content'])).author === 'codex-context';
}

function isEncryptedItem(item: JsonRecord): boolean {
  return ENCRYPTED_TYPES.has(stringAt(item, 'type') ?? '') && item['encrypted_content'] !== undefined;
}

function readTold(item: JsonRecord): readonly { readonly role: string; readonly text: string }[] {
  const role = stringAt(item, 'role');
  const text = textsOf(item['content']).join('\n');
  return role === undefined || text.trim() === '' ? [] : [{ role, text }];
}
