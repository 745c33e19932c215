import type { Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json } from '../../../ports/codec.ts';
import { createConversationSession } from '../conversations/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { idAt, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { refuseDeepNesting, summaryRole } from '../message-parts.ts';
import { isEvent, isPacked, readNote, type RecordNote, toChat } from './decode.ts';

/** The version of logs that Inspect writes since 2024. */
const LOG_VERSION = 2;

/** A log of Inspect AI as JSON: one conversation a sample. */
export const inspect: Codec = {
  format: {
    name: 'inspect',
    title: 'Inspect AI log',
    summary: 'logs of Inspect AI, as .eval or in JSON: each sample is compacted by itself',
    checked:
      "compacted logs opened by Inspect's own log reader, after a second compaction too; kept records stay byte for byte",
    layout: { kind: 'document', links: 'order' },
  },
  records: createListRecords({
    unit: 'file',
    kind: 'list',
    keys: ['messages'],
    alongside: ['events', 'compact_packed'],
    within: 'samples',
  }),
  detect: ([beginning = null]) => detectLog(beginning),
  open: createSession,
};

function detectLog(beginning: Json): Detection {
  if (!isRecord(beginning)) return { confidence: 0, reason: 'it is not an object' };
  const { version, status, plan, eval: spec } = beginning;
  const isLog = typeof version === 'number' && isRecord(spec) && 'task' in spec && (status ?? plan) !== undefined;
  if (!isLog) return { confidence: 0, reason: 'it has no "version", "status" and "eval" with a task' };
  if (version > LOG_VERSION)
    return { confidence: 0, reason: `its version is ${version}, and only those up to ${LOG_VERSION} are known` };
  return { confidence: 1, reason: 'an evaluation with "version", "status" and "eval"' };
}

/** What a sample says about its lists: the texts that they refer to, and whether all events have to stay. */
type Sample = { readonly attachments: JsonRecord; readonly needsEvents: boolean };

const NO_SAMPLE: Sample = { attachments: {}, needsEvents: false };

/** Messages are read as in chat lines. It remembers what each event belongs to, and the attachments of each sample. */
function createSession(): CodecSession {
  const chat = createConversationSession();
  const notes = new Map<number, RecordNote>();
  const samples: Sample[] = []; // by line
  let current = NO_SAMPLE;
  const sampleOf = (line: number): Sample => samples[line] ?? NO_SAMPLE;
  const decodeWith = (decode: CodecSession['decode']): CodecSession['decode'] => {
    return (value, line) => {
      if (isRecord(value) && (isEvent(value) || isPacked(value))) return { kind: 'meta' };
      const { attachments } = sampleOf(line);
      return refuseDeepNesting('a message that is', () => decode(toChat(value, attachments), line));
    };
  };
  return {
    observe: (value, line) => {
      const note = readNote(value);
      if (note !== null) notes.set(line, note);
      samples[line] = current;
      return decodeWith(chat.observe)(value, line);
    },
    decode: decodeWith(chat.decode),
    openList: (around, line) => {
      const sample = isRecord(around) ? around : {};
      const { attachments, timelines } = sample;
      chat.openList?.({}, line);
      const needsEvents = (timelines ?? null) !== null;
      current = { attachments: isRecord(attachments) ? attachments : {}, needsEvents };
      samples[line] = current;
      const id = stringAt(sample, 'uuid') ?? idAt(sample, 'id');
      return id === undefined ? {} : { conversation: id };
    },
    readContext: (entries) => {
      const { needsEvents } = sampleOf(entries[0]?.line ?? 0);
      return {
        ...chat.readContext(entries),
        anchorOf: findAnchors(entries, notes, needsEvents),
        mustDrop: ({ line }) => notes.get(line)?.kind === 'packed',
      };
    },
    legalCuts: () => () => null,
    renderSummary: (input) => {
      const neighbor = isRecord(input.firstKept) ? input.firstKept : {};
      const id = 'id' in neighbor ? { id: input.uuid('summary') } : {};
      return [JSON.stringify({ ...id, content: input.text, role: summaryRole(input) })];
    },
  };
}

/**
 * The call of a model goes or stays with the answer that it gave, the call of a tool with the answer that made it, and
 * what the sandbox did goes with the call before it. Every other event stays, and so do those of other conversations.
 */
function findAnchors(
  entries: readonly Entry[],
  notes: ReadonlyMap<number, RecordNote>,
  needsEvents: boolean,
): NonNullable<ContextView['anchorOf']> {
  const lines = new Map<string, number>();
  for (const { line, calls = [] } of entries) {
    const note = notes.get(line);
    if (note?.kind === 'message') lines.set(`message ${note.id}`, line);
    for (const call of calls) lines.set(`call ${call}`, line);
  }
  const last = entries.findLast(({ kind }) => kind === 'message')?.line ?? 0;
  const events = entries.filter(({ line }) => ['call', 'sandbox', 'event'].includes(notes.get(line)?.kind ?? ''));
  const anchors = new Map<number, number>();
  let current = last;
  for (const { line } of events) {
    const note = notes.get(line);
    if (note?.kind === 'call') current = lines.get(note.of) ?? last;
    const isFree = note?.kind !== 'event' && line !== events.at(-1)?.line && !needsEvents;
    anchors.set(line, isFree ? current : last);
  }
  return ({ line }) => anchors.get(line) ?? null;
}
