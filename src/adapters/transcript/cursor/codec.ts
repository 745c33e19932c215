import { isClipArchiveText } from '../../../core/split.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { readAlone, toDecoded } from '../chat-lines/decode.ts';
import { isList, isRecord, type JsonRecord, listOf, stringAt } from '../json.ts';
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { typedText, withoutTyped, withTyped } from '../message-parts.ts';

/** Transcripts that Cursor's agent writes beside its database: `~/.cursor/projects/<folder>/agent-transcripts/**`. */
export const cursor: Codec = {
  format: FORMATS.cursor,
  detect: detectCursor,
  open: createSession,
};

function detectCursor(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const messages = records.filter(isMessage).length;
  const ends = records.filter(({ type, status }) => type === 'turn_ended' && typeof status === 'string').length;
  if (messages === 0) return notOurs('no record has a role beside a message with content');
  const reason = `${countOf(messages, 'record')} with a role beside a message with content`;
  return { confidence: messages + ends >= sample.length / 2 ? 0.95 : 0.5, reason };
}

function isMessage(record: JsonRecord): boolean {
  const { role, message, type } = record;
  if (typeof role !== 'string' || type !== undefined || 'content' in record) return false;
  return isRecord(message) && !('role' in message) && ['string', 'object'].includes(typeof message['content']);
}

/** Calls have no ids and no results, so no line belongs to another. */
function createSession(): CodecSession {
  let firstSaidLine = 0;
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const { role, message, timestamp } = record;
      if (role === undefined) return { kind: 'meta' };
      if (!isRecord(message)) return { problem: 'a record with a role, but without a message' };
      const { content = null } = message;
      if (typeof content !== 'string' && !isList(content))
        return { problem: 'a message whose content is neither text nor a list' };
      const read = readAlone({ role, content, ...(timestamp !== undefined && { timestamp }) }, line);
      if (!('said' in read)) return read;
      if (isFirstPass && firstSaidLine === 0) firstSaidLine = line;
      const isFirst = line === firstSaidLine && read.said.role !== 'assistant';
      const isSummary = isFirst && isClipArchiveText(read.content.text);
      return readTyped(toDecoded({ ...read, isSummary }), content);
    },
    renderSummary: ({ text }) => [JSON.stringify({ role: 'user', message: { content: [{ type: 'text', text }] } })],
  });
}

const QUERY = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/g;
/** What Cursor puts before or instead of a prompt: `<timestamp>`, `<open_files>`, `<dynamic_tools>`, … */
const INJECTED_BLOCK = /^\s*<[a-z_]+[ />]/;

/** What a person typed: what `<user_query>` contains, or a text without any tag of Cursor's. */
function readTyped(decoded: Decoded, content: string | readonly Json[]): Decoded {
  const { message } = decoded;
  if (message?.typed === undefined) return decoded;
  const texts = listOf(content).map((block) => (typeof block === 'string' ? block : stringAt(block, 'text')) ?? '');
  const queries = texts.flatMap((text) => Array.from(text.matchAll(QUERY), ([, words = '']) => words));
  const typed = typedText(queries.length > 0 ? queries : texts.filter((text) => !INJECTED_BLOCK.test(text)));
  const { isPrompt: _, ...rest } = withoutTyped(decoded);
  if (typed === undefined || typed.trim() === '') return rest;
  return { ...rest, isPrompt: true, message: withTyped(message, typed) };
}
