import type { BatchShown, CompactionShown, ShowReport } from '../../app/contract/archive-reports.ts';
import type { BatchReport } from '../../app/contract/reports.ts';
import { countOf } from '../render/quantities.ts';
import { safeText } from '../render/safe-text.ts';
import { textLines } from '../render/text-lines.ts';
import { clipField, MAX_ANSWER_CHARS, takeChars } from './bounds.ts';
import { type Cursor, formatCursor, type Page, type PagedMessage } from './page.ts';
import type { ToolAnswer } from './tool.ts';

/** More summaries than these are found one by one. */
const MAX_BATCHES = 50;

/** The messages of a page, what they stand behind, and how to go on. */
export function answerPage(report: ShowReport, page: Page): ToolAnswer {
  const { messages, passedOver, next } = page;
  const hint = [
    ...(messages.length === 0 && next === null ? [noMessages(report)] : []),
    ...(passedOver === 0 ? [] : [`Passed over: ${countOf(passedOver, 'line')} in which nobody said anything.`]),
    next === null ? 'That is the end.' : `There is more: the same call with cursor "${formatCursor(next)}" goes on.`,
  ].join(' ');
  return {
    text: [describe(report), ...messages.map(renderMessage), hint].join('\n\n'),
    data: {
      ...aboutData(report),
      messages: messages.map(toMessageData),
      next_cursor: next === null ? null : formatCursor(next),
      hint,
    },
  };
}

/** The text of a summary, or the summaries of a compaction. */
export function answerSummary(report: BatchShown | CompactionShown, { char: from }: Cursor): ToolAnswer {
  if (report.kind === 'compaction') return answerBatches(report);
  const text = takeChars(report.text.slice(from), MAX_ANSWER_CHARS);
  const to = from + text.length;
  const next = to < report.text.length ? formatCursor({ line: 0, char: to }) : null;
  const hint = next === null ? 'That is the end.' : `There is more: the same call with cursor "${next}" goes on.`;
  return {
    text: [describe(report), textLines(text).join('\n'), hint].join('\n\n'),
    data: { ...aboutData(report), text, next_cursor: next, hint },
  };
}

function answerBatches(report: CompactionShown): ToolAnswer {
  const batches = report.batches.slice(0, MAX_BATCHES);
  const left = report.batches.length - batches.length;
  const more = left === 0 ? '' : ` ${countOf(left, 'more', 'more')}: memory_read finds them by their words.`;
  const hint = `memory_expand with the label of one of these gives its messages.${more}`;
  return {
    text: [describe(report), ...batches.map(renderBatch), hint].join('\n\n'),
    data: { ...aboutData(report), summaries: batches.map(toBatchData), next_cursor: null, hint },
  };
}

function noMessages(report: ShowReport): string {
  return report.kind === 'batch' && report.sources.length === 0
    ? 'No messages are behind it from there on: it may be a summary that was found in the transcript (what: "summary" gives its text).'
    : 'No messages are behind it from there on.';
}

function describe(report: ShowReport): string {
  const from = `from ${safeText(clipField(report.file))}`;
  if (report.kind === 'message') return `${report.show}, ${from}`;
  if (report.kind === 'compaction') {
    const { archived, total } = report.lines;
    return `What left a transcript when it was compacted: ${archived} of ${countOf(total, 'line')}, ${from}`;
  }
  const { label, show, count, start, end, conversation } = report;
  const times = start === null || end === null ? '' : `, ${start} to ${end}`;
  const place = `conversation ${safeText(clipField(conversation))}, ${from}`;
  return `${show}, a summary of ${countOf(count, 'message')}${times}; ${place}\nlabel ${safeText(clipField(label))}`;
}

function aboutData(report: ShowReport): Readonly<Record<string, unknown>> {
  const file = clipField(report.file);
  if (report.kind === 'message') return { kind: 'message', show: report.show, file };
  if (report.kind === 'compaction') return { kind: 'compaction', key: report.show, lines: report.lines, file };
  const { show, label, conversation, depth, count, start, end } = report;
  const names = { label: clipField(label), conversation: clipField(conversation) };
  return { kind: 'summary', show, ...names, depth, count, start, end, file };
}

function renderMessage({ message, text, piece }: PagedMessage): string {
  const { show, role, name, at, index, id } = message;
  const facts = [
    `${role ?? 'unknown'}${name === null ? '' : ` ${safeText(clipField(name))}`}`,
    ...(at === null ? [] : [at]),
    ...(index === null ? [] : [`message ${index}`]),
    ...(id === null ? [] : [`id ${safeText(clipField(id))}`]),
    ...(piece === null ? [] : [`characters ${piece.from + 1} to ${piece.to} of ${piece.of}`]),
  ];
  const said = text === '' ? ['(no text in it)'] : textLines(text);
  return [`[${show}: ${facts.join(', ')}]`, ...said].join('\n');
}

function toMessageData({ message, text, piece }: PagedMessage): Readonly<Record<string, unknown>> {
  const { show, id, role, name, at, index, line } = message;
  const names = { show, id: clipField(id), role, name: clipField(name) };
  return { ...names, at, index, line, text, ...(piece === null ? {} : { piece }) };
}

function renderBatch({ label, depth, start, end, count }: BatchReport): string {
  const times = start === null || end === null ? '' : `, ${start} to ${end}`;
  return `${safeText(clipField(label))}\n  depth ${depth}, ${countOf(count, 'message')}${times}`;
}

function toBatchData({ label, depth, start, end, count }: BatchReport): Readonly<Record<string, unknown>> {
  return { label: clipField(label), depth, messages: count, start, end };
}
