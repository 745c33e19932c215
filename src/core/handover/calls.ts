import { cutAtBlank } from './excerpt.ts';
import { splitLines } from './line.ts';
import { readCall, type ToolCall } from './tool-call.ts';
import { exitCodeOf, isNoise, isStatusLine, readableLine, readableText } from './tool-result.ts';
import type { Step, Turn } from './turns.ts';

type ResultStep = Extract<Step, { readonly kind: 'result' }>;

/** A tool call with its outcome. */
export type CompletedCall = {
  readonly name: string;
  readonly messageIds: readonly string[];
  readonly turn: number;
  readonly call: ToolCall;
  /** Null if these messages contain none. */
  readonly result: ResultStep | null;
  /** The result in readable form. */
  readonly answer: string | null;
  readonly exitCode: number | null;
  readonly hasFailed: boolean;
};

// The beginning and end of a command's output show how it went.
const MAX_ANSWER_CHARS = 4_000;

/** The calls of all turns in order, each with its result. */
export function readCalls(turns: readonly Turn[]): readonly CompletedCall[] {
  const results = readResults(turns);
  return turns.flatMap((turn) =>
    turn.steps.flatMap((step): readonly CompletedCall[] => {
      if (step.kind !== 'call') return [];
      const result = results.get(step);
      // It never ran.
      if (result !== undefined && isRefused(result)) return [];
      const answer = result === undefined ? null : readableText(result.text, MAX_ANSWER_CHARS);
      const call = readCall(step);
      const exitCode = result === undefined || call.command === null ? null : exitCodeOf(result.text);
      return [
        {
          name: step.name,
          messageIds: result === undefined ? [step.messageId] : [step.messageId, result.messageId],
          turn: turn.number,
          call,
          result: result ?? null,
          answer,
          exitCode,
          hasFailed:
            result !== undefined && hasFailed({ command: call.command, answer, exitCode, isError: result.isError }),
        },
      ];
    }),
  );
}

/** The result of each call. Some producers count the ids of calls anew in each turn, and some of their calls have no result. */
function readResults(turns: readonly Turn[]): ReadonlyMap<Step, ResultStep> {
  const results = new Map<Step, ResultStep>();
  const last = new Map<string, Step>();
  for (const { steps } of turns) {
    const waiting = new Map<string, Step[]>();
    for (const step of steps) {
      if (step.kind === 'call') {
        const same = waiting.get(step.callId);
        if (same === undefined) waiting.set(step.callId, [step]);
        else same.push(step);
        last.set(step.callId, step);
      } else if (step.kind === 'result') {
        const call = waiting.get(step.callId)?.shift() ?? last.get(step.callId);
        if (call !== undefined) results.set(call, step);
      }
    }
  }
  return results;
}

/** Whether an agent of its own answered the call: with a report, which reads like the assistant's. */
export function isAgentCall({ name }: Pick<CompletedCall, 'name'>): boolean {
  return /^(?:task|agent|(?:dispatch|spawn|run|call)_?agent|sub_?agents?|(?:task|agent)_?output(?:_?tool)?|delegate(?:_task)?)$/i.test(
    name,
  );
}

/** Whether a client answered in place of the tool, because the user did not allow the call. */
export function isRefused({ text }: Pick<ResultStep, 'text'>): boolean {
  return REFUSED.test(text);
}

const REFUSED = /^\s*The user doesn't want to (?:proceed with this tool use|take this action)/;

type Outcome = {
  readonly command: string | null;
  readonly answer: string | null;
  readonly exitCode: number | null;
  readonly isError: boolean;
};

/** For these commands exit code 1 is an answer: nothing was found, or two things differ. */
const EXIT_1_IS_AN_ANSWER = /^(?:(?:e|f|z|p|git )?grep|rg|ag|ack|diff|cmp|git diff|test|\[{1,2})(?:\s|$)/;
export const QUOTED_WORD = /"(?:[^"\\]|\\.)*"|'[^']*'/g;
const IS_DIFF = /^(?:diff|cmp|git diff)\s/;
/** The user or the client stopped the command, so nobody knows how it would have ended. */
const STOPPED =
  /^(?:command |request |tool call |operation )?(?:aborted|interrupted|cancell?ed)(?: by (?:the )?user)?\.?$/i;

function hasFailed({ command, answer, exitCode, isError }: Outcome): boolean {
  if (!isError && (exitCode === null || exitCode === 0)) return false;
  const lines = readableLines(answer ?? '');
  if (lines.length === 1 && STOPPED.test(lines[0] ?? '')) return false;
  if (command === null || exitCode !== 1) return true;
  const parts = firstLine(command)
    .replace(QUOTED_WORD, 'x')
    .split(/\|\||&&|[|;]/);
  const last = parts.at(-1)?.trim() ?? '';
  const isAnswer = IS_DIFF.test(last) ? parts.length === 1 : EXIT_1_IS_AN_ANSWER.test(last) && lines.length === 0;
  return !isAnswer || lines.some((line) => FAILURE_TO_RUN.test(line));
}

/** What these commands print when they could not run at all. */
const FAILURE_TO_RUN =
  /^(?:\S+: .*(?:no such file|not found|permission denied|is a directory|invalid|unrecognized)|error:|usage:|fatal:)/i;

export const MAX_COMMAND_CHARS = 140;
const MAX_OUTCOME_CHARS = 160;
/** A total says more than the last line that it counts. */
const TOTAL =
  /(?<!\btest )(?<!#)\b\d+ (?:passed|failed|failing|passing|errors?|problems?|vulnerabilities|tests? (?:passed|failed|run))\b|^(?:ℹ|#) (?:fail|pass) \d+|^test result: |^Tests run: \d+|^Found \d+ errors?|^\d+ issues?[.:]/i;
/** What `go test` prints for a package. */
const PASSED_PACKAGE = /^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)/m;
const FAILED_TOTAL =
  /\b[1-9]\d* (?:failed|failing|failures?|errors?|problems?|tests? failed)\b|^(?:ℹ|#) fail [1-9]|^[1-9]\d* issues?[.:]|^FAIL\s+\S+(?:\s+(?:[\d.]+s|\[[^\]]+\]))?$|^ERROR task failed$/i;
const FAILING =
  /\b(?:error|fail(?:ed|ure|s)?|exception|panic|fatal|cannot|could not|not found|denied|refused|undefined|assert)\b|\bE[A-Z]{4,}\b/i;

/** What a command is called: its first line without what only shortens or redirects its output. */
export function commandName({ call }: CompletedCall): string {
  return cutAtBlank(
    firstLine(call.command ?? '')
      .slice(0, MAX_NAMED_CHARS)
      .replace(SHORTENED, '')
      .trim(),
    MAX_COMMAND_CHARS,
  );
}

/** Much more than a name shows. */
const MAX_NAMED_CHARS = 1_000;
const SHORTENED = /(?:\s*\d?>&\d|\s*2?>\s*\/dev\/null|\s*\|\s*(?:tail|head|cat|tee \S+)\b[^|&;]*)+\s*$/;

const CHECK = /\b(?:tests?|lint|check|build|tsc|vet|jest|vitest|mocha|pytest|clippy|compile|make|mypy|eslint|ruff)\b/;

/** Quoted words, also if their end was cut off, paths and values of variables. */
const NOT_A_VERB = /"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|\S*[/.=]\S+/g;
/** Commands that name a check without making it. */
const NO_CHECK =
  /^\s*(?:test|git|gh|curl|echo|rm|mkdir|rmdir|cp|mv|touch|chmod|kill|pkill|pgrep|which)\b|\b(?:install|uninstall|add|version)\b|--help\b/;

/** The parts of a command that may test, lint or build. */
function verbsIn(done: CompletedCall): string {
  const parts = commandName(done)
    .replace(NOT_A_VERB, ' ')
    .split(/&&|\|\||[;|]/);
  return parts.filter((part) => !NO_CHECK.test(part)).join(';');
}

/** Whether a command tests, lints or builds. */
export function isCheck(done: CompletedCall): boolean {
  const { command } = done.call;
  return command !== null && hasEffect(command) && CHECK.test(verbsIn(done));
}

const TESTS = /\b(?:tests?|jest|vitest|pytest|mocha|ctest|rspec|phpunit|tox|nextest)\b/;
const BUILDS = /\b(?:build|compile|make|cargo check|webpack|vite build)\b/;
/** Tests, linters, type checkers and builds. */
const CHECKS = [
  TESTS,
  /\b(?:lint|eslint|oxlint|ruff|clippy|golangci-lint|flake8|biome|prettier|fmt|format)\b/,
  /\b(?:tsc|typecheck|type-check|mypy|pyright|vet)\b/,
  BUILDS,
];

/** The kinds of checks that a call made; empty: it made none, or nobody knows how it ended. */
function checksIn(done: CompletedCall): readonly RegExp[] {
  if (!isCheck(done) || outcomeOf(done) === null) return [];
  const verbs = verbsIn(done);
  return CHECKS.filter((pattern) => pattern.test(verbs));
}

/** The last check of each kind, in order. */
export function lastChecks(calls: readonly CompletedCall[]): readonly CompletedCall[] {
  const last = new Map(calls.flatMap((done) => checksIn(done).map((kind) => [kind, done] as const)));
  const found = new Set(last.values());
  // What was tested was built.
  const tested = calls.findLastIndex((done) => outcomeOf(done) === 'passed' && checksIn(done).includes(TESTS));
  const isOver = (done: CompletedCall, at: number): boolean =>
    at < tested && outcomeOf(done) === 'failed' && checksIn(done).every((kind) => kind === BUILDS);
  return calls.filter((done, at) => found.has(done) && !isOver(done, at));
}

/** Finds for a check the last one of its kind that passed later; undefined: there is none. */
export function createPassedLater(
  calls: readonly CompletedCall[],
): (failed: CompletedCall) => CompletedCall | undefined {
  const places = new Map(calls.map((done, at) => [done, at]));
  const passed = new Map(
    calls.flatMap((done) => {
      const kinds = checksIn(done);
      return kinds.length > 0 && outcomeOf(done) === 'passed' ? kinds.map((kind) => [kind, done] as const) : [];
    }),
  );
  const placeOf = (done: CompletedCall | undefined): number => (done === undefined ? -1 : (places.get(done) ?? -1));
  return (failed) =>
    checksIn(failed)
      .map((kind) => passed.get(kind))
      .find((done) => placeOf(done) > placeOf(failed));
}

/** How a command ended; null: its output does not say, because it was piped or is missing. */
export function outcomeOf({ call, answer, exitCode, hasFailed }: CompletedCall): 'passed' | 'failed' | null {
  if (hasFailed) return 'failed';
  if (answer === null) return null;
  const lines = readableLines(answer);
  if (lines.some((line) => FAILED_TOTAL.test(line))) return 'failed';
  if (lines.some((line) => TOTAL.test(line)) || PASSED_PACKAGE.test(answer)) return 'passed';
  if (/\|(?!\|)/.test(firstLine(call.command ?? '').replace(QUOTED_WORD, 'x'))) return null;
  return exitCode === 0 || exitCode === null ? 'passed' : null;
}

/** The line of an answer that counts what passed or failed; null: there is none. */
export function totalOf({ answer, hasFailed }: CompletedCall): string | null {
  const lines = readableLines(answer ?? '');
  const line = (hasFailed ? [FAILED_TOTAL] : [FAILED_TOTAL, TOTAL])
    .map((pattern) => lines.findLast((each) => pattern.test(each)))
    .find((each) => each !== undefined);
  return line === undefined ? null : cutAtBlank(line, MAX_OUTCOME_CHARS);
}

// Longer ones hold a file or encoded data.
const MAX_COMMAND_LINE_CHARS = 4_000;

/** A line that only sets a variable. */
const SETS = /^(?:export )?\w+=(?:"[^"]*"|'[^']*'|[^\s"';&|]*);?$/;

/** The first line that is no comment and does more than set variables. */
function firstLine(command: string): string {
  const lines = splitLines(command).map((line) => line.trim());
  const first = lines.find((line) => line !== '' && !line.startsWith('#') && !SETS.test(line)) ?? lines[0] ?? '';
  return first.slice(0, MAX_COMMAND_LINE_CHARS);
}

/** A line of a usage message, which may mention errors without reporting one. */
const OPTION = /^-{1,2}[A-Za-z][\w-]*[,= ]/;

/** A line that a program logged while it ran. */
const LOGGED = /^\W{0,2}\d{4}[-/]\d\d[-/]\d\d[T ]\S+ |\b(?:INFO|DEBUG|TRACE)\b/;
/** Which test failed, or where the error is. */
const NAMES_FAILURE =
  /^(?:--- )?FAIL(?:ED)?:? |^\s*(?:not ok|✖|✗|×|●) |[\w/.-]+\.\w{1,5}:\d+(?::\d+)?:? |^\w*(?:Error|Exception)\b.*: |\berror(?: TS\d+|\[E\d+\])?: |^(?:error|fatal|panic): /i;

/** The distinct lines of an answer that report a failure, in order; if some say where or which test, only those. */
export function errorLines(answer: string, max: number): readonly string[] {
  const lines = readableLines(answer);
  const distinct = [...new Set(lines)];
  const failing = distinct.filter((line) => FAILING.test(line) && !OPTION.test(line) && !LOGGED.test(line));
  const named = failing.filter((line) => NAMES_FAILURE.test(line));
  const chosen = named.length > 0 ? named : failing.length > 0 ? failing : distinct;
  return chosen.slice(-max).map((line) => cutAtBlank(line, MAX_OUTCOME_CHARS));
}

/** The task that printed a line, as runners of several tasks put it before each, with a colon in it: `[lint:go] `. */
const TASK_NAME = /^\s*\[[\w.-]+:[\w:.-]+\]\s/;

/** The lines of an answer that a person can read and that say something. */
export function readableLines(answer: string): readonly string[] {
  return splitLines(answer).flatMap((line) => {
    const readable = readableLine(line.replace(TASK_NAME, ''));
    return readable === null || isStatusLine(readable) || isNoise(readable) ? [] : [readable.replaceAll('\t', ' ')];
  });
}

const READ_ONLY =
  /^(?:ls|cat|head|tail|grep|rg|ag|fd|find|sed -n|awk|wc|pwd|which|echo|tree|stat|file|sleep|cd|jq|env|type|man|nl|less|printf|date|git (?:status|log|diff|show|branch|ls-files|ls-tree|blame|rev-parse|remote|grep|cat-file|fetch|stash list))\b/;

/** The head of a loop, in front of the command that it repeats. */
const LOOP = /^(?:for|while|if)\b[^;]*;\s*(?:do|then)\s+/;

/** Whether a command changes or checks something, instead of only reading. */
export function hasEffect(command: string): boolean {
  return !READ_ONLY.test(firstLine(command).replace(LOOP, ''));
}

const RECENT_CALLS = 40;

/** The last command that failed, unless the same was tried again or a check passed later. */
export function lastFailure(calls: readonly CompletedCall[]): CompletedCall | undefined {
  const commands = calls.filter(({ call }) => call.command !== null);
  const last = commands.findLast(({ hasFailed }) => hasFailed);
  if (last === undefined || calls.length - calls.indexOf(last) > RECENT_CALLS) return undefined;
  const key = (done: CompletedCall): string => commandName(done).split(/\s+/).slice(0, 2).join(' ');
  const isOver = commands
    .slice(commands.indexOf(last) + 1)
    .some((done) => key(done) === key(last) || (isCheck(last) && isCheck(done) && outcomeOf(done) === 'passed'));
  return isOver ? undefined : last;
}
