import { type Edit, readCall, type ToolCall } from '../handover/tool-call.ts';
import { readableText } from '../handover/tool-result.ts';
import { callsOf, type ConversationMessage, type PlainCall, resultIdsOf } from '../message.ts';

export type CallFinder = (callId: string) => PlainCall | null;

type ShowOptions = {
  readonly callOf: CallFinder;
  /** For an excerpt: calls in one line, and of edits only what changes. */
  readonly isBrief?: boolean;
};

/** What a message says, for people: edits as diffs, and results below their calls. */
export function showMessage(message: ConversationMessage, { callOf, isBrief = false }: ShowOptions): string {
  const { parts, content, role, tool_call_id: callId } = message;
  const showResult = (id: string, text: string): string => {
    const call = callOf(id);
    const answer = isBrief ? readableText(text, Number.POSITIVE_INFINITY) : text;
    return call === null ? answer : `${clip(nameCall(call))}\n→ ${answer}`;
  };
  if (parts === undefined) {
    return role === 'tool' && callId !== undefined ? showResult(callId, content) : content;
  }
  const texts = parts.map((part) => {
    if (part.kind === 'call') return showCall(part, isBrief);
    return part.kind === 'result' ? showResult(part.callId, part.text) : part.text;
  });
  return texts.filter((text) => text !== '').join('\n');
}

type Written = Pick<PlainCall, 'name' | 'arguments'>;

function showCall(call: Written, isBrief: boolean): string {
  const { edits, tasks } = readCall(call);
  if (edits.length > 0) return edits.map((edit) => showEdit(call.name, edit, isBrief)).join('\n');
  if (!isBrief) return [call.name, call.arguments].filter((text) => text !== '').join(' ');
  if (tasks !== null) return [call.name, ...tasks.map(({ status, text }) => `[${status}] ${text}`)].join('\n');
  return nameCall(call);
}

function nameCall(call: Written): string {
  const { command, written, target, about } = readCall(call);
  if (command !== null) return `$ ${command}`;
  const [path] = written;
  if (path !== undefined) return `${call.name} ${path}`;
  const what = target === null ? [] : [...new Set([target, ...about])];
  return `${call.name} ${what.length === 0 ? call.arguments : what.join(' ')}`.trim();
}

/** The line that a part of a message's text needs to be understood: the call that it answers, or the file that it edits. Empty: none. */
export function leadOf(message: ConversationMessage, callOf: CallFinder): string {
  const answered = resultIdsOf(message).flatMap((id) => callOf(id) ?? []);
  const editing = callsOf(message).filter((call) => readCall(call).edits.length > 0);
  const [call, ...more] = [...answered, ...editing];
  return call === undefined || more.length > 0 ? '' : clip(nameCall(call));
}

const MAX_CALL_CHARS = 160;

function clip(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.length <= MAX_CALL_CHARS && line === text ? text : `${line.slice(0, MAX_CALL_CHARS).toWellFormed()} …`;
}

/** The lines that an edit takes out and puts in, and unless it is brief those at its beginning and end that stay. */
function showEdit(name: string, { path, before, after }: Edit, isBrief: boolean): string {
  const [old, next] = [linesOf(before), linesOf(after)];
  let first = 0;
  while (first < old.length && first < next.length && old[first] === next[first]) first += 1;
  let kept = 0;
  while (kept < old.length - first && kept < next.length - first && old.at(-1 - kept) === next.at(-1 - kept)) kept += 1;
  const stays = (lines: readonly string[]): readonly string[] => (isBrief ? [] : lines.map((line) => `  ${line}`));
  return [
    `${name} ${path}`,
    ...stays(old.slice(0, first)),
    ...old.slice(first, old.length - kept).map((line) => `- ${line}`),
    ...next.slice(first, next.length - kept).map((line) => `+ ${line}`),
    ...stays(old.slice(old.length - kept)),
  ].join('\n');
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** Answers of tools that only say that a call went well. */
const ACKNOWLEDGED =
  /^(?:the file \S+ has been (?:updated|created|written|modified)(?: successfully)?|(?:wrote|updated|created|deleted) \S+|(?:file|files|todos?|todo list|plan|edit|changes?)\b[^.\n]{0,60}\b(?:success\w*|updated|saved|applied|modified|written)\b|success(?:fully)?\b|ok(?:ay)?|done|null|\(?no (?:content|output)\)?|tool ran without output\b|\{"?success"?: ?true\}?)[^\n]{0,160}\.?$/i;
const MAX_ACKNOWLEDGED_CHARS = 300;

/** Whether a message only acknowledges a call, so that nobody looks for it. */
export function isAcknowledgement({ role, content }: ConversationMessage): boolean {
  const text = content.trim();
  return role === 'tool' && text.length <= MAX_ACKNOWLEDGED_CHARS && (text === '' || ACKNOWLEDGED.test(text));
}

/** What a message is about, if a later one about the same shows a newer state of it: a file that it reads or writes, or the list of tasks. */
export function subjectOf(message: ConversationMessage, callOf: CallFinder): string | null {
  const { parts = [] } = message;
  if (parts.some((part) => part.kind === 'text' && part.text.trim() !== '')) return null;
  const results = parts.flatMap((part) => (part.kind === 'result' ? (callOf(part.callId) ?? []) : []));
  const subjects = [...callsOf(message), ...results].map((call) => subjectOfCall(readCall(call)));
  const [subject = null] = subjects;
  return subjects.every((one) => one === subject) ? subject : null;
}

export const TASKS = 'tasks';

function subjectOfCall({ tasks, task, written, target, command }: ToolCall): string | null {
  if (tasks !== null || task !== null) return TASKS;
  const path = written[0] ?? (command === null ? target : null);
  return path === undefined || path === null || !path.includes('.') ? null : `file ${path}`;
}
