import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText } from '../part-text.ts';

/** Content of the model's own thinking: it is not said. */
const THINKING: ReadonlySet<string> = new Set(['thoughts', 'reasoning_recap']);

/** Where content of the various types has its text, beside `parts`. */
const TEXT_KEYS = ['title', 'url', 'user_profile', 'user_instructions', 'model_set_context', 'text', 'result'];

/** The text of a message's content; '' where it is thinking, or media alone. */
export function readText(content: Json | undefined): string {
  if (!isRecord(content)) return readPartText(content);
  const type = stringAt(content, 'content_type') ?? '';
  if (THINKING.has(type)) return '';
  const texts = [...TEXT_KEYS.map((key) => stringAt(content, key) ?? ''), ...textsOfParts(content)];
  const text = texts.filter((one) => one !== '').join('\n');
  const isEmpty = isList(content['parts']) || TEXT_KEYS.some((key) => typeof content[key] === 'string');
  return text === '' && !isEmpty ? readPartText(content) : text;
}

/** Parts that are objects are pictures, sounds and files; of a sound its transcription is text. */
function textsOfParts({ parts }: JsonRecord): readonly string[] {
  return isList(parts) ? parts.map(readPartText) : [readPartText(parts)];
}

/** Settings that a person wrote once for all conversations; the export has them as messages of a user. */
export function isSettings(content: Json | undefined): boolean {
  const type = isRecord(content) ? (stringAt(content, 'content_type') ?? '') : '';
  return type === 'user_editable_context' || type === 'model_editable_context';
}
