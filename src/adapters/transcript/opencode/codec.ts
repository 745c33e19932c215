import type { MessagePart } from '../../../core/message.ts';
import type { Entry } from '../../../core/transcript.ts';
import type { Codec, ContextView, Detection, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createListRecords } from '../json-list/records.ts';
import {
  isList,
  isRecord,
  type JsonRecord,
  readMilliseconds,
  recordAt,
  recordsAt,
  stringAt,
  textReader,
  valueAt,
} from '../json.ts';
import { argumentText, readPartText, ruleWords, typedText } from '../message-parts.ts';
import { createSession, type Noted, type NoteOf, notOurs } from '../session.ts';
import { callPart, resultPart, say, textParts } from '../said.ts';

/** What `opencode export` writes and `opencode import` reads: one session. */
export const openCode: Codec = {
  format: FORMATS.openCode,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  formsOf: (element) => [withoutPruning(element)],
  detect: ([beginning = null]) => detectExport(beginning),
  readProject: (record) => stringAt(record, 'info', 'directory') ?? stringAt(record, 'info', 'path', 'cwd') ?? null,
  readModel: textReader('info', 'modelID'),
  open: () =>
    createSession<RequestNote>({
      what: 'a call whose input is',
      read: (record, { line }) => readMessage(record, line),
      openList: (around) => stringAt(around, 'info', 'id'),
      readContext,
      renderSummary,
    }),
};

/** A message without the times at which OpenCode left outputs of its tools out of the context. */
function withoutPruning(element: Json): Json {
  if (!isRecord(element) || !isList(element['parts'])) return element;
  const asRun = element['parts'].map((part) => {
    if (!isRecord(part) || !isRecord(valueAt(part, 'state', 'time'))) return part;
    const { compacted: _, ...time } = recordAt(part, 'state', 'time');
    return { ...part, state: { ...recordAt(part, 'state'), time } };
  });
  return { ...element, parts: asRun };
}

/** How sure we are that this is the beginning of a session written by `opencode export`. */
function detectExport(beginning: Json): Detection {
  if (!isRecord(beginning)) return notOurs('it is not an object');
  const { info, messages } = beginning;
  if (!isRecord(info)) return notOurs('it has no object "info"');
  if (!isList(messages)) return notOurs('it has no list "messages"');
  const isSession = stringAt(info, 'id')?.startsWith('ses') === true;
  const [first] = messages;
  const hasParts = isRecord(valueAt(first, 'info')) && isList(valueAt(first, 'parts'));
  if (!isSession && !hasParts) return notOurs('its messages have no "info" and "parts"');
  return { confidence: 1, reason: 'a session with "info" and "messages"' };
}

/** A message that asks for a summary, and the id of the first message before it to be kept, if it names one. */
type RequestNote = { readonly keptFrom: string | undefined };

/** An element `{info, parts}` of the list of messages. */
function readMessage(record: JsonRecord, line: number): Noted<RequestNote> | RecordProblem {
  const info = recordAt(record, 'info');
  const role = info['role'];
  if (role !== 'user' && role !== 'assistant') return { kind: 'meta' };
  if (!isList(record['parts'])) return { problem: `a message of role ${role} whose parts are not a list` };
  const id = stringAt(info, 'id');
  const given = recordsAt(record, 'parts');
  // By such a part a person or the program requests a compaction.
  const asked = role === 'user' ? given.find((part) => part['type'] === 'compaction') : undefined;
  if (asked !== undefined) {
    const note = { keptFrom: stringAt(asked, 'tail_start_id') };
    return { kind: 'meta', ...(id !== undefined && { recordId: id }), note };
  }
  const parts = record['parts'].flatMap((part) => (isRecord(part) ? readPart(part) : textParts([readPartText(part)])));
  const at = readMilliseconds(valueAt(info, 'time', 'created'));
  const said = { line, id, conversation: stringAt(info, 'sessionID'), at, parts };
  const place = { recordId: id, parentId: stringAt(info, 'parentID') };
  if (role === 'user') {
    const own = given.filter((part) => part['synthetic'] !== true && part['ignored'] !== true);
    const texts = own.map(textOf);
    // A person typed something: what the program itself adds to a user message is marked.
    const isPrompt = own.some((part) => part['type'] === 'file' || textOf(part).trim() !== '');
    return say(
      { ...said, role, typed: typedText(texts), ruleText: ruleWords(texts) },
      { ...place, ...(isPrompt && { isPrompt }) },
    );
  }
  // OpenCode accepts no other message as a summary.
  const isFinished = (stringAt(info, 'finish') ?? '') !== '' && (info['error'] ?? null) === null;
  if (info['summary'] === true && isFinished) return say({ ...said, role: 'system' }, { kind: 'summary', ...place });
  const rules = given.filter((part) => EDITING_TOOLS.has(stringAt(part, 'tool') ?? '')).map(feedbackOf);
  return say({ ...said, role, typed: typedText(given.map(feedbackOf)), ruleText: ruleWords(rules) }, place);
}

/** Records of the program about its own work; files and reasoning have no text anyway. */
const SILENT_PARTS: ReadonlySet<string> = new Set(
  'step-start step-finish snapshot patch agent retry compaction'.split(' '),
);

/**
 * What a part says: text, a call with its result, a task of a subagent. No reasoning, files or patches.
 * @throws RangeError if the input of a call is nested too deeply to be written as JSON.
 */
function readPart(part: JsonRecord): readonly MessagePart[] {
  const type = stringAt(part, 'type') ?? '';
  // The person sees an ignored text, but it is not sent.
  if (SILENT_PARTS.has(type) || (type === 'text' && part['ignored'] === true)) return [];
  if (type === 'tool') return toolParts(part);
  const task = type === 'subtask' ? stringAt(part, 'prompt') : undefined;
  return textParts([task ?? readPartText(part)]);
}

/** A call that is not answered yet, or never was, has no result. */
function toolParts(part: JsonRecord): readonly MessagePart[] {
  const state = recordAt(part, 'state');
  const id = stringAt(part, 'callID') ?? stringAt(part, 'id') ?? '';
  const call = callPart(id, stringAt(part, 'tool') ?? '', argumentText(state['input']));
  const isError = state['status'] === 'error';
  const output = state[isError ? 'error' : 'output'] ?? null;
  return output === null ? [call] : [call, resultPart(id, readPartText(output), isError)];
}

function textOf(part: JsonRecord): string {
  return part['type'] === 'text' ? (stringAt(part, 'text') ?? '') : '';
}

const FEEDBACK =
  /^(?:Error: )?The user rejected permission to use this specific tool call with the following feedback: /;

/**
 * Tools of OpenCode itself, whose errors never begin with text from outside. A tool of an MCP server could copy the
 * sentence.
 */
const OWN_TOOLS: ReadonlySet<string> = new Set(
  'bash edit multiedit write patch apply_patch read glob grep list webfetch task todowrite todoread skill'.split(' '),
);

/** Tools of OpenCode that neither run anything nor fetch text from outside: what rejects them may state rules. */
const EDITING_TOOLS: ReadonlySet<string> = new Set(
  'edit multiedit write patch apply_patch todowrite question'.split(' '),
);

/** What a person typed when rejecting a call. */
function feedbackOf(part: JsonRecord): string {
  const isRejected = part['type'] === 'tool' && stringAt(part, 'state', 'status') === 'error';
  const error =
    isRejected && OWN_TOOLS.has(stringAt(part, 'tool') ?? '') ? stringAt(part, 'state', 'error') : undefined;
  return error !== undefined && FEEDBACK.test(error) ? error.replace(FEEDBACK, '') : '';
}

/**
 * OpenCode sends the newest summary that answers a request for one, everything after it, and the tail that the request
 * named. A request is never kept without its summary, or OpenCode would answer it again.
 */
function readContext(entries: readonly Entry[], noteOf: NoteOf<RequestNote>): ContextView {
  const requests = new Map(
    entries.flatMap((entry) => (noteOf(entry.line) === undefined ? [] : [[entry.recordId ?? '', entry] as const])),
  );
  const answers = entries.filter(({ kind }) => kind === 'summary');
  const answered = new Set(answers.map(({ parentId }) => parentId ?? ''));
  const mustDrop = (entry: Entry): boolean => noteOf(entry.line) !== undefined && answered.has(entry.recordId ?? '');
  const prior = answers.findLast(({ parentId }) => requests.has(parentId ?? ''));
  if (prior === undefined) return { priorLine: null, isStale: () => false, mustDrop };
  const start = requests.get(prior.parentId ?? '')?.line ?? prior.line;
  const tailId = noteOf(start)?.keptFrom;
  const tail = tailId === undefined ? undefined : entries.find(({ recordId }) => recordId === tailId);
  const from = Math.min(start, tail?.line ?? start);
  return { priorLine: prior.line, isStale: ({ line }) => line < from, mustDrop };
}

/**
 * An id begins with its kind and twelve digits of its time, so the ids of a session are in the order in which they
 * were made.
 */
const ID_TIME = /^[a-z]+_([0-9a-f]{12})/;
/** The number of characters after the time. */
const ID_TAIL_LENGTH = 14;

/**
 * A request for a compaction and the summary that answers it, as OpenCode's own compaction writes them. OpenCode
 * orders a session by time and then by id: both get the time of the last message that left, and ids right after its
 * id. Fields that OpenCode requires in every message are copied from the neighbors.
 */
function renderSummary({ text, conversationId, firstKept, lastDropped, uuid }: SummaryInput): readonly string[] {
  const [kept, dropped] = [recordAt(firstKept, 'info'), recordAt(lastDropped, 'info')];
  const known = lastDropped === null ? kept : dropped;
  const idTime = ID_TIME.exec(stringAt(known, 'id') ?? '')?.[1] ?? '0'.repeat(12);
  const newId = (kind: 'msg' | 'prt', order: number): string => {
    const digits = uuid(`${kind} ${order}`).replaceAll('-', '');
    // Sorts after any other id of the same time, since ids contain no characters after z.
    return `${kind}_${idTime}${`zz${order}${digits}`.slice(0, ID_TAIL_LENGTH)}`;
  };
  const sessionID = stringAt(known, 'sessionID') ?? conversationId;
  const times = [dropped, kept].map((info) => valueAt(info, 'time', 'created'));
  const created = times.find((time) => typeof time === 'number') ?? 0;
  const models = [kept, dropped].map((info) => (isRecord(info['model']) ? info['model'] : info));
  const [providerID = 'unknown'] = models.flatMap((model) => stringAt(model, 'providerID') ?? []);
  const [modelID = 'unknown'] = models.flatMap((model) => stringAt(model, 'modelID') ?? []);
  const [agent = 'build'] = [kept, dropped].flatMap((info) => stringAt(info, 'agent') ?? []);
  const path = [kept, dropped].map((info) => info['path']).find(isRecord) ?? { cwd: '/', root: '/' };
  const [askId, answerId] = [newId('msg', 1), newId('msg', 2)];
  const ask = {
    info: { role: 'user', time: { created }, agent, model: { providerID, modelID }, id: askId, sessionID },
    parts: [{ type: 'compaction', auto: false, id: newId('prt', 1), sessionID, messageID: askId }],
  };
  const answer = {
    info: {
      parentID: askId,
      role: 'assistant',
      mode: 'compaction',
      agent: 'compaction',
      summary: true,
      path,
      cost: 0,
      tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
      modelID,
      providerID,
      time: { created, completed: created },
      finish: 'stop',
      id: answerId,
      sessionID,
    },
    parts: [{ type: 'text', text, id: newId('prt', 2), sessionID, messageID: answerId }],
  };
  return [JSON.stringify(ask), JSON.stringify(answer)];
}
