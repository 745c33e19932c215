import { commandName, type CompletedCall, errorLines, hasEffect, isCheck, outcomeOf, totalOf } from './calls.ts';
import { charsOf, type HandoverLine, quoted } from './line.ts';

const MAX_ERRORS = 2;

/** Commands that changed or checked something, each once with how often it ran and how it ended; the latest last. */
export function writeCommandLines(calls: readonly CompletedCall[], maxChars: number): readonly HandoverLine[] {
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
  const lines: HandoverLine[] = [];
  let left = maxChars;
  for (const [name, runs] of [...groups].toReversed()) {
    const text = `- \`${quoted(name)}\`${endOf(runs)}`;
    const line = { text, messageIds: runs.flatMap(({ messageIds }) => messageIds) };
    // How a command without a known end went is no news, and a change is listed with its file or in git's state.
    if (text.endsWith('`') || charsOf(line) > left) continue;
    left -= charsOf(line);
    lines.unshift(line);
  }
  return lines;
}

function endOf(runs: readonly CompletedCall[]): string {
  const last = runs.at(-1);
  const known = runs.flatMap((done) => outcomeOf(done) ?? []);
  if (last === undefined || known.length === 0) return '';
  const failed = known.filter((outcome) => outcome === 'failed').length;
  const times = runs.length === 1 ? '' : ` ${runs.length} times`;
  const end = outcomeOf(last);
  if (failed === 0 && !isCheck(last) && totalOf(last) === null) return '';
  const all = known[0] ?? '';
  const counts =
    failed > 0 && failed < known.length
      ? `, ${failed} failed${end === null ? '' : `, the last one ${end}`}`
      : ` ${all}`;
  const failure = runs.findLast((done) => outcomeOf(done) === 'failed');
  const total = totalOf(last);
  const errors = failure === undefined ? [] : errorLines(failure.answer ?? '', MAX_ERRORS);
  const said = [...new Set([...(total === null ? [] : [total]), ...errors])].map((line) => `“${line}”`);
  return `${times}${counts}${said.length === 0 ? '' : `: ${quoted(said.join(' '))}`}`;
}
