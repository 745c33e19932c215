import { cutAtBlank } from './excerpt-of.ts';
import { LINE_ENDS } from './line.ts';
import type { ToolCall } from './tool-call.ts';
import { exitCodeOf, isStatusLine, readableLine, readableText } from './tool-result.ts';
import type { Turn } from './turns.ts';
import { readCall } from './tool-call.ts';
import type { Step } from './steps.ts';

type ResultStep = Extract<Step, { readonly kind: 'result' }>;

/** A call, what it did, and what came of it. */
export type DoneCall = {
  readonly callId: string;
  readonly name: string;
  readonly messageIds: readonly string[];
  readonly turn: number;
  readonly call: ToolCall;
  /** As a person reads it; null: no result stands in these messages. */
  readonly answer: string | null;
  readonly exitCode: number | null;
  readonly hasFailed: boolean;
};

// What a command says of how it went stands at the head or the end of its output.
const MAX_ANSWER_CHARS = 4_000;

/** The calls of all turns in order, each with its result. */
export function readCalls(turns: readonly Turn[]): readonly DoneCall[] {
  const results = new Map<string, ResultStep>();
  for (const { steps } of turns) for (const step of steps) if (step.kind === 'result') results.set(step.callId, step);
  return turns.flatMap((turn) =>
    turn.steps.flatMap((step): readonly DoneCall[] => {
      if (step.kind !== 'call') return [];
      const result = results.get(step.callId);
      const answer = result === undefined ? null : readableText(result.text, MAX_ANSWER_CHARS);
      const call = readCall(step);
      const exitCode = result === undefined || call.command === null ? null : exitCodeOf(result.text);
      return [
        {
          callId: step.callId,
          name: step.name,
          messageIds: result === undefined ? [step.messageId] : [step.messageId, result.messageId],
          turn: turn.number,
          call,
          answer,
          exitCode,
          hasFailed: result !== undefined && (result.isError || (exitCode !== null && exitCode !== 0)),
        },
      ];
    }),
  );
}

const MAX_COMMAND_CHARS = 140;
const MAX_OUTCOME_CHARS = 160;
const TELLING =
  /\b(?:\d+ (?:passed|failed|failing|passing|errors?|warnings?|tests?|files? changed|problems?|vulnerabilities)|error|fail(?:ed|ure|s)?|exception|panic|fatal|cannot|could not|not found|denied|refused|timed? ?out|passed|success(?:ful(?:ly)?)?|succeeded|created|pushed|merged|deployed|published|installed|built|done)\b|^(?:ok|PASS|FAIL)\b/i;
const FAILING =
  /\b(?:error|fail(?:ed|ure|s)?|exception|panic|fatal|cannot|could not|not found|denied|refused|undefined|assert)\b|\bE[A-Z]{4,}\b/i;

/** `$ npm test → exit 1: 2 failed`. */
export function commandLine({ call, answer, exitCode, hasFailed }: DoneCall): string {
  const command = cutAtBlank(firstLine(call.command ?? ''), MAX_COMMAND_CHARS);
  const tells = answer !== null && (hasFailed || isDeed(call.command ?? ''));
  const key = tells ? tellingLine(answer, hasFailed) : null;
  const state = exitCode !== null && exitCode !== 0 ? `exit ${exitCode}` : hasFailed ? 'failed' : null;
  const outcome = [state, key].filter((part) => part !== null).join(': ');
  return outcome === '' ? `$ ${command}` : `$ ${command} → ${outcome}`;
}

/** A command of several lines may begin with a remark. */
function firstLine(command: string): string {
  const lines = command.split(LINE_ENDS).map((line) => line.trim());
  return lines.find((line) => line !== '' && !line.startsWith('#')) ?? lines[0] ?? '';
}

function tellingLine(answer: string, hasFailed: boolean): string | null {
  const lines = readableLines(answer);
  const pattern = hasFailed ? FAILING : TELLING;
  const line =
    lines.findLast((each) => pattern.test(each)) ?? (hasFailed || lines.length <= 2 ? lines.at(-1) : undefined);
  return line === undefined ? null : cutAtBlank(line, MAX_OUTCOME_CHARS);
}

/** The lines of an answer that tell of a failure, in order. */
export function errorLines(answer: string, max: number): readonly string[] {
  const lines = readableLines(answer);
  const failing = lines.filter((line) => FAILING.test(line));
  const chosen = failing.length > 0 ? failing : lines;
  return chosen.slice(-max).map((line) => cutAtBlank(line, MAX_OUTCOME_CHARS));
}

function readableLines(answer: string): readonly string[] {
  return answer.split(LINE_ENDS).flatMap((line) => {
    const readable = readableLine(line);
    return readable === null || isStatusLine(readable) ? [] : [readable];
  });
}

const LOOKING =
  /^(?:ls|cat|head|tail|grep|rg|ag|fd|find|sed -n|awk|wc|pwd|which|echo|tree|stat|file|sleep|cd|jq|env|type|man|nl|less|printf|date|git (?:status|log|diff|show|branch|ls-files|ls-tree|blame|rev-parse|remote|grep|cat-file|fetch|stash list))\b/;

/** The head of a loop: what it repeats comes after it. */
const LOOP = /^(?:for|while|if)\b[^;]*;\s*(?:do|then)\s+/;

/** Whether a command does or checks something, and does not only look. */
export function isDeed(command: string): boolean {
  return !LOOKING.test(firstLine(command).replace(LOOP, ''));
}
