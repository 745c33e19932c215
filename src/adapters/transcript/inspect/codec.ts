import type { Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createElementReader } from '../conversations/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { idAt, isList, isRecord, type JsonRecord, listAt, recordAt, stringAt, valueAt } from '../json.ts';
import { summaryRole } from '../message-parts.ts';
import { createSession, type NoteOf, notOurs, readWholeContext } from '../session.ts';

/** The version of logs that Inspect writes since 2024. */
const LOG_VERSION = 2;

/** A log of Inspect AI as JSON: one conversation a sample. */
export const inspect: Codec = {
  format: FORMATS.inspect,
  records: createListRecords({
    unit: 'file',
    kind: 'list',
    keys: ['messages'],
    alongside: ['events', 'compact_packed'],
    within: 'samples',
  }),
  detect: ([beginning = null]) => detectLog(beginning),
  open: createLogSession,
};

function detectLog(beginning: Json): Detection {
  if (!isRecord(beginning)) return notOurs('it is not an object');
  const { version, status, plan, eval: spec } = beginning;
  const isLog = typeof version === 'number' && isRecord(spec) && 'task' in spec && (status ?? plan) !== undefined;
  if (!isLog) return notOurs('it has no "version", "status" and "eval" with a task');
  if (version > LOG_VERSION) return notOurs(`its version is ${version}, and only those up to ${LOG_VERSION} are known`);
  return { confidence: 1, reason: 'an evaluation with "version", "status" and "eval"' };
}

/** What a sample says about its lists: the texts that they refer to, and whether all events have to stay. */
const NO_SAMPLE = { attachments: {} as JsonRecord, needsEvents: false };

/** Messages are read as in chat lines. It remembers what each event belongs to, and the attachments of each sample. */
function createLogSession(): CodecSession {
  const reader = createElementReader();
  const samples: (typeof NO_SAMPLE)[] = []; // by line
  let current = NO_SAMPLE;
  const sampleOf = (line: number): typeof NO_SAMPLE => samples[line] ?? NO_SAMPLE;
  return createSession<RecordNote>({
    what: 'a message that is',
    read: (record, place) => {
      if (place.isFirstPass) samples[place.line] = current;
      const note = readNote(record);
      if (isEvent(record) || isPacked(record)) return { kind: 'meta', note };
      const decoded = reader.read(toChat(record, sampleOf(place.line).attachments), place);
      return 'problem' in decoded ? decoded : { ...decoded, note };
    },
    openList: (around, line) => {
      reader.startOver();
      current = {
        attachments: recordAt(around, 'attachments'),
        needsEvents: (around['timelines'] ?? null) !== null,
      };
      samples[line] = current;
      return stringAt(around, 'uuid') ?? idAt(around, 'id');
    },
    readContext: (entries, noteOf) => ({
      ...readWholeContext(entries),
      anchorOf: findAnchors(entries, noteOf, sampleOf(entries[0]?.line ?? 0).needsEvents),
      mustDrop: ({ line }) => noteOf(line)?.kind === 'packed',
    }),
    renderSummary: (input) => {
      const id = valueAt(input.firstKept, 'id') === undefined ? undefined : input.uuid('summary');
      return [JSON.stringify({ id, content: input.text, role: summaryRole(input) })];
    },
  });
}

/**
 * The call of a model goes or stays with the answer that it gave, the call of a tool with the answer that made it, and
 * what the sandbox did goes with the call before it. Every other event stays, and so do those of other conversations.
 */
function findAnchors(
  entries: readonly Entry[],
  noteOf: NoteOf<RecordNote>,
  needsEvents: boolean,
): NonNullable<ContextView['anchorOf']> {
  const lines = new Map<string, number>();
  for (const { line, calls = [] } of entries) {
    const note = noteOf(line);
    if (note?.kind === 'message') lines.set(`message ${note.id}`, line);
    for (const call of calls) lines.set(`call ${call}`, line);
  }
  const last = entries.findLast(({ kind }) => kind === 'message')?.line ?? 0;
  const events = entries.filter(({ line }) => ['call', 'sandbox', 'event'].includes(noteOf(line)?.kind ?? ''));
  const anchors = new Map<number, number>();
  let current = last;
  for (const { line } of events) {
    const note = noteOf(line);
    if (note?.kind === 'call') current = lines.get(note.of) ?? last;
    const isFree = note?.kind !== 'event' && line !== events.at(-1)?.line && !needsEvents;
    anchors.set(line, isFree ? current : last);
  }
  return ({ line }) => anchors.get(line) ?? null;
}

/**
 * What a record is to the others of its sample. call: an event for the message or call under `of`. sandbox: an event
 * during such a call. event: any other. packed: bytes of the .eval file that this sample was packed in.
 */
type RecordNote =
  | { readonly kind: 'message'; readonly id: string }
  | { readonly kind: 'call'; readonly of: string }
  | { readonly kind: 'sandbox' | 'event' | 'packed' };

function isEvent(value: JsonRecord): boolean {
  return !('role' in value) && 'event' in value;
}

/** How `adapters/fs/eval-log.ts` gives the packed bytes of a sample. */
function isPacked(value: JsonRecord): boolean {
  return !('role' in value) && typeof value['packed'] === 'string';
}

function readNote(record: JsonRecord): RecordNote | undefined {
  if (isPacked(record)) return { kind: record['packed'] === '' ? 'event' : 'packed' };
  const { event } = record;
  const id = idAt(record, 'id');
  if (!isEvent(record)) return id === undefined ? undefined : { kind: 'message', id };
  if (event === 'sandbox') return { kind: 'sandbox' };
  if (event === 'tool') return { kind: 'call', of: `call ${id ?? ''}` };
  if (event !== 'model') return { kind: 'event' };
  // The message that this call of a model gave.
  const [choice] = listAt(record, 'output', 'choices');
  return { kind: 'call', of: `message ${idAt(recordAt(choice, 'message'), 'id') ?? ''}` };
}

/** A message of Inspect as a chat message: its calls have other names, and texts may be among the attachments. */
function toChat(record: JsonRecord, attachments: JsonRecord): Json {
  const { tool_calls: calls } = record;
  const content = readAttached(record['content'], attachments);
  const isEmpty = content === undefined || content === null || content === '';
  const failure = stringAt(record, 'error', 'message') ?? '';
  return {
    ...record,
    ...(content !== undefined && { content: isList(content) ? content.flatMap(splitServerTool) : content }),
    ...(isEmpty && failure !== '' && { content: failure }),
    ...(isList(calls) && {
      tool_calls: calls.map((call) => {
        const name = stringAt(call, 'function');
        if (!isRecord(call) || name === undefined) return call;
        return { id: call['id'] ?? null, name, arguments: call['arguments'] ?? {} };
      }),
    }),
  };
}

const ATTACHMENT = 'attachment://';

/** A text of more than 100 characters may be stored once, beside the messages. */
function readAttached(content: Json | undefined, attachments: JsonRecord): Json | undefined {
  if (typeof content === 'string') {
    return content.startsWith(ATTACHMENT)
      ? (stringAt(attachments, content.slice(ATTACHMENT.length)) ?? content)
      : content;
  }
  if (!isList(content)) return content;
  return content.map((part): Json => {
    if (!isRecord(part) || part['type'] !== 'text') return part;
    return { ...part, text: readAttached(part['text'], attachments) ?? null };
  });
}

/** A tool that the model's server ran: its call and its result are one part of the answer. */
function splitServerTool(part: Json): readonly Json[] {
  if (!isRecord(part) || part['type'] !== 'tool_use') return [part];
  const { id = null, name = null, arguments: input = null, result, error } = part;
  const call = { type: 'tool_use', id, name, input };
  const content = result ?? error ?? null;
  return content === null ? [call] : [call, { type: 'tool_result', tool_use_id: id, content }];
}
