import {
  commandName,
  type CompletedCall,
  errorLines,
  hasEffect,
  isAgentCall,
  MAX_COMMAND_CHARS,
  outcomeOf,
  readableLines,
} from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { baseName, isConstant, shortNames } from './files.ts';
import { declaredName, IS_FILE } from './places.ts';
import { charsOf, type HandoverLine, quoted, splitLines } from './line.ts';
import { condenseProse } from './prose.ts';
import type { ToolCall } from './tool-call.ts';
import { LINE_NUMBER, withoutClientLines } from './tool-result.ts';

const HEAD = 'Its last steps, in order:';
const MAX_STEPS = 6;
const MAX_ABOUT_CHARS = 160;
const MAX_LINES = 4;
const MAX_REPORT_CHARS = 900;
const MAX_LINE_CHARS = 160;
/** A command that does something ends with what counts. */
const MAX_TOTAL_LINES = 2;
const MAX_PLACES = 10;
const MAX_ROW_CHARS = 500;

/** The last calls of an unfinished turn; the same call several times in a row is one step. */
export function lastSteps(calls: readonly CompletedCall[]): readonly (readonly CompletedCall[])[] {
  const steps: CompletedCall[][] = [];
  for (const done of calls) {
    if (done.call.tasks !== null || done.call.task !== null) continue;
    const before = steps.at(-1)?.[0];
    if (before !== undefined && isSameCall(before, done)) steps.at(-1)?.push(done);
    else steps.push([done]);
  }
  return steps.slice(-MAX_STEPS);
}

/** Different calls may have one name: of files in two folders, of scripts that begin with the same line. */
function isSameCall(one: CompletedCall, other: CompletedCall): boolean {
  const [key, otherKey] = [one, other].map((done) => {
    const { command, folder, written, about, texts } = done.call;
    const isWhole = command !== null && command.length <= MAX_COMMAND_CHARS && !command.includes('\n');
    const what = isWhole ? commandName(done) : (command ?? (written.length > 0 ? written : [about, texts]));
    return JSON.stringify([done.name, folder, what]);
  });
  return key === otherKey;
}

/** Steps with what each of them found: whoever goes on has seen nothing of it. The newest come first if not all fit. */
export function lastStepLines(steps: readonly (readonly CompletedCall[])[], maxChars: number): readonly HandoverLine[] {
  const lines: HandoverLine[] = [];
  let left = maxChars - HEAD.length - 1;
  for (const step of steps.toReversed()) {
    const line = { text: `- ${quoted(stepText(step))}`, messageIds: step.flatMap(({ messageIds }) => messageIds) };
    if (charsOf(line) > left) break;
    left -= charsOf(line);
    lines.unshift(line);
  }
  return lines.length === 0 ? [] : [{ text: HEAD, messageIds: [] }, ...lines];
}

/** What a call did to what. */
function stepName(done: CompletedCall): string {
  const { name, call } = done;
  if (call.command !== null) return `\`${commandName(done)}\``;
  const [about = call.target ?? call.texts[0]?.split('\n')[0] ?? ''] = call.about;
  const target = call.written.length > 0 ? countedList(shortNames(call.written)) : namedTarget(about);
  return `${cutAtBlank(name, MAX_ABOUT_CHARS)} ${target}`.trim();
}

/** The same call, once or several times in a row. */
function stepText(step: readonly CompletedCall[]): string {
  const [last] = step.slice(-1);
  if (last === undefined) return '';
  const ends = step.map(endOf);
  const [end = null] = ends.slice(-1);
  const failed = ends.filter((each) => each === 'failed').length;
  const times = step.length === 1 ? '' : ` ${step.length} times`;
  const counted = failed === 0 || failed === step.length ? '' : `${failed} failed${end === null ? '' : ', '}`;
  const isMixed = ends.some((each) => each !== end);
  const ended = `${counted}${end === null ? '' : isMixed ? `last: ${end}` : end}`;
  // Only the last run of a command counts.
  const telling = last.call.command === null ? step.slice(-MAX_PLACES) : [last];
  const found = [...new Set(telling.map(foundIn))].filter((text) => text !== '');
  return `${stepName(last)}${times}${ended === '' ? '' : ` (${ended})`}${found.length === 0 ? '' : `: ${found.join(', ')}`}`;
}

function endOf(done: CompletedCall): string | null {
  const { call, hasFailed, answer } = done;
  if (hasFailed) return 'failed';
  if (answer === null) return 'no result yet';
  return call.command === null || !hasEffect(call.command) ? null : outcomeOf(done);
}

/** A file by its name, anything else as it is. */
function namedTarget(about: string): string {
  if (about.trim() === '') return '';
  return `\`${cutAtBlank(/^\S+[/\\][^/\\\s]+\.\w{1,8}$/.test(about) ? baseName(about) : about, MAX_ABOUT_CHARS)}\``;
}

/** What a call found: the errors of one that failed, the files of a search, the declarations of a file, or the lines of an output. */
function foundIn(done: CompletedCall): string {
  const { call, hasFailed } = done;
  const answer = done.answer ?? '';
  if (hasFailed || outcomeOf(done) === 'failed') return listOf(errorLines(answer, MAX_LINES));
  if (call.written.length > 0) return editedIn(call);
  if (isAgentCall(done)) {
    const report = condenseProse(withoutClientLines(answer), MAX_REPORT_CHARS).trim();
    return report === '' ? '' : `“${report}”`;
  }
  const rows = splitLines(answer).flatMap((row) => (row.trim() === '' ? [] : [row.trim()]));
  const places = rows.flatMap(placeIn);
  if (places.length * 2 > rows.length) {
    const declared = places.filter(({ line }) => declaredName(line) !== null || isConstant(line)).slice(0, MAX_LINES);
    const told = declared.map(({ line }) => `\`${cutAtBlank(line, MAX_LINE_CHARS)}\``).join(', ');
    return countedList(places.map(({ path }) => `\`${baseName(path)}\``)) + (told === '' ? '' : ` with ${told}`);
  }
  const numbered = rows.filter((row) => LINE_NUMBER.test(row));
  const isNumbered = numbered.length * 2 > rows.length;
  const isCode = call.command === null && IS_FILE.test(baseName(call.target ?? ''));
  const declared = (isNumbered ? numbered : isCode ? rows : [])
    .map((row) => row.replace(LINE_NUMBER, '').trim())
    .filter((line) => declaredName(line) !== null && line.length <= MAX_LINE_CHARS);
  if (isNumbered || declared.length > 0) {
    return declared
      .slice(0, MAX_LINES)
      .map((line) => `\`${line.replace(/\s*\{$/, '')}\``)
      .join(', ');
  }
  const lines = readableLines(answer).filter((line) => !STEP.test(line));
  const hasTotal = call.command !== null && hasEffect(call.command);
  const shown = hasTotal ? lines.slice(-MAX_TOTAL_LINES) : lines.slice(0, MAX_LINES);
  return listOf(shown) + (lines.length > shown.length ? ` (of ${lines.length} lines)` : '');
}

/** What a task runner says of its own steps. */
const STEP = /^(?:Finished in\b|[$>] )/;

/** The place of an edit in its file: what it declares or changes first. */
function editedIn({ edits }: ToolCall): string {
  const [edit] = edits;
  if (edit === undefined || edit.kind !== 'part') return '';
  const old = new Set(splitLines(edit.before).map((line) => line.trim()));
  const lines = splitLines(edit.after).map((line) => line.trim());
  const line =
    lines.find((each) => declaredName(each) !== null) ?? lines.find((each) => !old.has(each) && NAMES.test(each));
  return line === undefined || line.includes('`') ? '' : `\`${cutAtBlank(line, MAX_ABOUT_CHARS)}\``;
}

const NAMES = /\w{3}/;

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `“${cutAtBlank(line, MAX_LINE_CHARS)}”`).join(' ');
}

function countedList(names: readonly string[]): string {
  const distinct = [...new Set(names)];
  const more = distinct.length > MAX_PLACES ? ` and ${distinct.length - MAX_PLACES} more` : '';
  return distinct.slice(0, MAX_PLACES).join(', ') + more;
}

/** A row that begins with a path: of a list of files, or a line that a search found. */
const PLACE = /^((?:[\w@.-]*[/\\])*[\w@-][\w@.-]*\.\w{1,8})(?:[:-]\d+[:-](.*))?$/;

function placeIn(row: string): readonly { readonly path: string; readonly line: string }[] {
  const [, path, line = ''] = PLACE.exec(row.slice(0, MAX_ROW_CHARS)) ?? [];
  return path === undefined ? [] : [{ path, line: line.trim() }];
}
