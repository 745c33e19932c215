import { lazily } from '../../../core/lazy.ts';
import { estimateTokens } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
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
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { callPart, decodeSummary, firstText, resultPart, say, type SaidPlace, textParts } from '../said.ts';
import type { MessagePart } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import { argumentText, contentText, contentTexts, readPartText, ruleWords, typedText } from '../message-parts.ts';

/** Sessions of Kimi Code, one file per agent: `~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`. */
export const kimiCode: Codec = {
  format: FORMATS.kimiCode,
  detect: detectKimiCode,
  readProject: textReader('environmentDisclosure', 'cwd'),
  readModel: textReader('model'),
  open: createSession,
};

/** The log of the same name in `~/.kimi` begins with such a metadata record too; its other records have a payload and no type. */
function detectKimiCode(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(({ type }) => typeof type === 'string' && /^context\.\w+$/.test(type)).length;
  const [first] = records;
  const isHeader = first?.['type'] === 'metadata' && typeof first['protocol_version'] === 'string';
  const flat = records.filter((record) => typeof record['type'] === 'string' && typeof record['time'] === 'number');
  if (isHeader && flat.length > 0 && flat.length >= (records.length - 1) / 2)
    return { confidence: 1, reason: 'the first record names the version of the protocol, with typed records after it' };
  if (own > 0 && own >= records.length / 2)
    return { confidence: 0.9, reason: 'the records change the context of an agent' };
  return notOurs('no metadata with a protocol_version stands before typed records');
}

const CONTEXT: ReadonlySet<string> = new Set(['message', 'instruction', 'summary']);

/** The context is rebuilt while the records are read, as Kimi Code does. */
function createSession(): CodecSession {
  const fold = createFold();
  const context = lazily(fold.finish);
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const decoded = decodeRecord(record, line);
      if (isFirstPass && !('problem' in decoded)) fold.read(record, line);
      return decoded;
    },
    readContext: () => {
      const { live, summarized, strays, priorLine, firstOfStep, stepOf } = context();
      return {
        priorLine,
        isStale: ({ kind, line }) => CONTEXT.has(kind) && line !== priorLine && !live.has(line),
        mustDrop: ({ line }) => strays.has(line),
        isInSummary: ({ line }) => summarized.has(line),
        anchorOf: ({ kind, line }) => (kind === 'meta' ? (firstOfStep.get(stepOf.get(line) ?? 0) ?? null) : null),
      };
    },
    legalCuts: () => context().closed,
    renderSummary,
  });
}

/** A compaction like Kimi Code's own: after the header, with nothing before it to keep, it leaves the summary alone. */
function renderSummary(input: SummaryInput): readonly string[] {
  const { text, firstKept, lastDropped, firstDropped, tokensBefore } = input;
  const near = [lastDropped, firstKept, firstDropped];
  const time = near.map((record) => valueAt(record, 'time')).find((value) => typeof value === 'number');
  const agentId = firstText('agentId', ...near);
  const record = {
    type: 'context.apply_compaction',
    ...(agentId !== undefined && { agentId }),
    summary: text,
    contextSummary: text,
    compactedCount: 0,
    tokensBefore,
    tokensAfter: estimateTokens(text),
    keptUserMessageCount: 0,
    ...(time !== undefined && { time }),
  };
  return [JSON.stringify(record)];
}

/** Records of what happened, from which nothing is restored, or only what a compaction resets. */
const LOGGED =
  /^(?:turn\.|llm\.|full_compaction\.|micro_compaction\.|token_counting\.|mcp\.tools_discovered$|context\.(?:clear|undo|update_token_count)$)/;

/** Decodes a record. All state (model, tools, permissions, plans, goals, costs) is restored from its records, so they all stay. */
function decodeRecord(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { type, message, event } = record;
  const id = isRecord(message) ? stringAt(message, 'id') : stringAt(event, 'uuid');
  const place = { id, line, at: readMilliseconds(record['time']) };
  if (type === 'context.append_message') return decodeMessage(message, place);
  if (type === 'context.append_loop_event') return decodeEvent(event, place);
  if (type === 'context.apply_compaction') return decodeCompaction(record, place);
  return { kind: typeof type !== 'string' || LOGGED.test(type) ? 'meta' : 'header' };
}

function decodeMessage(message: Json | undefined, place: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a context.append_message without a message' };
  const { role, content, isError } = message;
  if (!isList(content)) return { problem: 'a message whose content is not a list' };
  if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system')
    return { problem: 'a message whose role is not user, assistant, tool or system' };
  const callId = stringAt(message, 'toolCallId');
  if (role === 'tool' && callId !== undefined)
    return say({ ...place, role, parts: [resultPart(callId, contentText(content), isError === true)] });
  const calls = recordsAt(message, 'toolCalls').map(readCall);
  const said = { ...place, role, parts: [...textParts(contentTexts(content)), ...calls] } as const;
  if (role === 'system') return say(said, { kind: 'instruction' });
  const typed = isPrompt(message) ? typedText(content.map(readPartText)) : undefined;
  if (typed === undefined) return say(said);
  // A command's prompt holds the text of its skill, so only what the client notes as a person's own prompt may state rules.
  const texts = content.filter((part) => stringAt(part, 'type') === 'text').map(readPartText);
  const ruleText = stringAt(message, 'origin', 'kind') === 'user' ? ruleWords(texts) : undefined;
  return say({ ...said, typed, ruleText }, { isPrompt: true });
}

/** A person sent it: Kimi Code can undo it and keeps it when it compacts. */
export function isPrompt({ role, origin }: JsonRecord): boolean {
  if (role !== 'user') return false;
  const { kind, trigger } = isRecord(origin) ? origin : { kind: 'user' };
  const isCommand = kind === 'skill_activation' || kind === 'plugin_command';
  return kind === 'user' || (isCommand && trigger === 'user-slash');
}

/** A step of the agent is stored as it was streamed: its parts and calls belong together. Thinking goes with them. */
function decodeEvent(event: Json | undefined, place: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(event)) return { problem: 'a context.append_loop_event without an event' };
  const { type, part, result } = event;
  const groupKey = `step:${stringAt(event, 'stepUuid') ?? place.line}`;
  if (type === 'tool.call') return say({ ...place, role: 'assistant', parts: [readCall(event)] }, { groupKey });
  if (type === 'content.part') {
    if (!isRecord(part)) return { problem: 'a content.part without a part' };
    if (part['type'] === 'think') return { kind: 'meta' };
    return say({ ...place, role: 'assistant', parts: textParts(contentTexts([part])) }, { groupKey });
  }
  if (type !== 'tool.result') return { kind: 'meta' };
  const callId = stringAt(event, 'toolCallId');
  if (!isRecord(result) || callId === undefined) return { problem: 'a tool.result without its result or call' };
  const answer = resultPart(callId, contentText(result['output']), result['isError'] === true);
  return say({ ...place, role: 'tool', parts: [answer] });
}

function decodeCompaction(record: JsonRecord, place: SaidPlace): Decoded | RecordProblem {
  const content = valueAt(record, 'summary', 'content');
  const listed = isList(content) ? contentText(content, '') : undefined;
  const text = stringAt(record, 'contextSummary') ?? stringAt(record, 'summary') ?? listed;
  if (text === undefined) return { problem: 'a context.apply_compaction without a summary' };
  return decodeSummary(text, place);
}

/** `{id, name, arguments: text}` in a message, `{toolCallId, name, args: any}` in a step. */
function readCall(call: JsonRecord): MessagePart {
  const id = stringAt(call, 'toolCallId') ?? stringAt(call, 'id') ?? '';
  return callPart(id, stringAt(call, 'name') ?? '', argumentText(call['args'] ?? call['arguments']));
}

/** A message of Kimi Code's context, with the lines it was made from; none for a result that Kimi Code makes up itself. */
type Item = {
  readonly kind: 'prompt' | 'swarm' | 'summary' | 'old summary' | 'step' | 'other';
  readonly lines: number[];
  readonly id?: string | undefined;
  /** The prompt that an injection belongs to. */
  readonly owner?: string | undefined;
};

/** The step whose parts are being read. `from` and `to`: its first and last line. */
type Step = { readonly uuid: string; readonly item: Item; readonly from: number; to: number };

/**
 * Rebuilds the context from the records in order, as Kimi Code does: messages that come while calls wait for their
 * results follow the results, a new step ends the one before, and the records of clears, undos and compactions change
 * what was there.
 */
function createFold() {
  let history: Item[] = [];
  let deferred: Item[] = [];
  let open: Step | null = null;
  let lastClear = 0;
  const pending = new Map<string, Step>();
  /** Lines that a compaction still in the context replaced. */
  const summarized = new Set<number>();
  /** Parts of steps that are over, and results that no call waits for: Kimi Code ignores them, or refuses the session. */
  const strays = new Set<number>();
  const steps: Step[] = [];
  const undone: { readonly from: number; readonly to: number }[] = [];
  // Steps are named by their first line.
  const stepOf = new Map<number, number>();
  const firstOfStep = new Map<number, number>();

  const flush = (): void => {
    if (pending.size > 0) return;
    history.push(...deferred);
    deferred = [];
  };
  /** A step without words leaves nothing; calls that still wait get a result that says so. */
  const endStep = (): void => {
    const item = open?.item;
    if (item?.lines.length === 0) history = history.filter((one) => one !== item);
    open = null;
    flush();
  };
  const settle = (): void => {
    history.push(...Array.from(pending, (): Item => ({ kind: 'other', lines: [] })));
    pending.clear();
    endStep();
  };
  const reset = (left: Item[]): void => {
    history = left;
    deferred = [];
    pending.clear();
    open = null;
  };
  const addToStep = (step: Step, line: number): void => {
    step.to = line;
    stepOf.set(line, step.from);
  };
  const readEvent = (event: JsonRecord, line: number): void => {
    const { type } = event;
    const uuid = stringAt(event, type === 'content.part' || type === 'tool.call' ? 'stepUuid' : 'uuid');
    const callId = stringAt(event, 'toolCallId') ?? '';
    if (type === 'step.begin') {
      settle();
      const item: Item = { kind: 'step', lines: [] };
      open = { uuid: uuid ?? '', item, from: line, to: line };
      steps.push(open);
      history.push(item);
      addToStep(open, line);
    } else if (type === 'tool.result') {
      const step = pending.get(callId);
      if (step === undefined) {
        strays.add(line);
        return;
      }
      step.to = line;
      pending.delete(callId);
      history.push({ kind: 'other', lines: [line] });
      flush();
    } else if (open !== null && open.uuid === uuid) {
      addToStep(open, line);
      const isBroken = event['finishReason'] === 'interrupted' || event['finishReason'] === 'error';
      if (type === 'tool.call') pending.set(callId, open);
      if (type === 'step.end' && !isBroken) endStep();
      if (type !== 'content.part' && type !== 'tool.call') return;
      open?.item.lines.push(line);
      const from = stepOf.get(line) ?? line;
      if (stringAt(event, 'part', 'type') !== 'think' && !firstOfStep.has(from)) firstOfStep.set(from, line);
    } else if (type !== 'step.end') strays.add(line);
  };
  /** Since the rework of compactions Kimi Code keeps prompts and forgets the rest; older records keep the end. */
  const compact = (record: JsonRecord, line: number): void => {
    const { keptUserMessageCount, legacyTail, compactedCount, count } = record;
    const isOld = typeof legacyTail === 'boolean' ? legacyTail : typeof keptUserMessageCount !== 'number';
    const size = [compactedCount, count].find((value) => typeof value === 'number') ?? 0;
    const left = isOld ? history.slice(size) : history.filter(({ kind }) => kind === 'prompt');
    const stays = new Set(left);
    for (const item of history) if (!stays.has(item)) for (const one of item.lines) summarized.add(one);
    const summary: Item = { kind: 'summary', lines: [line] };
    reset(isOld ? [summary, ...left] : [...left, summary]);
    lastClear = line;
  };
  const undo = (count: number, line: number): void => {
    const cut = findUndoCut(history, count);
    if (cut < 0) return;
    const from = history[cut]?.lines[0] ?? line;
    while ((undone.at(-1)?.from ?? 0) >= from) undone.pop();
    undone.push({ from, to: line });
    reset(history.slice(0, cut));
  };
  return {
    read: (record: JsonRecord, line: number): void => {
      const { type, message, event, count } = record;
      if (type === 'context.append_message' && isRecord(message)) {
        (pending.size > 0 ? deferred : history).push(itemOf(message, line));
      } else if (type === 'context.append_loop_event' && isRecord(event)) readEvent(event, line);
      else if (type === 'context.apply_compaction') compact(record, line);
      else if (type === 'context.undo' && typeof count === 'number') undo(count, line);
      else if (type === 'swarm_mode.exit' && history.at(-1)?.kind === 'swarm') reset(history.slice(0, -1));
      else if (type === 'context.clear') {
        reset([]);
        summarized.clear();
        lastClear = line;
      }
    },
    /** What Kimi Code sends at the end of the file. */
    finish: () => {
      settle();
      flush();
      const firsts = new Set(firstOfStep.values());
      const within = new Set<number>();
      for (const { from, to } of steps)
        for (let line = from + 1; line <= to; line += 1) if (!firsts.has(line)) within.add(line);
      const undoneLines = new Set<number>();
      for (const { from, to } of undone) for (let line = from + 1; line <= to; line += 1) undoneLines.add(line);
      return {
        live: new Set(history.flatMap(({ lines }) => lines)),
        summarized,
        strays,
        priorLine: history.findLast(({ kind }) => kind === 'summary')?.lines[0] ?? null,
        stepOf,
        firstOfStep,
        closed: (line: number) => {
          if (line <= lastClear) return 'Kimi Code compacted or cleared its context after this line';
          if (within.has(line)) return 'it is in the middle of a step of the agent';
          return undoneLines.has(line) ? 'a turn that begins before this line was undone after it' : null;
        },
      };
    },
  };
}

function itemOf(message: JsonRecord, line: number): Item {
  const origin = recordAt(message, 'origin');
  const { kind, variant } = origin;
  const common = { lines: [line], id: stringAt(message, 'id'), owner: stringAt(origin, 'ownerPromptId') };
  if (kind === 'injection') return { ...common, kind: variant === 'swarm_mode' ? 'swarm' : 'other' };
  if (kind === 'compaction_summary') return { ...common, kind: 'old summary' };
  return { ...common, kind: isPrompt(message) ? 'prompt' : 'other' };
}

/** Where the last `count` prompts begin, with what was injected for the first of them; -1 if there are fewer since the last compaction. */
function findUndoCut(history: readonly Item[], count: number): number {
  let left = count;
  let cut = -1;
  for (let at = history.length - 1; at >= 0 && left > 0; at -= 1) {
    const item = history[at];
    if (item === undefined || item.kind === 'summary' || item.kind === 'old summary') break;
    if (item.kind !== 'prompt') continue;
    left -= 1;
    cut = at;
    while (cut > 0 && item.id !== undefined && history[cut - 1]?.owner === item.id) cut -= 1;
  }
  return left === 0 ? cut : -1;
}
