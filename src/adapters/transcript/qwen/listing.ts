import type { ListedFile } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { asTitle, firstIn, listedRecords } from '../listed-title.ts';

/** Qwen Code looks for a title in this many bytes at either end of a file, and for a prompt in its first records. */
const WINDOW_BYTES = 65_536;
const PROMPT_RECORDS = 10;
const FIRST_CHARACTERS = /^[\s\S]{0,200}/u;

/** The title in the client's list, as Qwen Code 0.24.4 finds it: the latest title, otherwise the first prompt. */
export function listedTitle(file: ListedFile): string | null {
  const window = { withinBytes: WINDOW_BYTES };
  const title =
    firstIn(listedRecords(file, 'end', window), titleIn) ??
    firstIn([...listedRecords(file, 'start', window)].toReversed(), titleIn) ??
    '';
  if (title !== '') return asTitle(title);
  return asTitle(firstIn(listedRecords(file, 'start', { maxLines: PROMPT_RECORDS }), promptText));
}

/** The record that the client writes when a model has named a session. */
export function renderTitle(title: string, timestamp: string | undefined): JsonRecord {
  return {
    ...(timestamp !== undefined && { timestamp }),
    type: 'system',
    subtype: 'custom_title',
    systemPayload: { customTitle: title, titleSource: 'auto' },
  };
}

function titleIn({ subtype, systemPayload }: JsonRecord): string | null {
  if (subtype !== 'custom_title' || !isRecord(systemPayload)) return null;
  return stringAt(systemPayload, 'customTitle') ?? null;
}

function promptText({ type, subtype, message, systemPayload }: JsonRecord): string | null {
  if (type !== 'user' || subtype !== undefined) return null;
  const shown = isRecord(systemPayload) ? stringAt(systemPayload, 'displayText') : undefined;
  const parts = isRecord(message) && isList(message['parts']) ? message['parts'] : [];
  const text = shown ?? firstIn(parts.filter(isRecord), (part) => stringAt(part, 'text') ?? null) ?? '';
  if (text === '') return null;
  const start = FIRST_CHARACTERS.exec(text)?.[0] ?? '';
  return start.length < text.length ? `${start}...` : text;
}
