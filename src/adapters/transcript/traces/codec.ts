import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { ConversationMessage } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Codec, CodecSession, ContextView, CutProblem, Detection, Format, Json } from '../../../ports/codec.ts';
import { createListRecords, printedRecords } from '../json-list/records.ts';
import { isList, isRecord } from '../json.ts';
import { leadingSummaryLine, refuseDeepNesting, withTyped } from '../message-parts.ts';
import { readMessages } from './messages.ts';
import { renderSummary } from './render.ts';
import { readSpans, type Span, traceKindOf } from './spans.ts';

const CHECKED = 'restored and verified after up to four compactions; the result has the same shape';

/** Records of tracing tools, one a line: OpenTelemetry's, Langfuse's, LangSmith's. */
export const traceLines: Codec = {
  ...codecFor({
    name: 'trace-lines',
    title: 'traces, one record a line',
    summary:
      'OTLP in JSON with gen_ai messages, spans of file and console exporters, observations and traces of Langfuse, runs of LangSmith: the calls of a model whose histories later calls repeat',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  }),
  records: printedRecords,
  detect: detectIn,
};

/** The same records in a list of a JSON document. */
export const traceDocument: Codec = {
  ...codecFor({
    name: 'trace-document',
    title: 'traces in a JSON file',
    summary: 'a .json file, a list of such records, or {observations: […]}, {runs: […]}',
    layout: { kind: 'document', links: 'order' },
  }),
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['observations', 'runs'], orItself: true }),
  detect: ([beginning = null]) => {
    const list = isRecord(beginning) ? (beginning['observations'] ?? beginning['runs']) : beginning;
    return isList(list) ? detectIn(list) : { confidence: 0, reason: 'it has no list of observations or runs' };
  },
};

function codecFor(format: Omit<Format, 'checked'>): Omit<Codec, 'detect'> {
  return { format: { ...format, checked: CHECKED }, open: createSession };
}

function detectIn(sample: readonly Json[]): Detection {
  const own = sample.filter((value) => isRecord(value) && traceKindOf(value) !== null).length;
  if (own === 0) return { confidence: 0, reason: 'no record is a span, an observation or a run' };
  return { confidence: own >= sample.length / 2 ? 1 : 0.5, reason: `${own} spans, observations or runs` };
}

/**
 * What is known of a record after the first pass. `isFirst`: nothing of its conversation precedes it, so its whole
 * history is read.
 */
type Note = { readonly isFirst: boolean; readonly ids: readonly string[]; readonly at: number | null };

/**
 * A record with a call of a model is a message: the end of its history, from the last answer on, and its own answer.
 * Later calls repeat the rest. Other records are carried along.
 */
function createSession(): CodecSession {
  const notes: Note[] = [];
  const begun = new Set<string>();
  return {
    observe: (value, line) =>
      refuseDeepNesting('a record that is', () => {
        const spans = isRecord(value) ? readSpans(value) : [];
        const ids = spans.flatMap(({ id }) => id ?? []);
        const conversation = conversationOf(spans);
        const isFirst = !begun.has(conversation);
        const decoded = decodeRecord(spans, { line, isFirst });
        if (decoded.kind !== 'meta') begun.add(conversation);
        notes[line] = { isFirst, ids, at: spans[0]?.at?.getTime() ?? null };
        return decoded;
      }),
    decode: (value, line) =>
      refuseDeepNesting('a record that is', () => {
        const spans = isRecord(value) ? readSpans(value) : [];
        const note = notes[line];
        // A line of an earlier file may be asked for, under the number that it had there.
        const isSame = note?.ids[0] === spans[0]?.id;
        return decodeRecord(spans, { line, isFirst: isSame && note?.isFirst === true });
      }),
    readContext: (entries) => readContext(entries, (line) => notes[line]?.ids ?? []),
    legalCuts: (entries) => {
      const spoken = entries.filter(({ kind }) => kind === 'message');
      const problem = orderProblem(spoken.flatMap(({ line }) => notes[line]?.at ?? []));
      return () => problem;
    },
    renderSummary,
  };
}

function conversationOf(spans: readonly Span[]): string {
  return (spans.find(({ isModelCall }) => isModelCall) ?? spans[0])?.conversation ?? '';
}

function decodeRecord(
  spans: readonly Span[],
  { line, isFirst }: { readonly line: number; readonly isFirst: boolean },
): Decoded {
  const [first] = spans;
  if (first === undefined) return { kind: 'meta' };
  const conversation = conversationOf(spans);
  const { id, parentId } = first;
  const facts = {
    conversation,
    ...(id !== undefined && { recordId: id }),
    ...(parentId !== undefined && { parentId }),
  };
  const summary = spans.find((span) => span.summary !== undefined)?.summary;
  const base = { id: id ?? `line:${line}`, conversation_id: conversation, created_at: first.at };
  if (summary !== undefined && isClipArchiveText(summary)) {
    return { ...facts, kind: 'summary', message: { ...base, role: 'system', content: summary } };
  }
  const calls = spans.filter(({ isModelCall }) => isModelCall);
  const fresh = calls.flatMap((span, at) => readMessages(span, isFirst && at === 0));
  if (fresh.length === 0) return { ...facts, kind: 'meta' };
  const typed = fresh.flatMap((one) => one.typed ?? []).join('\n');
  const message: ConversationMessage = {
    ...base,
    role: typed === '' ? 'assistant' : 'user',
    content: fresh.map(({ text }) => text).join('\n'),
    parts: fresh.flatMap(({ parts }) => parts),
  };
  return { ...facts, kind: 'message', ...(typed !== '' && { isPrompt: true }), message: withTyped(message, typed) };
}

/**
 * A span around model calls (an agent, a chain) goes or stays with the last of them, so that no span that stays loses
 * its parents; any other span with the next model call.
 */
function readContext(entries: readonly Entry[], idsOf: (line: number) => readonly string[]): ContextView {
  const byId = new Map(entries.flatMap((entry) => idsOf(entry.line).map((id) => [id, entry] as const)));
  const lastInside = new Map<number, number>();
  const spoken = entries.filter(({ kind }) => kind === 'message');
  for (const { line, parentId } of spoken) {
    const seen = new Set<string>();
    for (let id = parentId; id !== undefined && id !== null && !seen.has(id); id = byId.get(id)?.parentId) {
      seen.add(id);
      const around = byId.get(id);
      if (around !== undefined) lastInside.set(around.line, line);
    }
  }
  const next = new Map<number, number>();
  let following = spoken.at(-1)?.line;
  for (const { line, kind } of entries.toReversed()) {
    if (kind === 'message') following = line;
    else if (following !== undefined) next.set(line, following);
  }
  return {
    priorLine: leadingSummaryLine(entries),
    isStale: () => false,
    anchorOf: ({ kind, line }) => (kind === 'meta' ? (lastInside.get(line) ?? next.get(line) ?? null) : null),
  };
}

/** Some tools export the newest record first. What stays would then be the oldest. */
function orderProblem(times: readonly number[]): CutProblem {
  const steps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  const back = steps.filter((step) => step < 0).length;
  return steps.length > 0 && back > steps.length / 2
    ? 'the newest record stands first; sort the records by time'
    : null;
}
