import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry, EntryFacts } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem } from '../../../ports/codec.ts';
import { findWorkingFolder, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { createLineNotes, type Noted, withoutNote } from '../notes.ts';
import { type CallNote, type Compaction, cutProblem, findCompaction, readContext } from './context.ts';
import { decodeEvent } from './decode.ts';
import { listedTitle } from './listing.ts';
import { renderSummary } from './render.ts';

/** Sessions of GitHub Copilot CLI: `~/.copilot/session-state/<session id>/events.jsonl`. */
export const copilot: Codec = {
  format: {
    name: 'copilot',
    title: 'Copilot CLI session',
    summary: 'GitHub Copilot CLI (~/.copilot/session-state/*/*.jsonl)',
    checked:
      'compacted files resumed by Copilot CLI 1.0.64 and 1.0.102, after a second compaction, turns in between and one of its own too',
    // github/copilot-cli issues 3255 and 4805: the lock of a process that was killed stays.
    openSigns: [{ program: 'Copilot CLI', folders: ['.'], file: /^inuse\.(\d+)\.lock$/ }],
    places: [{ variable: 'COPILOT_HOME', base: '.copilot', folder: 'session-state/*', file: 'events.jsonl' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  detect: detectCopilot,
  readProject: findWorkingFolder('data', 'context'),
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
  if (first === undefined) return { confidence: 0, reason: 'there are no records to judge by' };
  const events = sample.filter((value) => isRecord(value) && isEvent(value)).length;
  if (events === 0) return { confidence: 0, reason: 'no record is an event with a type, data and a parent' };
  if (isRecord(first) && isEvent(first) && first['type'] === 'session.start') {
    return { confidence: 1, reason: 'the first record is the start of a session' };
  }
  const reason = `${countOf(events, 'event')} of a session, but the first record is no session.start`;
  return { confidence: events >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isEvent(record: JsonRecord): boolean {
  return EVENT_TYPE.test(stringAt(record, 'type') ?? '') && isRecord(record['data']) && 'parentId' in record;
}

type Seen = {
  headerLine: number;
  headerId: string | null;
  /** The line where a compaction began that has not ended; 0: there is none. */
  startLine: number;
};

/**
 * Remembers the header, where compactions began, which events set the state of the session, and what persons ran in
 * the shell or wrote when denying a call.
 */
function createSession(): CodecSession {
  const seen: Seen = { headerLine: 0, headerId: null, startLine: 0 };
  const notes = createLineNotes<CallNote>();
  const starts = new Map<number, number>();
  const commands = new Map<string, string>();
  const denials = new Map<string, string>();
  const latestIds = new Map<string, string>();
  let known: { readonly entries: readonly Entry[]; readonly compaction: Compaction } | null = null;

  const compactionOf = (entries: readonly Entry[]): Compaction => {
    if (known?.entries !== entries) known = { entries, compaction: findCompaction(entries, starts) };
    return known.compaction;
  };
  const noteEvent = (event: JsonRecord, line: number): void => {
    const { type } = event;
    const data = isRecord(event['data']) ? event['data'] : {};
    if (type === 'session.start' && seen.headerLine === 0) {
      seen.headerLine = line;
      seen.headerId = linksOf(event).recordId ?? null;
    } else if (type === 'session.compaction_start') {
      seen.startLine = line;
    } else if (type === 'session.compaction_complete') {
      if (seen.startLine > 0) starts.set(line, seen.startLine);
      seen.startLine = 0;
    } else if (type === 'tool.user_requested') {
      const command = isRecord(data['arguments']) ? stringAt(data['arguments'], 'command') : undefined;
      if (command !== undefined) commands.set(stringAt(data, 'toolCallId') ?? '', command);
    } else if (type === 'permission.completed') {
      const words = feedbackOf(data['result']);
      const callId = stringAt(data, 'toolCallId');
      if (words !== undefined && callId !== undefined) denials.set(callId, words);
    }
  };
  const read = (value: Json, line: number): Noted<CallNote> | RecordProblem => {
    if (!isRecord(value) || typeof value['type'] !== 'string') return { kind: 'meta' };
    const data = isRecord(value['data']) ? value['data'] : {};
    const links = linksOf(value);
    if (value['type'] === 'session.start' && line === seen.headerLine) return { ...headerOf(data), ...links };
    const decoded = decodeEvent({ event: value, data, line, commands, denials });
    return 'problem' in decoded ? decoded : { ...decoded, ...links };
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    if (isRecord(value)) noteEvent(value, line);
    const decoded = notes.keep(read(value, line), line);
    if ('problem' in decoded) return decoded;
    const { latestKey, recordId } = decoded;
    if (latestKey !== undefined && recordId !== undefined) latestIds.set(latestKey, recordId);
    return decoded;
  };
  return {
    observe,
    decode: (value, line) => withoutNote(read(value, line)),
    readContext: (entries) => readContext(entries, compactionOf(entries), notes.of),
    legalCuts: (entries) => {
      const compaction = compactionOf(entries);
      const byLine = new Map(entries.map((entry) => [entry.line, entry] as const));
      return (line) => cutProblem(byLine.get(line), compaction);
    },
    renderSummary: (summary) => {
      const taken = new Set([...latestIds.values(), ...(seen.headerId === null ? [] : [seen.headerId])]);
      return renderSummary({ summary, taken, headerId: seen.headerId });
    },
  };
}

/** What a person wrote when denying a call. */
function feedbackOf(result: Json | undefined): string | undefined {
  const isDenied = isRecord(result) && result['kind'] === 'denied-interactively-by-user';
  return isDenied ? stringAt(result, 'feedback') : undefined;
}

function headerOf(data: JsonRecord): EntryFacts {
  const conversation = stringAt(data, 'sessionId');
  return { kind: 'header', ...(conversation !== undefined && { conversation }) };
}

function linksOf(event: JsonRecord): Pick<EntryFacts, 'recordId' | 'parentId'> {
  const recordId = stringAt(event, 'id');
  return recordId === undefined ? {} : { recordId, parentId: stringAt(event, 'parentId') ?? null };
}
