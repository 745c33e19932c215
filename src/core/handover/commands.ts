import {
  commandName,
  type CompletedCall,
  createPassedLater,
  errorLines,
  hasEffect,
  isCheck,
  lastChecks,
  lastFailure,
  outcomeOf,
  totalOf,
} from './calls.ts';
import { charsOf, type HandoverLine, quoted } from './line.ts';

const MAX_ERRORS = 2;

/**
 * Commands that failed, each once with how often it ran and how it ended, the latest last; and the checks that passed. What the state of the
 * work tells is left out, if it stands beside them.
 */
export function writeCommandLines(
  calls: readonly CompletedCall[],
  { maxChars, hasState }: { readonly maxChars: number; readonly hasState: boolean },
): readonly HandoverLine[] {
  const groups = new Map<string, CompletedCall[]>();
  for (const done of calls) {
    const { command } = done.call;
    if (command === null || !hasEffect(command)) continue;
    const name = commandName(done);
    // Git has its place in the state of the work.
    if (/^(?:git|gh)\b/.test(name) && !done.hasFailed) continue;
    const runs = groups.get(name) ?? [];
    groups.delete(name);
    groups.set(name, [...runs, done]);
  }
  const failure = lastFailure(calls);
  const shown = new Set(hasState ? [...lastChecks(calls), ...(failure === undefined ? [] : [failure])] : []);
  const passedLater = createPassedLater(calls);
  const failures: HandoverLine[] = [];
  const passed: HandoverLine[] = [];
  let left = maxChars;
  for (const [name, runs] of [...groups].toReversed()) {
    const [only] = runs;
    if (runs.length === 1 && only !== undefined && shown.has(only)) continue;
    const hasFailed = runs.some((done) => outcomeOf(done) === 'failed');
    const end = hasFailed ? failuresOf(runs, { passedLater, shown }) : passesOf(runs);
    const text = `${hasFailed ? '- ' : ''}\`${quoted(name)}\`${end}`;
    const line = { text, messageIds: runs.flatMap(({ messageIds }) => messageIds) };
    const chars = charsOf(line) + (hasFailed || passed.length > 0 ? 1 : PASSED.length);
    if (end === null || (!hasFailed && runs.some((done) => shown.has(done))) || chars > left) continue;
    left -= chars;
    (hasFailed ? failures : passed).unshift(line);
  }
  if (passed.length === 0) return failures;
  const names = passed.map(({ text }) => text).join(', ');
  return [...failures, { text: PASSED + names, messageIds: passed.flatMap(({ messageIds }) => messageIds) }];
}

const PASSED = '- Passed: ';

function timesOf({ length }: readonly CompletedCall[]): string {
  return length === 1 ? '' : ` ${length} times`;
}

/** How often a check passed, and its last total; null: it is no check, or nobody knows how it ended. */
function passesOf(runs: readonly CompletedCall[]): string | null {
  const passed = runs.filter((done) => outcomeOf(done) === 'passed');
  const last = passed.at(-1);
  if (last === undefined) return null;
  const total = totalOf(last);
  if (!isCheck(last) && total === null) return null;
  return `${timesOf(passed)}${total === null ? '' : ` (“${quoted(total)}”)`}`;
}

function failuresOf(
  runs: readonly CompletedCall[],
  { passedLater, shown }: { passedLater: ReturnType<typeof createPassedLater>; shown: ReadonlySet<CompletedCall> },
): string {
  const last = runs.at(-1);
  const failure = runs.findLast((done) => outcomeOf(done) === 'failed');
  if (last === undefined || failure === undefined) return '';
  const known = runs.flatMap((done) => outcomeOf(done) ?? []);
  const failed = known.filter((outcome) => outcome === 'failed').length;
  const end = outcomeOf(last);
  const later = end === 'failed' ? passedLater(last) : undefined;
  const ended =
    later !== undefined
      ? ` (later \`${quoted(commandName(later))}\` passed)`
      : failed < known.length && end !== null
        ? `, the last one ${end}`
        : '';
  const total = totalOf(last);
  const errors = shown.has(failure) ? [] : errorLines(failure.answer ?? '', MAX_ERRORS);
  const said = [...new Set([...(total === null || shown.has(last) ? [] : [total]), ...errors])];
  const counts = failed < known.length ? `, ${failed} failed` : ' failed';
  return `${timesOf(runs)}${counts}${ended}${said.length === 0 ? '' : `: ${quoted(said.map((line) => `“${line}”`).join(' '))}`}`;
}
