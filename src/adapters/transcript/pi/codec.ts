import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry, EntryFacts } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { findWorkingFolder, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { createLineNotes, type Noted, withoutNote } from '../notes.ts';
import { type CompactionNote, findPath, legalCuts, type Path, readContext } from './context.ts';
import { decodeEntry, entryName, readTime } from './decode.ts';
import { listedTitle } from './listing.ts';
import { createSessionState, idOf, placeSummary, renderName, renderSummary } from './render.ts';

/** Sessions of pi, and of OpenClaw, which contains pi: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`. */
export const pi: Codec = {
  format: {
    name: 'pi',
    title: 'pi session',
    summary: 'sessions of pi (~/.pi/agent/sessions/**/*.jsonl) and OpenClaw (~/.openclaw/agents/*/sessions)',
    checked: 'compacted files resumed by pi 0.73.1 and 0.87.1, after a second compaction and one of its own too',
    places: [
      { variable: 'PI_CODING_AGENT_DIR', base: '.pi/agent', folder: 'sessions/*' },
      { variable: 'PI_CODING_AGENT_SESSION_DIR', base: '.pi/agent/sessions', folder: '' },
      { variable: 'OPENCLAW_STATE_DIR', base: '.openclaw', folder: 'agents/*/sessions' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  detect: detectPi,
  readProject: findWorkingFolder(),
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
  if (first === undefined) return { confidence: 0, reason: 'there are no records to judge by' };
  const entries = sample.filter((value) => isRecord(value) && isEntry(value)).length;
  if (isRecord(first) && isHeader(first))
    return { confidence: 1, reason: 'the first record is the header of a session' };
  if (entries === 0) return { confidence: 0, reason: 'the first record is not a header of type session' };
  const reason = `${countOf(entries, 'entry', 'entries')} of a session, but the first record is not a header of type session`;
  return { confidence: entries >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isHeader(record: JsonRecord): boolean {
  return record['type'] === 'session' && typeof record['id'] === 'string';
}

function isEntry(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (typeof record['timestamp'] !== 'string') return false;
  const { message } = record;
  return type === 'message' ? isRecord(message) && typeof message['role'] === 'string' : ENTRY_TYPES.has(type);
}

type Seen = {
  headerLine: number;
  /** Version 1: entries have no ids, and each follows the one before it. */
  isNumbered: boolean;
  count: number;
  lastName: string | null;
  latestMs: number;
};

type Links = Pick<EntryFacts, 'recordId' | 'parentId'>;

/** Remembers the header, the settings of the session, the latest time, and for version 1 the number of entries. */
function createSession(): CodecSession {
  const state = createSessionState();
  const notes = createLineNotes<CompactionNote>();
  const seen: Seen = { headerLine: 0, isNumbered: false, count: 0, lastName: null, latestMs: 0 };
  let known: { readonly entries: readonly Entry[]; readonly path: Path } | null = null;

  const pathOf = (entries: readonly Entry[]): Path => {
    if (known?.entries !== entries) known = { entries, path: findPath(entries, notes.of) };
    return known.path;
  };
  const numbered = (): Links => {
    const parentId = seen.lastName;
    seen.lastName = entryName(seen.count - 1);
    return { recordId: seen.lastName, parentId };
  };
  const noteEntry = (record: JsonRecord, line: number): Links => {
    const links = seen.isNumbered ? numbered() : linksOf(record);
    state.note(record, line);
    seen.latestMs = Math.max(seen.latestMs, ...timesOf(record));
    return links;
  };
  const read = (value: Json, line: number): Noted<CompactionNote> | RecordProblem => {
    if (!isRecord(value) || value['type'] !== 'session') return decodeEntry(value, line);
    return line === seen.headerLine ? headerOf(value) : { kind: 'meta' };
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    seen.count += 1;
    const isHeader = isRecord(value) && value['type'] === 'session';
    if (isHeader && seen.headerLine === 0) {
      seen.headerLine = line;
      seen.isNumbered = Number(value['version'] ?? 1) < 2;
    }
    const decoded = notes.keep(read(value, line), line);
    if (isHeader || !isRecord(value) || 'problem' in decoded) return decoded;
    return { ...decoded, ...noteEntry(value, line) };
  };
  const render = (summary: SummaryInput): readonly string[] => {
    const { entries = [], sinceCompaction = 0 } = known?.path ?? {};
    const steps = new Map(entries.map(({ line }, at) => [line, at] as const));
    const firstKeptId = idOf(summary.firstKept);
    const step = entries.findIndex(({ recordId }) => recordId === firstKeptId);
    // In version 1 there is no sign of where the kept part begins, so the settings in force at the end are repeated.
    const cutLine = seen.isNumbered ? undefined : entries[step]?.line;
    const settings = state.lostBefore(cutLine ?? Number.POSITIVE_INFINITY, steps);
    const replaced = sinceCompaction > 0 && step > sinceCompaction ? (summary.prior ?? null) : null;
    const latest = seen.latestMs > 0 ? new Date(seen.latestMs).toISOString() : undefined;
    return renderSummary({
      summary,
      place: seen.isNumbered ? null : placeSummary(summary, replaced),
      settings: [...settings, ...(summary.listedAs === undefined ? [] : [renderName(summary.listedAs, latest)])],
      latest,
    });
  };
  return {
    observe,
    decode: (value, line) => withoutNote(read(value, line)),
    readContext: (entries) => readContext(pathOf(entries)),
    legalCuts: (entries) => legalCuts(pathOf(entries)),
    renderSummary: render,
  };
}

function headerOf(record: JsonRecord): EntryFacts {
  const conversation = stringAt(record, 'id');
  return { kind: 'header', ...(conversation !== undefined && { conversation }) };
}

/** As pi follows parents: an empty id is no id. */
function linksOf(record: JsonRecord): Links {
  const recordId = stringAt(record, 'id');
  const parentId = stringAt(record, 'parentId') ?? '';
  return recordId === undefined ? {} : { recordId, parentId: parentId === '' ? null : parentId };
}

/** The times of the entry and of its message: pi compares the latter with the time of a compaction. */
function timesOf({ timestamp, message }: JsonRecord): readonly number[] {
  const times = [readTime(timestamp), isRecord(message) ? readTime(message['timestamp']) : null];
  return times.flatMap((time) => time?.getTime() ?? []);
}
