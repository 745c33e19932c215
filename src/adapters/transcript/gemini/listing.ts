import type { Json, ListedFile } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { asTitle, firstIn, listedRecords } from '../listed-title.ts';

/**
 * The title in the client's list, as @google/gemini-cli 0.61.0 finds it: the latest summary of the metadata, otherwise
 * the file's first user message that was meant for the model, even if it was taken back.
 */
export function listedTitle(file: ListedFile): string | null {
  const beside = listedRecords(file, 'end', { isWanted: ({ kind }) => kind !== 'message' });
  const summary = firstIn(beside, (record) => summaryIn(record));
  if (summary !== null && summary !== '') return asTitle(summary);
  return asTitle(firstIn(listedRecords(file, 'start'), firstPromptIn));
}

/** The update that the client writes when a model has summed up a session. */
export function renderTitle(title: string): string {
  return JSON.stringify({ $set: { summary: title } });
}

function summaryIn(record: JsonRecord): string | null {
  const { $set: update } = record;
  if (isRecord(update)) return stringAt(update, 'summary') ?? null;
  return 'projectHash' in record ? (stringAt(record, 'summary') ?? null) : null;
}

function firstPromptIn(record: JsonRecord): string | null {
  const update = isRecord(record['$set']) ? record['$set'] : record;
  const messages = isList(update['messages']) ? update['messages'] : [record];
  return firstIn(messages.filter(isRecord), promptText);
}

/** What the client adds or answers by itself. */
const NOT_SHOWN = /^(?:[/?]|<session_context>|<hook_context>)/;

function promptText(message: JsonRecord): string | null {
  if (message['type'] !== 'user' || stringAt(message, 'id') === undefined) return null;
  const text = textOf(message['content'] ?? null);
  if (text.trim() === '' || NOT_SHOWN.test(text.trim())) return null;
  // The list shows only the printable characters of ASCII. A prompt without any is better than none.
  return asTitle(text.replace(/\s+/g, ' ').replace(/[^ -~]+/g, '')) ?? text;
}

function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  const parts = isList(content) ? content : [content];
  return parts.map((part) => (isRecord(part) ? (stringAt(part, 'text') ?? '') : '')).join('');
}
