import { countOf, estimateTokens } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type {
  Codec,
  CodecSession,
  Detection,
  Json,
  ListedFile,
  RecordProblem,
  SummaryInput,
} from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import {
  firstIn,
  isList,
  isRecord,
  type JsonRecord,
  readIsoTime,
  recordsAt,
  stringAt,
  textReader,
  valueAt,
} from '../json.ts';
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { asTitle, listedRecords } from '../listed-title.ts';
import {
  createPathFinder,
  cutsOfPath,
  findPath,
  isQwenRecord,
  isQwenType,
  readPathContext,
  renderChain,
} from '../parents.ts';
import { conversationOf, copyKeys, decodeSummary, firstText, linksOf, say, type SaidPlace } from '../said.ts';
import type { Role } from '../../../core/message.ts';
import { readParts, readRuleText, readTyped } from '../gemini/decode.ts';
import { textOfParts } from '../message-parts.ts';

/** Sessions of Qwen Code: `~/.qwen/projects/<folder>/chats/<session id>.jsonl`. */
export const qwen: Codec = {
  format: FORMATS.qwen,
  detect: detectQwen,
  readProject: textReader('cwd'),
  readModel: textReader('model'),
  listedTitle,
  open: createSession,
};

function detectQwen(sample: readonly Json[]): Detection {
  const own = sample.filter((value) => isRecord(value) && isQwenRecord(value));
  if (own.length === 0) return notOurs('no record has a uuid, a parentUuid and parts or a subtype');
  const isSure = own.some((value) => isList(valueAt(value, 'message', 'parts')));
  const confidence = own.length < sample.length / 2 ? 0.6 : isSure ? 1 : 0.9;
  return { confidence, reason: `${countOf(own.length, 'record')} of a session` };
}

/** What Qwen Code looks up in a session, wherever it is; the latest of each is repeated if it would leave. */
const SETTINGS = new Set(['custom_title', 'session_model', 'session_source', 'parent_session', 'goal_state']);

/** Remembers the settings of the session. */
function createSession(): CodecSession {
  const settings = new Map<string, { readonly line: number; readonly record: JsonRecord }>();
  // A cut is never before a compaction of Qwen's, so that one never leaves alone.
  const paths = createPathFinder((entries) => ({ ...findPath(entries, { repeatedIds: 'all' }), isTidy: true }));
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const subtype = record['type'] === 'system' ? (stringAt(record, 'subtype') ?? '') : '';
      if (isFirstPass && SETTINGS.has(subtype)) settings.set(subtype, { line, record });
      return decodeRecord(record, line);
    },
    readContext: (entries, noteOf) => readPathContext(paths.pathOf(entries, noteOf)),
    legalCuts: (entries, noteOf) => cutsOfPath(paths.pathOf(entries, noteOf), 'Qwen Code'),
    renderSummary: (input) => {
      const id = valueAt(input.firstKept, 'uuid');
      const cutLine = paths.latest()?.entries.findLast(({ recordId }) => recordId === id)?.line ?? 0;
      const lost = [...settings.values()].filter(({ line }) => line < cutLine).map(({ record }) => record);
      return renderSummary(input, lost);
    },
  });
}

/** Qwen Code's number for a compression that succeeded. */
const COMPRESSED = 1;
/** Qwen Code goes by the id and the folder of the first line, and refuses a file with two session ids. */
const SESSION_KEYS = ['sessionId', 'cwd', 'version', 'gitBranch'];

/**
 * A `chat_compression` like Qwen Code's own. It takes the uuid that the first kept record names as its parent, so that
 * kept lines attach to it unchanged. Before it come the settings that would be lost.
 */
function renderSummary(input: SummaryInput, lost: readonly JsonRecord[]): readonly string[] {
  const { text, firstKept, lastDropped, lastDroppedBefore, listedAs, tokensBefore, uuid } = input;
  const timestamp = firstText('timestamp', lastDroppedBefore, lastDropped, firstKept);
  const time: JsonRecord = timestamp === undefined ? {} : { timestamp };
  const common = copyKeys(firstKept, SESSION_KEYS);
  const title = {
    ...time,
    type: 'system',
    subtype: 'custom_title',
    systemPayload: { customTitle: listedAs ?? '', titleSource: 'auto' }, // as when a model has named a session
  };
  const { lines, lastId } = renderChain(listedAs === undefined ? lost : [...lost, title], {
    parentId: null,
    uuid,
    link: (record, id, parentUuid) => ({ ...record, uuid: id, parentUuid, ...common }),
  });
  const compression = {
    uuid: firstText('parentUuid', firstKept) ?? uuid('compression'),
    parentUuid: lastId,
    ...common,
    ...time,
    type: 'system',
    subtype: 'chat_compression',
    systemPayload: {
      info: {
        originalTokenCount: tokensBefore,
        newTokenCount: estimateTokens(text),
        compressionStatus: COMPRESSED,
      },
      compressedHistory: [{ role: 'user', parts: [{ text }] }],
    },
  };
  return [...lines, JSON.stringify(compression)];
}

/** Qwen Code looks for a title in this many bytes at either end of a file, and for a prompt in its first records. */
const WINDOW_BYTES = 65_536;
const PROMPT_RECORDS = 10;
const FIRST_CHARACTERS = /^[\s\S]{0,200}/u;

/** The title in the client's list, as Qwen Code 0.24.4 finds it: the latest title, otherwise the first prompt. */
function listedTitle(file: ListedFile): string | null {
  const window = { withinBytes: WINDOW_BYTES };
  const title =
    firstIn(listedRecords(file, 'end', window), titleIn) ??
    firstIn([...listedRecords(file, 'start', window)].toReversed(), titleIn) ??
    '';
  if (title !== '') return asTitle(title);
  return asTitle(firstIn(listedRecords(file, 'start', { maxLines: PROMPT_RECORDS }), promptText));
}

function titleIn({ subtype, systemPayload }: JsonRecord): string | null {
  return subtype === 'custom_title' ? (stringAt(systemPayload, 'customTitle') ?? null) : null;
}

function promptText({ type, subtype, message, systemPayload }: JsonRecord): string | null {
  if (type !== 'user' || subtype !== undefined) return null;
  const text = stringAt(systemPayload, 'displayText') ?? firstText('text', ...recordsAt(message, 'parts')) ?? '';
  if (text === '') return null;
  const start = FIRST_CHARACTERS.exec(text)?.[0] ?? '';
  return start.length < text.length ? `${start}...` : text;
}

/** Records beside the chain: no other record has one of them as its parent. The latest `session_sources_snapshot` counts. */
const ASIDE = new Set([
  'session_artifact_event',
  'session_artifact_snapshot',
  'session_sources_snapshot',
  'managed_session_header_v1',
  'managed_session_event_v1',
  'managed_session_commit_v1',
]);

/** User records that a person typed; others are notifications, timers and the like. */
const TYPED_SUBTYPES = new Set([undefined, 'mid_turn_user_message']);

/** Decodes a record. A message whose parts are not a list is a problem, because Qwen Code would send it without words. */
function decodeRecord(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { type, subtype = '', systemPayload } = record;
  if (type === 'system' && typeof subtype === 'string' && ASIDE.has(subtype))
    return { kind: 'meta', ...(subtype === 'session_sources_snapshot' && { latestKey: subtype }) };
  if (!isQwenType(type)) return { kind: 'meta' };
  const links = { ...conversationOf(record, 'sessionId'), ...linksOf(record, 'uuid', 'parentUuid') };
  const { recordId: id, conversation } = links;
  const place = { id, line, conversation, at: readIsoTime(record['timestamp']) };
  const said =
    type === 'system' ? decodeCompression(subtype, systemPayload, place) : decodeMessage(record, type, place);
  return 'problem' in said ? said : { ...said, ...links };
}

/** Qwen Code's compression, or ours: a list of messages that replaces everything before it. */
function decodeCompression(subtype: Json, payload: Json | undefined, place: SaidPlace): Decoded {
  const history = valueAt(payload, 'compressedHistory');
  if (subtype !== 'chat_compression' || !isList(history)) return { kind: 'meta' };
  const parts = history.filter(isRecord).flatMap((message) => readParts({ content: message['parts'] ?? [] }));
  return decodeSummary(textOfParts(parts), place);
}

function decodeMessage(record: JsonRecord, type: string, place: SaidPlace): Decoded | RecordProblem {
  const { message, systemPayload, provenance = 'real_user' } = record;
  const subtype = stringAt(record, 'subtype');
  if (message === undefined || subtype === 'realtime_message') return { kind: 'meta' }; // the model gets nothing from it
  if (!isRecord(message) || !isList(message['parts']))
    return { problem: `a record of type ${type} whose message has no list of parts` };
  const parts = readParts({ content: message['parts'] });
  const hasResults = parts.some(({ kind }) => kind === 'result');
  const role: Role = hasResults ? 'tool' : type === 'assistant' ? 'assistant' : 'user';
  const said = { ...place, role, parts };
  if (type !== 'user' || role !== 'user' || !TYPED_SUBTYPES.has(subtype)) return say(said);
  // The prompt as it was typed is beside it where something else was sent.
  const prompt = { content: stringAt(systemPayload, 'displayText') ?? message['parts'] };
  const typed = readTyped(prompt);
  return say(
    { ...said, typed, ruleText: provenance === 'real_user' ? readRuleText(prompt) : undefined },
    { ...(typed !== undefined && subtype === undefined && { isPrompt: true }) },
  );
}
