import { commandLine, type CompletedCall, errorLines, hasEffect } from './calls.ts';
import { cutAtBlank, excerptOf } from './excerpt.ts';
import { charsOf, type HandoverLine, quoted } from './line.ts';
import type { Conversation } from './turns.ts';

const MAX_TASKS = 30;
const MAX_TASK_CHARS = 160;
const MAX_STATUS_CHARS = 30;
const MAX_ERROR_LINES = 6;
/** The last few reads show what was in progress. More of them say little. */
const MAX_READS = 4;
const MAX_TEXT_CHARS = 280;
const TASKS_SHARE = 0.4;
const FAILURE_SHARE = 0.3;

/** The section on the state of the work: tasks, an unresolved failure, the last steps, an open question. */
export function writeStateLines(
  { conversation, calls }: { readonly conversation: Conversation; readonly calls: readonly CompletedCall[] },
  maxChars: number,
): readonly HandoverLine[] {
  const tasks = within(taskLines(calls), maxChars * TASKS_SHARE);
  const failure = within(failureLines(calls), maxChars * FAILURE_SHARE);
  const used = [...tasks, ...failure].reduce((sum, line) => sum + charsOf(line), 0);
  return [...tasks, ...failure, ...stepLines({ conversation, calls }, maxChars - used)];
}

function within(lines: readonly HandoverLine[], maxChars: number): readonly HandoverLine[] {
  let left = maxChars;
  const fit = lines.findIndex((line) => (left -= charsOf(line)) < 0);
  // A heading line with nothing below it says nothing.
  return fit < 0 ? lines : fit < 2 ? [] : lines.slice(0, fit);
}

function taskLines(calls: readonly CompletedCall[]): readonly HandoverLine[] {
  const last = calls.findLast(({ call }) => call.tasks !== null && call.tasks.length > 0);
  if (last === undefined) return [];
  const tasks = last.call.tasks ?? [];
  const isDone = ({ status }: { readonly status: string }): boolean => /^(?:completed|done|finished)$/i.test(status);
  const open = tasks.filter((task) => !isDone(task));
  const shown = open.length > 0 ? tasks : [];
  return [
    {
      text: `Tasks, as last written (${tasks.length - open.length} of ${tasks.length} done)${shown.length > 0 ? ':' : ''}`,
      messageIds: last.messageIds,
    },
    ...shown.slice(-MAX_TASKS).map(({ text, status }) => ({
      text: quoted(
        `- ${status === '' ? '' : `(${cutAtBlank(status.replace(/_/g, ' '), MAX_STATUS_CHARS)}) `}${cutAtBlank(text.trim(), MAX_TASK_CHARS)}`,
      ),
      messageIds: last.messageIds,
    })),
  ];
}

function failureLines(calls: readonly CompletedCall[]): readonly HandoverLine[] {
  const commands = calls.filter(({ call }) => call.command !== null);
  const last = commands.findLast(({ hasFailed }) => hasFailed);
  if (last === undefined) return [];
  const key = keyOf(last);
  const after = commands.slice(commands.indexOf(last) + 1);
  const isOld = calls.length - calls.indexOf(last) > 40;
  if (isOld || after.some((done) => keyOf(done) === key)) return [];
  return [
    { text: `Last failing command: ${quoted(commandLine(last))}`, messageIds: last.messageIds },
    ...errorLines(last.answer ?? '', MAX_ERROR_LINES).map((line) => ({
      text: `   > ${line}`,
      messageIds: last.messageIds,
    })),
  ];
}

function keyOf({ call }: CompletedCall): string {
  return (call.command ?? '').split(/\s+/).slice(0, 2).join(' ');
}

function stepLines(
  { conversation, calls }: { readonly conversation: Conversation; readonly calls: readonly CompletedCall[] },
  maxChars: number,
): readonly HandoverLine[] {
  const turn = conversation.turns.at(-1);
  if (turn === undefined) return [];
  const head: HandoverLine = { text: 'Last steps:', messageIds: [] };
  const doneOf = new Map(calls.map((done) => [done.callId, done]));
  let left = maxChars - charsOf(head);
  const lines: HandoverLine[] = [];
  const seen = new Set<string>();
  const writtenLater = new Set<string>();
  let reads = 0;
  for (const step of turn.steps.toReversed()) {
    const done = step.kind === 'call' ? doneOf.get(step.callId) : undefined;
    const text =
      step.kind === 'said' && step !== turn.ending
        ? excerptOf(step.text, { maxChars: MAX_TEXT_CHARS, skipsCode: true })
        : done === undefined
          ? null
          : stepLine(done);
    if (text === null || text === '' || seen.has(text)) continue;
    // A later attempt succeeded.
    if (done?.hasFailed === true && done.call.written.some((path) => writtenLater.has(path))) continue;
    if (done?.hasFailed === false) for (const path of done.call.written) writtenLater.add(path);
    if (done !== undefined && !isNotable(done)) {
      reads += 1;
      if (reads > MAX_READS) continue;
    }
    seen.add(text);
    const line = { text: `- ${quoted(text)}`, messageIds: done?.messageIds ?? [step.messageId] };
    if (charsOf(line) > left) break;
    left -= charsOf(line);
    lines.unshift(line);
  }
  const question = waitingQuestion(conversation);
  const asked = question !== null && charsOf(question) <= left ? [question] : [];
  return lines.length === 0 ? asked : [head, ...lines, ...asked];
}

/** Whether a call changed something or failed. */
function isNotable({ call, hasFailed }: CompletedCall): boolean {
  return hasFailed || call.written.length > 0 || (call.command !== null && hasEffect(call.command));
}

function stepLine(done: CompletedCall): string | null {
  if (done.call.command !== null) return commandLine(done);
  if (done.call.written.length > 0)
    return `${done.hasFailed ? 'failed to write' : 'wrote'} ${done.call.written.join(', ')}`;
  if (done.call.target === null) return null;
  return `${done.name} ${cutAtBlank(done.call.target, 120)}`;
}

const QUESTION = /[?？؟]["'”’)\]*_]*$/;

function waitingQuestion({ turns }: Conversation): HandoverLine | null {
  const ending = turns.at(-1)?.ending;
  const last = ending?.text.trimEnd().split(/\n+/).at(-1)?.trim() ?? '';
  if (ending === undefined || ending === null || !QUESTION.test(last)) return null;
  return { text: `Waits for an answer: ${cutAtBlank(last, 400)}`, messageIds: [ending.messageId] };
}

/** The files that calls wrote or edited, the latest last, with the number of edits. Their common folder is named once. */
export function writeFileLines(calls: readonly CompletedCall[], maxChars: number): readonly HandoverLine[] {
  const files = new Map<string, string[]>();
  for (const { call, messageIds } of calls) {
    for (const path of call.written) {
      const writers = files.get(path) ?? [];
      writers.push(...messageIds.slice(0, 1));
      // Deleting first moves the path to the end.
      files.delete(path);
      files.set(path, writers);
    }
  }
  const folder = sharedFolder([...files.keys()]);
  const head: readonly HandoverLine[] = folder === '' ? [] : [{ text: `In ${quoted(folder)}:`, messageIds: [] }];
  const lines = [...files].map(([path, messageIds]) => ({
    text: `- ${quoted(path.slice(folder.length))}${messageIds.length > 1 ? ` (${messageIds.length} times)` : ''}`,
    messageIds,
  }));
  return newestThatFit(head, lines, maxChars);
}

function sharedFolder(paths: readonly string[]): string {
  const [first] = paths;
  if (first === undefined || paths.length < 2) return '';
  let end = first.lastIndexOf('/') + 1;
  for (const path of paths) {
    // lastIndexOf treats a negative position as 0, so the root needs its own case.
    while (end > 0 && !path.startsWith(first.slice(0, end))) end = end < 2 ? 0 : first.lastIndexOf('/', end - 2) + 1;
  }
  return end > 1 ? first.slice(0, end) : '';
}

/** Commands that changed or checked something, each once with its latest result, in order. */
export function writeCommandLines(calls: readonly CompletedCall[], maxChars: number): readonly HandoverLine[] {
  const latest = new Map<string, HandoverLine>();
  for (const done of calls) {
    const { command } = done.call;
    if (command === null || !hasEffect(command)) continue;
    const key = command.split('\n')[0]?.slice(0, 60) ?? '';
    latest.delete(key);
    latest.set(key, { text: `- ${quoted(commandLine(done))}`, messageIds: done.messageIds });
  }
  return newestThatFit([], [...latest.values()], maxChars);
}

function newestThatFit(
  head: readonly HandoverLine[],
  lines: readonly HandoverLine[],
  maxChars: number,
): readonly HandoverLine[] {
  let left = maxChars - head.reduce((sum, line) => sum + charsOf(line), 0);
  let first = lines.length;
  while (first > 0) {
    const line = lines[first - 1];
    if (line === undefined || charsOf(line) > left) break;
    left -= charsOf(line);
    first -= 1;
  }
  return first === lines.length ? [] : [...head, ...lines.slice(first)];
}
