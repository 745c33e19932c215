import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type {
  Codec,
  CodecSession,
  ContextView,
  CutProblem,
  Detection,
  Json,
  ListedFile,
  RecordProblem,
  SummaryInput,
} from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import {
  firstIn,
  idAt,
  isRecord,
  type JsonRecord,
  known,
  listAt,
  readIsoTime,
  recordAt,
  recordsAt,
  stringAt,
  textReader,
} from '../json.ts';
import { createSession as createPlainSession, type Noted, type NoteOf, notOurs } from '../session.ts';
import { asTitle, listedRecords } from '../listed-title.ts';
import {
  callPart,
  conversationOf,
  decodeSummary,
  firstText,
  linksOf,
  resultPart,
  say,
  type SaidPlace,
  textParts,
} from '../said.ts';
import { argumentText, readPartText, ruleWords, typedText } from '../message-parts.ts';

/** Sessions of GitHub Copilot CLI: `~/.copilot/session-state/<session id>/events.jsonl`. */
export const copilot: Codec = {
  format: FORMATS.copilot,
  detect: detectCopilot,
  readProject: textReader('data', 'context', 'cwd'),
  readModel: textReader('data', 'model'),
  listedTitle,
  open: createSession,
};

const EVENT_TYPE = /^(?:abort|(?:session|user|assistant|system|tool|hook|permission|subagent|skill)\.[a-z_.]+)$/;

/**
 * How sure we are that these are events of a Copilot CLI session. `session.start` comes first; without it Copilot
 * resumes nothing.
 */
function detectCopilot(sample: readonly Json[]): Detection {
  const [first] = sample;
  if (first === undefined) return notOurs('there are no records to judge by');
  const events = sample.filter((value) => isRecord(value) && isEvent(value)).length;
  if (events === 0) return notOurs('no record is an event with a type, data and a parent');
  if (isRecord(first) && isEvent(first) && first['type'] === 'session.start')
    return { confidence: 1, reason: 'the first record is the start of a session' };
  const reason = `${countOf(events, 'event')} of a session, but the first record is no session.start`;
  return { confidence: events >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isEvent(record: JsonRecord): boolean {
  return EVENT_TYPE.test(stringAt(record, 'type') ?? '') && isRecord(record['data']) && 'parentId' in record;
}

/**
 * Remembers the header's id, where compactions began, which events set the state of the session, and what persons ran in
 * the shell or wrote when denying a call.
 */
function createSession(): CodecSession {
  let headerId: string | null = null;
  let startLine = 0;
  const starts = new Map<number, number>();
  const commands = new Map<string, string>();
  const denials = new Map<string, string>();
  const latestIds = new Map<string, string>();

  /** Notes what later events and answers need. */
  const note = (event: JsonRecord, line: number): void => {
    const data = recordAt(event, 'data');
    const callId = stringAt(data, 'toolCallId') ?? '';
    switch (event['type']) {
      case 'session.compaction_start':
        startLine = line;
        return;
      case 'session.compaction_complete':
        if (startLine > 0) starts.set(line, startLine);
        startLine = 0;
        return;
      case 'tool.user_requested': {
        const command = firstText('command', data['arguments']);
        if (command !== undefined) commands.set(callId, command);
        return;
      }
      case 'permission.completed': {
        const isDenied = stringAt(data, 'result', 'kind') === 'denied-interactively-by-user';
        const words = stringAt(data, 'result', 'feedback');
        if (isDenied && words !== undefined && callId !== '') denials.set(callId, words);
      }
    }
  };
  return createPlainSession<CallNote>({
    what: 'a call whose arguments are',
    readHeader: (event) => {
      if (event['type'] !== 'session.start') return null;
      const links = linksOf(event, 'id', 'parentId');
      headerId = links.recordId ?? null;
      return { kind: 'header', ...conversationOf(recordAt(event, 'data'), 'sessionId'), ...links };
    },
    read: (event, { line, isFirstPass }) => {
      if (typeof event['type'] !== 'string') return { kind: 'meta' };
      if (isFirstPass) note(event, line);
      const decoded = decodeEvent(event, line, { commands, denials });
      if ('problem' in decoded) return decoded;
      const links = linksOf(event, 'id', 'parentId');
      const { latestKey } = decoded;
      if (isFirstPass && latestKey !== undefined && links.recordId !== undefined)
        latestIds.set(latestKey, links.recordId);
      return { ...decoded, ...links };
    },
    readContext: (entries, noteOf) => readContext(entries, findCompaction(entries, starts), noteOf),
    legalCuts: (entries) => legalCuts(entries, findCompaction(entries, starts)),
    renderSummary: (input) => renderSummary(input, { headerId, taken: new Set([...latestIds.values(), headerId]) }),
  });
}

/** The newest compaction. */
type Compaction = {
  /** Its line; null: there is none. */
  readonly line: number | null;
  /** From this line on, messages are still sent as they are; the summary replaces those before it. */
  readonly keptFrom: number;
};

/**
 * While it was made the session may have gone on: what came after its `compaction_start` stands behind the summary, with
 * the calls whose results came in first. `starts` has the line of the start for the line of the compaction.
 */
function findCompaction(entries: readonly Entry[], starts: ReadonlyMap<number, number>): Compaction {
  const line = entries.findLast(({ kind }) => kind === 'summary')?.line;
  if (line === undefined) return { line: null, keptFrom: 0 };
  const start = starts.get(line);
  if (start === undefined) return { line, keptFrom: line };
  const said = entries.filter((entry) => entry.kind === 'message' && entry.isSide !== true && entry.line < line);
  const next = said.findIndex((entry) => entry.line > start);
  if (said[next]?.results === undefined) return { line, keptFrom: start };
  const call = said.findLastIndex((entry, at) => at < next && entry.results === undefined);
  const { calls, line: callLine = start } = said[call] ?? {};
  return { line, keptFrom: calls === undefined ? start : callLine };
}

/** What Copilot would send: the newest summary with all prompts before it, and the messages since, in the order of lines. */
function readContext(entries: readonly Entry[], { line, keptFrom }: Compaction, noteOf: NoteOf<CallNote>): ContextView {
  const isStale = (entry: Entry): boolean => {
    if ((entry.kind !== 'message' && entry.kind !== 'summary') || entry.line === line) return false;
    return entry.kind === 'summary' || entry.isSide === true || (entry.line < keptFrom && entry.isPrompt !== true);
  };
  const messageOf = new Map<string, number>();
  for (const { calls = [], results = [], line: at } of entries) {
    for (const id of calls) if (!messageOf.has(id)) messageOf.set(id, at);
    for (const id of results) messageOf.set(id, at);
  }
  return { priorLine: line, isStale, anchorOf: (entry) => messageOf.get(noteOf(entry.line)?.callId ?? '') ?? null };
}

/** The kept part may begin at any message that Copilot still sends as it is. It goes by the order of lines and ignores parents. */
function legalCuts(
  entries: readonly Entry[],
  { line: compactionLine, keptFrom }: Compaction,
): (line: number) => CutProblem {
  const sent = new Set(
    entries.filter(({ kind, isSide }) => kind === 'message' && isSide !== true).map(({ line }) => line),
  );
  return (line) => {
    if (!sent.has(line)) return 'there is no message that Copilot sends';
    return compactionLine !== null && line < keptFrom ? "it is before the conversation's last compaction" : null;
  };
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * A `session.compaction_complete` like Copilot's own. It takes the id that the first kept event names as its parent,
 * so that kept events attach to it unchanged. Copilot refuses a file with an id that is not a UUID, or with an event
 * without a time. `taken`: ids of events that stay before the kept part; the summary must not take one of them.
 */
function renderSummary(
  { text, firstKept, lastDropped, lastDroppedBefore, listedAs, tokensBefore, uuid }: SummaryInput,
  { taken, headerId }: { readonly taken: ReadonlySet<string | null>; readonly headerId: string | null },
): readonly string[] {
  const parent = firstText('parentId', firstKept);
  const isFree = parent !== undefined && UUID.test(parent) && !taken.has(parent);
  const timestamp = [lastDroppedBefore, lastDropped, firstKept]
    .map((record) => firstText('timestamp', record))
    .find((time) => readTime(time) !== null);
  const time = timestamp === undefined ? {} : { timestamp };
  // Like the messages that skills add: it is not shown, and as it has a source, Copilot does not tell the model of it after the compaction.
  const title = {
    type: 'user.message',
    data: { content: listedAs ?? '', source: 'system' },
    id: uuid('title'),
    ...time,
    parentId: headerId,
  };
  const event = {
    type: 'session.compaction_complete',
    data: { success: true, preCompactionTokens: tokensBefore, summaryContent: text },
    id: isFree ? parent : uuid('compaction'),
    ...time,
    parentId: listedAs === undefined ? headerId : title.id,
  };
  return (listedAs === undefined ? [event] : [title, event]).map((one) => JSON.stringify(one));
}

/** Copilot shows 500 characters and three dots. */
const MAX_SHOWN = 500;
const REMINDER = /<(?:system_)?reminder>/;

/**
 * The title in the client's list, as Copilot CLI 1.0.64 finds it for a session without a name in `workspace.yaml`: the
 * first message in a user's name that has words, whoever wrote it.
 */
function listedTitle(file: ListedFile): string | null {
  const text = firstIn(listedRecords(file, 'start'), ({ type, data }) => {
    const content = type === 'user.message' ? (stringAt(data, 'content') ?? '') : '';
    return content === '' ? null : content;
  });
  const words = (text ?? '').split(REMINDER, 1)[0]?.replace(/\s+/g, ' ').trim() ?? '';
  return asTitle(words.length > MAX_SHOWN ? words.slice(0, MAX_SHOWN + 1) : words);
}

/** An event without words of its own goes or stays with the message that makes or answers this call. */
type CallNote = { readonly callId: string };

/** Events of these types are in Copilot's history; it refuses a file with one that has no text. */
const SPEECH: ReadonlyMap<string, string> = new Map([
  ['user.message', 'a user.message event'],
  ['assistant.message', 'an assistant.message event'],
  ['system.notification', 'a system.notification event'],
]);

/**
 * Decodes an event. Only events that Copilot puts into its history can have a problem. `acts`, by the ids of calls: the commands that persons
 * ran in Copilot's shell, and what they wrote when they denied calls.
 */
function decodeEvent(
  event: JsonRecord,
  line: number,
  acts: { readonly [act in 'commands' | 'denials']: ReadonlyMap<string, string> },
): Noted<CallNote> | RecordProblem {
  const data = recordAt(event, 'data');
  const type = stringAt(event, 'type') ?? '';
  const place = { id: stringAt(event, 'id'), line, at: readTime(event['timestamp']) };
  const { content } = data;
  // By the same signs as Copilot, which sends nothing of a subagent with the main thread.
  const isSide = (stringAt(event, 'agentId') ?? '') !== '' || (stringAt(data, 'parentToolCallId') ?? '') !== '';
  const side = isSide ? { isSide } : {};
  // The model does not get the notification about discovered instructions.
  const isUnsent = type === 'system.notification' && stringAt(data, 'kind', 'type') === 'instruction_discovered';
  const speech = isUnsent ? undefined : SPEECH.get(type);
  if (speech !== undefined) {
    if (typeof content !== 'string') return { problem: `${speech} whose content is not a string` };
    if (type === 'user.message') return decodePrompt(data, { content, place, isSide });
    const texts = textParts([content]);
    if (type === 'system.notification') return say({ ...place, role: 'user', parts: texts });
    // Arguments are JSON, or text for a tool that takes plain text.
    const calls = recordsAt(data, 'toolRequests').flatMap((request) => {
      const id = stringAt(request, 'toolCallId');
      const name = stringAt(request, 'name') ?? '';
      return id === undefined ? [] : [callPart(id, name, argumentText(request['arguments']))];
    });
    return say(
      { ...place, role: 'assistant', parts: [...texts, ...calls] },
      {
        ...((isSide || event['ephemeral'] === true) && { isSide: true }),
        groupKey: stringAt(data, 'apiCallId'), // the messages of one request to the model share it
      },
    );
  }
  if (type === 'tool.execution_complete') {
    const callId = stringAt(data, 'toolCallId');
    const text = outputOf(data);
    if (data['isUserRequested'] === true) {
      // What a person ran in Copilot's shell is sent as the user's, but it is not a prompt.
      const command = acts.commands.get(callId ?? '');
      const shell = command === undefined ? text : `$ ${command}\n${text}`;
      return say({ ...place, role: 'user', parts: textParts([shell]) }, side);
    }
    if (callId === undefined) return { problem: 'a tool.execution_complete event that names no call' };
    const parts = [resultPart(callId, text, data['success'] !== true)];
    return say({ ...place, role: 'tool', parts, typed: isSide ? undefined : acts.denials.get(callId) }, side);
  }
  if (type === 'session.compaction_complete') {
    // Copilot's compaction, or ours. One that failed, or has no text, changed nothing.
    const summary = stringAt(data, 'summaryContent') ?? '';
    if (data['success'] === true && summary !== '') return decodeSummary(summary, place);
  }
  // Other events. Those of a call go and stay with it.
  const callId = stringAt(data, 'toolCallId') ?? stringAt(data, 'permissionRequest', 'toolCallId');
  const note = callId === undefined ? undefined : { callId };
  return { kind: 'meta', ...known({ latestKey: latestKeyOf(type, data), note }) };
}

/** What a person typed, or what a skill or an extension said as the user (`source`). */
function decodePrompt(
  data: JsonRecord,
  { content, place, isSide }: { readonly content: string; readonly place: SaidPlace; readonly isSide: boolean },
): Decoded {
  const source = stringAt(data, 'source') ?? '';
  const isBlank = content.trim() === '';
  const isShown = !isBlank || listAt(data, 'attachments').length > 0;
  const isPrompt = isShown && source === '' && data['isAutopilotContinuation'] !== true;
  const text = isBlank ? (stringAt(data, 'transformedContent') ?? content) : content;
  const name = source === '' ? undefined : source;
  const typed = isPrompt && !isSide ? typedText([content]) : undefined;
  const ruleText = typed === undefined ? undefined : ruleWords([typed]);
  const said = { ...place, role: 'user', name, parts: textParts([text]), typed, ruleText } as const;
  return say(said, { ...(isPrompt && { isPrompt }) });
}

/** The result as the model gets it. */
function outputOf({ success, result, error }: JsonRecord): string {
  const [output, key] = success === true ? [result, 'content'] : [error, 'message'];
  return readPartText(isRecord(output) ? (output[key] ?? output) : output);
}

/** Events about the whole session that only report something and set nothing. */
const PASSING = new Set([
  'session.compaction_start',
  'session.compaction_complete',
  'session.truncation',
  'session.snapshot_rewind',
  'session.usage_info',
  'session.error',
  'session.warning',
  'session.info',
  'session.idle',
  'session.shutdown',
]);

/**
 * The key of what an event sets, if Copilot reads it again on resuming: model, modes, schedules, system prompt,
 * invoked skills, files that later events refer to by name. The latest event of each key stays. undefined: it sets
 * nothing.
 */
function latestKeyOf(type: string, data: JsonRecord): string | undefined {
  switch (type) {
    case 'session.binary_asset':
      return `${type} ${stringAt(data, 'assetId') ?? ''}`;
    case 'session.schedule_created':
    case 'session.schedule_cancelled':
      return `session.schedule ${idAt(data, 'id') ?? ''}`;
    case 'session.schedule_rearmed':
      return `${type} ${idAt(data, 'id') ?? ''}`;
    case 'system.message':
      return `${type} ${stringAt(data, 'role') ?? ''} ${stringAt(data, 'name') ?? ''}`;
    case 'skill.invoked':
      return `${type} ${stringAt(data, 'name') ?? ''}`;
    case 'subagent.selected':
    case 'subagent.deselected':
      return 'subagent.selected';
    default:
      return type.startsWith('session.') && !PASSING.has(type) ? type : undefined;
  }
}

const EXACT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The time of an event (ISO 8601 with seconds and an offset, as Copilot requires), or null. */
function readTime(value: Json | undefined): Date | null {
  return typeof value === 'string' && EXACT_TIME.test(value) ? readIsoTime(value) : null;
}
