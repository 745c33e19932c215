import type { MessagePart } from '../../../core/message.ts';
import type { Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, type JsonRecord, readIsoTime, recordsAt, stringAt, valueAt } from '../json.ts';
import { argumentText, contentText, textOfParts, typedText } from '../message-parts.ts';
import { createSession, type NoteOf, notOurs } from '../session.ts';
import { say, textParts } from '../said.ts';

/** A trajectory in the Agent Trajectory Interchange Format (Harbor's RFC 0001), as evaluation tools store it. */
export const atif: Codec = {
  format: FORMATS.atif,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['steps'] }),
  detect: ([beginning = null]) => detectTrajectory(beginning),
  open: createStepSession,
};

function detectTrajectory(beginning: Json): Detection {
  const version = stringAt(beginning, 'schema_version') ?? '';
  if (!version.startsWith('ATIF-')) return notOurs('it has no "schema_version" that begins with ATIF');
  if (!version.startsWith('ATIF-v1.')) return notOurs(`its version is ${version}, and only ATIF-v1 is known`);
  const steps = valueAt(beginning, 'steps');
  if (steps !== undefined && !isList(steps)) return notOurs('its "steps" are not a list');
  return { confidence: 1, reason: `a trajectory of version ${version}` };
}

/** A step that only holds the number of one that left. */
type StepNote = 'placeholder';

/** The message of a placeholder. */
const PLACEHOLDER = '(compacted)';

/** Remembers the lines of the system prompt, and how steps are numbered. */
function createStepSession(): CodecSession {
  const instructionLines = new Set<number>();
  const steps = { hasBegun: false, firstSaidId: null as number | null, count: 0 };
  return createSession<StepNote>({
    what: 'a step that is',
    read: (step, { line, isFirstPass }) => {
      const { source } = step;
      const isLeading = isFirstPass ? !steps.hasBegun : instructionLines.has(line);
      const isInstruction = isLeading && source === 'system' && !isPlaceholder(step) && !isCompaction(step);
      if (isFirstPass) {
        steps.count += 1;
        if (isInstruction) instructionLines.add(line);
        else steps.hasBegun = true;
        if (steps.hasBegun) steps.firstSaidId ??= stepIdOf(step) ?? null;
      }
      if (typeof source !== 'string') return { problem: 'a step whose source is not a string' };
      if (isPlaceholder(step)) return { kind: 'meta', note: 'placeholder' };
      const said = { line, id: `step:${stepIdOf(step) ?? line}`, at: readIsoTime(step['timestamp']) };
      if (source === 'system' && isCompaction(step))
        return say({ ...said, role: 'system', parts: readSummary(step) }, { kind: 'summary' });
      const parts = readParts(step, line);
      // All results are those of the step's own calls.
      const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
      const pairs = { results: calls.length === 0 ? undefined : calls };
      if (isInstruction) return say({ ...said, role: 'system', parts }, { kind: 'instruction', ...pairs });
      const typed = typedText([textOfParts(parts)]);
      if (source === 'user') return say({ ...said, role: 'user', parts, typed }, { isPrompt: true, ...pairs });
      // Other steps of the system report what happened around the agent, as the result of a tool does.
      return say({ ...said, role: source === 'agent' ? 'assistant' : 'tool', parts }, pairs);
    },
    openList: (around) => stringAt(around, 'session_id') ?? stringAt(around, 'trajectory_id'),
    readContext,
    renderSummary: (input) => renderSummary(input, steps),
  });
}

function isPlaceholder(step: JsonRecord): boolean {
  return step['source'] === 'system' && step['message'] === PLACEHOLDER && Object.keys(step).length === 3;
}

/** Section VII of the RFC: such a step replaces everything before it in the context of the agent. */
function isCompaction(step: JsonRecord): boolean {
  return valueAt(step, 'extra', 'context_management', 'boundary') === 'replace';
}

/** The summary is the observation; a producer may have put it into the message instead. */
function readSummary(step: JsonRecord): readonly MessagePart[] {
  const observed = recordsAt(step, 'observation', 'results').map(({ content }) => contentText(content));
  const text = observed.join('\n');
  return [{ kind: 'text', text: text.trim() === '' ? contentText(step['message']) : text }];
}

/**
 * What a step says, its calls, and their results. A result that names no call answers the only one; without calls it is
 * what the terminal shows.
 * @throws RangeError if the arguments of a call are nested too deeply to be written as JSON.
 */
function readParts(step: JsonRecord, line: number): readonly MessagePart[] {
  const calls = recordsAt(step, 'tool_calls').map((call, at) => ({
    kind: 'call' as const,
    id: stringAt(call, 'tool_call_id') ?? `call:${line}:${at}`,
    name: stringAt(call, 'function_name') ?? '',
    arguments: argumentText(call['arguments']),
  }));
  const only = calls.length === 1 ? calls[0]?.id : undefined;
  const results = recordsAt(step, 'observation', 'results').map((result, at): MessagePart => ({
    kind: 'result',
    callId: stringAt(result, 'source_call_id') ?? only ?? `result:${line}:${at}`,
    text: contentText(result['content']),
    isError: false,
  }));
  return [...textParts([contentText(step['message'])]), ...calls, ...results];
}

function stepIdOf(step: Json | undefined): number | undefined {
  const id = valueAt(step, 'step_id');
  return typeof id === 'number' ? id : undefined;
}

/** The newest compaction with the boundary "replace" stands for everything before it, except the system prompt. */
function readContext(entries: readonly Entry[], noteOf: NoteOf<StepNote>): ContextView {
  const prior = entries.findLast(({ kind }) => kind === 'summary')?.line ?? null;
  return {
    priorLine: prior,
    isStale: ({ kind, line }) => prior !== null && line < prior && kind !== 'instruction',
    mustDrop: ({ line }) => noteOf(line) === 'placeholder',
  };
}

/**
 * A step of the system with the summary as its observation, which by the RFC replaces everything before it. Validators
 * require step numbers without a gap, and kept steps keep theirs: the summary takes the last number that is free, and
 * placeholders take the others: of the steps from `firstSaidId` on, the first after the system prompt. No gap can be longer than the file.
 */
function renderSummary(
  input: SummaryInput,
  { firstSaidId, count }: { readonly firstSaidId: number | null; readonly count: number },
): readonly string[] {
  const last = (stepIdOf(input.firstKept) ?? 2) - 1;
  const firstDropped = stepIdOf(input.firstDropped) ?? last;
  const first = Math.min(firstSaidId ?? firstDropped, firstDropped);
  const isSound = Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 1 && last - first < count;
  const placeholders = Array.from({ length: isSound ? Math.max(0, last - first) : 0 }, (_, at) =>
    JSON.stringify({ step_id: first + at, source: 'system', message: PLACEHOLDER }),
  );
  const summary = {
    step_id: Math.max(1, last),
    timestamp: stringAt(input.lastDropped, 'timestamp'),
    source: 'system',
    message: 'Context compaction',
    observation: { results: [{ content: input.text }] },
    extra: { context_management: { type: 'compaction', boundary: 'replace' } },
  };
  return [...placeholders, JSON.stringify(summary)];
}
