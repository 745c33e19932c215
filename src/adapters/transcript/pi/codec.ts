import { countOf } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, ListedFile, RecordProblem } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import {
  firstIn,
  isList,
  isRecord,
  type JsonRecord,
  listOf,
  readIsoTime,
  readMilliseconds,
  stringAt,
  textReader,
  valueAt,
} from '../json.ts';
import { createSession as createPlainSession, type Noted, notOurs } from '../session.ts';
import { asTitle, listedRecords } from '../listed-title.ts';
import { createPathFinder, cutsOfPath, findPath, readPathContext, renderChain } from '../parents.ts';
import {
  callPart,
  conversationOf,
  decodeSummary,
  linksOf,
  resultPart,
  say,
  type SaidPlace,
  textBlocks,
  textParts,
} from '../said.ts';
import type { MessagePart, Role } from '../../../core/message.ts';
import { argumentText, joinTexts, readPartText, ruleWords, textOfParts, typedText } from '../message-parts.ts';

/** Sessions of pi, and of OpenClaw, which contains pi: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`. */
export const pi: Codec = {
  format: FORMATS.pi,
  detect: detectPi,
  readProject: textReader('cwd'),
  readModel: textReader('message', 'model'),
  listedTitle,
  open: createSession,
};

/** Types of entries that nobody else writes this way; a message itself is under `message`. */
const ENTRY_TYPES = new Set([
  'thinking_level_change',
  'model_change',
  'compaction',
  'branch_summary',
  'custom',
  'custom_message',
  'label',
  'session_info',
]);

/** How sure we are that these are entries of a pi session. The header comes first; without it pi reads nothing. */
function detectPi(sample: readonly Json[]): Detection {
  const [first] = sample;
  if (first === undefined) return notOurs('there are no records to judge by');
  const entries = sample.filter((value) => isRecord(value) && isEntry(value)).length;
  if (stringAt(first, 'type') === 'session' && stringAt(first, 'id') !== undefined)
    return { confidence: 1, reason: 'the first record is the header of a session' };
  if (entries === 0) return notOurs('the first record is not a header of type session');
  const reason = `${countOf(entries, 'entry', 'entries')} of a session, but the first record is not a header of type session`;
  return { confidence: entries >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isEntry(record: JsonRecord): boolean {
  const { type, timestamp } = record;
  if (typeof timestamp !== 'string' || typeof type !== 'string') return false;
  return type === 'message' ? stringAt(record, 'message', 'role') !== undefined : ENTRY_TYPES.has(type);
}

/** Remembers the settings of the session, the latest time, and for version 1, whose entries have no ids, the number of entries. */
function createSession(): CodecSession {
  const state = createSessionState();
  let version: number | null = null;
  let count = 0;
  let lastName: string | null = null;
  let latestMs = 0;
  const paths = createPathFinder<CompactionNote>((entries, noteOf) =>
    findPath(entries, { repeatedIds: 'last', keptFrom: (line) => noteOf(line)?.keptFrom }),
  );
  /** In version 1 each entry follows the one before it. */
  const isVersion1 = (): boolean => version !== null && version < 2;
  const numberedLinks = (): ReturnType<typeof linksOf> => {
    const parentId = lastName;
    lastName = entryName(count - 1);
    return { recordId: lastName, parentId };
  };
  const renderSummary: CodecSession['renderSummary'] = (input) => {
    const { firstKept, listedAs, uuid, prior = null } = input;
    const isNumbered = isVersion1();
    const { entries = [], sinceCompaction = 0 } = paths.latest() ?? {};
    const steps = new Map(entries.map(({ line }, at) => [line, at] as const));
    const firstKeptId = stringAt(firstKept, 'id');
    const step = entries.findIndex(({ recordId }) => recordId === firstKeptId);
    // In version 1 there is no sign of where the kept part begins, so the settings in force at the end are repeated.
    const cutLine = isNumbered ? undefined : entries[step]?.line;
    const latest: JsonRecord = latestMs > 0 ? { timestamp: new Date(latestMs).toISOString() } : {};
    const settings = [
      ...state.lostBefore(cutLine ?? Number.POSITIVE_INFINITY, steps),
      ...(listedAs === undefined ? [] : [{ type: NAME, ...latest, name: listedAs }]),
    ];
    // The summary takes the id that the first kept entry names as its parent, so that the kept lines attach to it unchanged. If the kept part
    // begins before a compaction that leaves, the entries after that compaction depend on its id: then the summary takes its id and parent.
    const priorId = sinceCompaction > 0 && step > sinceCompaction ? stringAt(prior, 'id') : undefined;
    const id = priorId ?? stringAt(firstKept, 'parentId') ?? uuid('compaction');
    const { lines, lastId } = renderChain(settings, {
      parentId: priorId === undefined ? null : (stringAt(prior, 'parentId') ?? null),
      uuid,
      link: ({ id: _id, parentId: _parentId, type = null, ...rest }, ownId, parentId) => ({
        type,
        ...(!isNumbered && { id: ownId, parentId }),
        ...rest,
      }),
    });
    const compaction = {
      type: 'compaction',
      ...(!isNumbered && { id, parentId: lastId }),
      ...latest, // pi ignores the token counts of answers up to this time, and would otherwise compact at once because of them
      summary: input.text,
      ...(isNumbered && { firstKeptEntryIndex: lines.length + 2 }), // counted after the header, the settings and this entry
      ...(!isNumbered && firstKeptId !== undefined && { firstKeptEntryId: firstKeptId }),
      tokensBefore: input.tokensBefore,
      fromHook: true,
    };
    return [...lines, JSON.stringify(compaction)];
  };
  return createPlainSession<CompactionNote>({
    what: 'a call whose arguments are',
    readHeader: (record) => {
      if (record['type'] !== 'session') return null;
      version = Number(record['version'] ?? 1);
      count += 1;
      return { kind: 'header', ...conversationOf(record, 'id') };
    },
    read: (record, { line, isFirstPass }) => {
      if (isFirstPass) count += 1;
      const decoded = decodeEntry(record, line);
      if (!isFirstPass || record['type'] === 'session' || 'problem' in decoded) return decoded;
      state.note(record, line);
      // pi compares the time of an entry's message with the time of a compaction.
      for (const time of [record['timestamp'], valueAt(record, 'message', 'timestamp')])
        latestMs = Math.max(latestMs, readTime(time)?.getTime() ?? 0);
      return { ...decoded, ...(isVersion1() ? numberedLinks() : linksOf(record, 'id', 'parentId')) };
    },
    readContext: (entries, noteOf) => readPathContext(paths.pathOf(entries, noteOf)),
    legalCuts: (entries, noteOf) => cutsOfPath(paths.pathOf(entries, noteOf), 'pi'),
    renderSummary,
  });
}

/** The title in pi's list, as pi 0.73.1 finds it: the session's latest name, otherwise the first user message of the file. */
function listedTitle(file: ListedFile): string | null {
  const beside = listedRecords(file, 'end', { isWanted: ({ kind = 'meta' }) => kind === 'meta' });
  const name = firstIn(beside, (record) =>
    record['type'] === 'session_info' ? (stringAt(record, 'name') ?? '') : null,
  );
  const promptIn = ({ type, message }: JsonRecord): string | null =>
    type === 'message' && stringAt(message, 'role') === 'user'
      ? textBlocks(valueAt(message, 'content')).join(' ') || null
      : null;
  return asTitle(name) ?? asTitle(firstIn(listedRecords(file, 'start'), promptIn));
}

/** A setting that pi finds in an entry when it reads a session. */
type Setting = { readonly line: number; readonly record: JsonRecord };

/** The only setting that counts wherever it is. */
const NAME = 'session_info';

/**
 * Thinking level, model, name of the session, and the latest entry of each extension. Small entries are all remembered
 * (the latest may be on an abandoned branch); of extensions' entries, which may be large, only the latest of each
 * type.
 */
function createSessionState() {
  const settings = new Map<string, Setting[]>();
  const add = (name: string, setting: Setting): void => {
    const known = settings.get(name);
    if (known === undefined) settings.set(name, [setting]);
    else known.push(setting);
  };
  const noteModel = (record: JsonRecord, line: number): void => {
    const before = settings.get('model')?.at(-1)?.record;
    const isSame = before?.['provider'] === record['provider'] && before?.['modelId'] === record['modelId'];
    add('model', { line, record: isSame && before !== undefined ? before : record });
  };
  return {
    note: (record: JsonRecord, line: number): void => {
      switch (record['type']) {
        case 'thinking_level_change':
          return add('thinking', { line, record });
        case 'model_change':
          return noteModel(record, line);
        case 'message': {
          const change = modelOf(record);
          return change === null ? undefined : noteModel(change, line);
        }
        case NAME:
          return void settings.set(NAME, [{ line, record }]);
        case 'custom':
          return void settings.set(`custom ${stringAt(record, 'customType') ?? ''}`, [{ line, record }]);
      }
    },
    /**
     * The entries to repeat: for each setting the one in force, if it is before `cutLine`. `stepOf` maps an entry's line
     * to its distance from the end of the path.
     */
    lostBefore: (cutLine: number, stepOf: ReadonlyMap<number, number>): readonly JsonRecord[] =>
      [...settings].flatMap(([name, known]) => {
        const step = ({ line }: Setting): number =>
          name === NAME ? 0 : (stepOf.get(line) ?? Number.POSITIVE_INFINITY);
        const inForce = known.reduce((best, one) => (step(one) < step(best) ? one : best));
        return step(inForce) < Number.POSITIVE_INFINITY && inForce.line < cutLine ? [inForce.record] : [];
      }),
  };
}

/** An answer names the model that was in use, just as a change of model would. */
function modelOf({ message, timestamp = null }: JsonRecord): JsonRecord | null {
  const provider = stringAt(message, 'provider');
  const modelId = stringAt(message, 'model');
  if (stringAt(message, 'role') !== 'assistant' || provider === undefined || modelId === undefined) return null;
  return { type: 'model_change', timestamp, provider, modelId };
}

/** The id of the first entry before it that a compaction kept. */
type CompactionNote = { readonly keptFrom: string };

/** Decodes an entry. Only a message or a compaction can have a problem. */
export function decodeEntry(entry: JsonRecord, line: number): Noted<CompactionNote> | RecordProblem {
  const place = { id: stringAt(entry, 'id'), line, at: readTime(entry['timestamp']) };
  const { type, content, message } = entry;
  if (type === 'message') return decodeMessage(message, place);
  if (type === 'compaction') return decodeCompaction(entry, place);
  const summary = type === 'branch_summary' ? (stringAt(entry, 'summary') ?? '') : '';
  if (summary !== '') return decodeWords(summary, place);
  if (type !== 'custom_message' || !isContent(content)) return { kind: 'meta' };
  return decodeWords(textOfParts(readContent(content)), place, stringAt(entry, 'customType'));
}

/** pi's compaction, or ours. What it keeps of the entries before it begins at `firstKeptEntryId`; version 1 counts entries instead. */
function decodeCompaction(entry: JsonRecord, place: SaidPlace): Noted<CompactionNote> | RecordProblem {
  const { summary, firstKeptEntryIndex: index } = entry;
  if (typeof summary !== 'string') return { problem: 'a compaction entry whose summary is not a string' };
  const keptFrom = stringAt(entry, 'firstKeptEntryId') ?? (typeof index === 'number' ? entryName(index) : undefined);
  return { ...decodeSummary(summary, place), ...(keptFrom !== undefined && { note: { keptFrom } }) };
}

/** Our name for the n-th entry of a version 1 file, in which entries have no ids. The header is entry 0. */
function entryName(index: number): string {
  return `entry:${index}`;
}

/** The roles of messages with content, and the role in which pi sends each. `hookMessage` is the name of `custom` in version 2. */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['toolResult', 'tool'],
  ['custom', 'user'],
  ['hookMessage', 'user'],
]);

/** An entry of type message. A role that pi does not send to the model is not part of the main thread. */
function decodeMessage(message: Json | undefined, entryPlace: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a message entry without a message' };
  const { role, summary, content } = message;
  if (typeof role !== 'string') return { problem: "a message entry whose message's role is not a string" };
  const place = { ...entryPlace, at: entryPlace.at ?? readTime(message['timestamp']) };
  if (role === 'bashExecution') {
    const isSide = message['excludeFromContext'] === true;
    return { ...decodeWords(shellText(message), place), ...(isSide && { isSide }) };
  }
  if (role === 'branchSummary' || role === 'compactionSummary') {
    if (typeof summary === 'string') return decodeWords(summary, place);
    return { problem: `a message entry whose ${role} message's summary is not a string` };
  }
  const sentAs = ROLES.get(role);
  if (sentAs === undefined) return { ...decodeWords('', place), isSide: true };
  if (!isContent(content))
    return { problem: `a message entry whose ${role} message's content is neither text nor a list` };
  const callId = sentAs === 'tool' ? stringAt(message, 'toolCallId') : undefined;
  const name = stringAt(message, sentAs === 'tool' ? 'toolName' : 'customType');
  const parts = readContent(content);
  const said = { ...place, role: sentAs, name, parts };
  if (callId !== undefined)
    return say({ ...said, parts: [resultPart(callId, textOfParts(parts), message['isError'] === true)] });
  if (role !== 'user') return say(said);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const hasImage = listOf(content).some((block) => stringAt(block, 'type') === 'image');
  const isShown = hasImage || texts.some((text) => text.trim() !== '');
  return say(
    { ...said, typed: typedText(texts.map(withoutAttached)), ruleText: ruleWords(texts) },
    { ...(isShown && { isPrompt: true }) },
  );
}

/**
 * What pi adds before a prompt in the same text: files named on the command line, and a skill. Their text may contain
 * the closing tag, so the last one counts.
 */
const ATTACHED = /^\s*<(file|skill) name="[^"\n]*"[^>\n]*>/;

function withoutAttached(text: string): string {
  const tag = ATTACHED.exec(text)?.[1];
  if (tag === undefined) return text;
  const end = text.lastIndexOf(`</${tag}>`);
  return end < 0 ? '' : text.slice(end + tag.length + 3).trim();
}

/** Text that pi sends as the user's although no person typed it as a prompt. */
function decodeWords(text: string, place: SaidPlace, name?: string): Decoded {
  return say({ ...place, role: 'user', name, parts: textParts([text]) });
}

/** The content of a message, without thinking and images. */
function readContent(content: string | readonly Json[]): readonly MessagePart[] {
  return listOf(content).flatMap((block) => {
    if (!isRecord(block) || block['type'] !== 'toolCall') return textParts([readPartText(block)]);
    return [callPart(stringAt(block, 'id'), stringAt(block, 'name') ?? '', argumentText(block['arguments']))];
  });
}

/** A command that a person ran in pi's own shell, as text: the command, what it printed, and how it ended if it failed. */
function shellText(message: JsonRecord): string {
  const { exitCode, cancelled } = message;
  const failed = typeof exitCode === 'number' && exitCode !== 0;
  const end = cancelled === true ? '(cancelled)' : failed ? `(exit code ${exitCode})` : '';
  return joinTexts([`$ ${stringAt(message, 'command') ?? ''}`, stringAt(message, 'output') ?? '', end]);
}

function isContent(content: Json | undefined): content is string | readonly Json[] {
  return typeof content === 'string' || isList(content);
}

/** The time of an entry (ISO 8601) or of a message (milliseconds since 1970), or null. */
function readTime(value: Json | undefined): Date | null {
  return readIsoTime(value) ?? readMilliseconds(value);
}
