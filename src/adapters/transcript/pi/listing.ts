import type { ListedFile } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { asTitle, firstIn, listedRecords } from '../listed-title.ts';

/** The title in pi's list, as pi 0.73.1 finds it: the session's latest name, otherwise the first user message of the file. */
export function listedTitle(file: ListedFile): string | null {
  const beside = listedRecords(file, 'end', { isWanted: ({ kind = 'meta' }) => kind === 'meta' });
  const name = firstIn(beside, (record) =>
    record['type'] === 'session_info' ? (stringAt(record, 'name') ?? '') : null,
  );
  return asTitle(name) ?? asTitle(firstIn(listedRecords(file, 'start'), promptText));
}

function promptText({ type, message }: JsonRecord): string | null {
  if (type !== 'message' || !isRecord(message) || message['role'] !== 'user') return null;
  const { content } = message;
  const texts = (isList(content) ? content.filter(isRecord) : []).flatMap((block) =>
    block['type'] === 'text' ? (stringAt(block, 'text') ?? []) : [],
  );
  const text = typeof content === 'string' ? content : texts.join(' ');
  return text === '' ? null : text;
}
