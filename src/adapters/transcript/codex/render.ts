import type { ConversationMessage } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { contentText, contentTexts, summaryRole } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import { renderTitle } from './listing.ts';
import { authorshipOf, type CodexNote, type ItemPlace } from './content.ts';

/** The event with the title, if it has to be written, and the compaction. Between ordinals that follow each other there is no room for it. */
export function renderSummary(input: SummaryInput): readonly string[] {
  const { listedAs, firstDropped = null } = input;
  const compaction = renderCompaction(input);
  const own = stamp(input);
  const before = { ...own, ...stamp({ ...input, lastDroppedBefore: firstDropped }) };
  const hasRoom = own['ordinal'] === undefined || Number(before['ordinal']) < Number(own['ordinal']);
  if (listedAs === undefined || !hasRoom) return [compaction];
  return [JSON.stringify({ ...before, ...renderTitle(listedAs) }), compaction];
}

/**
 * A `compacted` record like Codex's own. Its history holds the instructions left in the history of the previous
 * compaction, and then the summary as a user message. `message` is for versions without such a history.
 */
function renderCompaction(input: SummaryInput): string {
  const { text, prior = null } = input;
  const history = [...carriedItems(prior), summaryItem('user', text)];
  return JSON.stringify({
    ...stamp(input),
    type: 'compacted',
    payload: { message: text, replacement_history: history },
  });
}

/** The summary as a bare item: only its first words and its role distinguish it from other messages. */
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

/**
 * The time of the last record that left. If records have ordinals: the one that became free right before, so that they
 * keep rising.
 */
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

/**
 * A `compacted` record: the summary that replaces everything before it or, in older versions, everything except
 * prompts.
 */
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
 * The text that a compaction left. Ours ends with its summary, which is all of the text. Otherwise it is one text, or
 * several, each with its role. Instructions are not included, since they are carried over as they are.
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
 * The items of a compaction's history that a summary cannot replace: instructions, the environment, and encrypted
 * items. The next compaction carries them over into its own history.
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
  return role === 'user' && authorshipOf(contentTexts(item['content'])).author === 'codex-context';
}

function isEncryptedItem(item: JsonRecord): boolean {
  return ENCRYPTED_TYPES.has(stringAt(item, 'type') ?? '') && item['encrypted_content'] !== undefined;
}

function readTold(item: JsonRecord): readonly { readonly role: string; readonly text: string }[] {
  const role = stringAt(item, 'role');
  const text = contentText(item['content']);
  return role === undefined || text.trim() === '' ? [] : [{ role, text }];
}
