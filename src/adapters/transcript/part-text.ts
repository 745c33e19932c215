import type { Json } from '../../ports/json.ts';
import { isRecord, type JsonRecord, stringAt } from './json.ts';

/** What a model thinks is not said, even where it has a text. */
const THINKING = /think|thought|reasoning/i;
const MEDIA = /image|audio|video|media|file|document|encrypted/i;

/** A string without white space beyond this is data (a picture as base64), and not what somebody said. */
const MAX_DATA_CHARS = 512;
const SHOWN_DATA_CHARS = 32;

/**
 * What a part of a message says: its text, '' for thinking and media, and of a kind that is not known its JSON, without long data. What is
 * not known is never taken for silence, or a message would leave without a word in the summary.
 * @throws RangeError where it is nested too deeply to be written as JSON.
 */
export function readPartText(part: Json | undefined): string {
  if (part === undefined || part === null) return '';
  if (typeof part === 'string') return part;
  if (isRecord(part)) {
    const type = stringAt(part, 'type') ?? stringAt(part, 'content_type') ?? onlyKey(part) ?? 'text';
    const text = stringAt(part, 'text');
    if (type !== 'text' && THINKING.test(type)) return '';
    if (text !== undefined) return text;
    if (MEDIA.test(type)) return '';
  }
  return JSON.stringify(part, (_, value: Json) => shortenData(value));
}

/** Bedrock names a part by its only key: `{reasoningContent: {…}}`, `{image: {format, source}}`. Of media, the data must be there. */
function onlyKey(part: JsonRecord): string | undefined {
  const [[key, value] = [], ...others] = Object.entries(part);
  if (key === undefined || others.length > 0 || !isRecord(value)) return undefined;
  return THINKING.test(key) || 'source' in value ? key : undefined;
}

function shortenData(value: Json): Json {
  if (typeof value !== 'string' || value.length <= MAX_DATA_CHARS || /\s/.test(value)) return value;
  return `${value.slice(0, SHOWN_DATA_CHARS)}…`;
}
