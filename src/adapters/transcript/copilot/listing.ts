import type { ListedFile } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { asTitle, firstIn, listedRecords } from '../listed-title.ts';

/** Copilot shows 500 characters and three dots. */
const MAX_SHOWN = 500;
const REMINDER = /<(?:system_)?reminder>/;

/**
 * The title in the client's list, as Copilot CLI 1.0.64 finds it for a session without a name in `workspace.yaml`: the
 * first message in a user's name that has words, whoever wrote it.
 */
export function listedTitle(file: ListedFile): string | null {
  const text = firstIn(listedRecords(file, 'start'), ({ type, data }) => {
    const content = type === 'user.message' && isRecord(data) ? (stringAt(data, 'content') ?? '') : '';
    return content === '' ? null : content;
  });
  const words = (text ?? '').split(REMINDER, 1)[0]?.replace(/\s+/g, ' ').trim() ?? '';
  return asTitle(words.length > MAX_SHOWN ? words.slice(0, MAX_SHOWN + 1) : words);
}

/**
 * A message like those that skills add: it is not shown, and as it has a source, Copilot does not tell the model of it
 * after the compaction that follows.
 */
export function renderTitle(title: string): JsonRecord {
  return { type: 'user.message', data: { content: title, source: 'system' } };
}
