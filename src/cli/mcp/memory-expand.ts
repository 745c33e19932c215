import { z } from 'zod';
import type { BatchShown, CompactionShown, MessageShown, ShowReport } from '../../app/contract/archive-reports.ts';
import type { LookupFailure } from '../../app/contract/failure.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { renderFailure } from '../../messages/failure.ts';
import { countOf } from '../../messages/quantities.ts';
import { safeText, textLines } from '../../messages/text.ts';
import type { UseCases } from '../../compose/use-cases.ts';
import { isSince, type McpScope, NOT_SHOWN, shows } from './scope.ts';
import {
  clipField,
  defineTool,
  MAX_ANSWER_CHARS,
  READS_ONLY,
  takeChars,
  type Tool,
  type ToolAnswer,
  type ToolOutcome,
} from './tool.ts';

const DESCRIPTION = `Gives the exact words behind something that memory_read found, or that a summary in your context names: the original messages, as they were said, with their times and ids.

Give either label (of a summary, or its beginning) or id ("message:7" for one message, "batch:2" for a summary, or a message's own id). The key of a context summary's last line, [Archive: KEY holds the lines that left …], is a label too: it gives everything that left that transcript.

Long answers come in pages: call again with the cursor from the answer.`;

const input = z.strictObject({
  label: z.string().min(1).optional().describe("a summary's label or its beginning, or the key in [Archive: KEY …]"),
  id: z.string().min(1).optional().describe('"message:N", "batch:N", or the message\'s own id'),
  what: z
    .enum(['messages', 'summary'])
    .default('messages')
    .describe('the original messages, or the text of the summary itself'),
  cursor: z.string().optional().describe('where to continue: the cursor from the previous answer'),
});

type Args = z.output<typeof input>;

/** Does what `compact show NAME --messages` does, and with `what: "summary"` what `compact show NAME` does, in pages. */
export function createMemoryExpand(openUseCases: (signal: AbortSignal) => Promise<UseCases>, scope: McpScope): Tool {
  return defineTool({
    name: 'memory_expand',
    title: 'Read past messages',
    description: DESCRIPTION,
    input,
    hints: { ...READS_ONLY, openWorldHint: false },
    isOffered: true,
    call: async ({ label, id, what, cursor: text }, signal) => {
      const name = label ?? id;
      if (name === undefined || (label !== undefined && id !== undefined))
        return err('Give either a label or an id; memory_read returns them.');
      const cursor = text === undefined ? FIRST : parseCursor(text);
      const wrong = `'${safeText(clipField(text ?? ''))}' is not a cursor`;
      if (cursor === null) return err(`${wrong}: give the one from the previous answer, or none to begin.`);
      const useCases = await openUseCases(signal);
      try {
        return await expand(useCases, { name, what, cursor }, scope);
      } finally {
        await useCases.close();
      }
    },
  });
}

type Target = { readonly name: string; readonly what: Args['what']; readonly cursor: Cursor };

async function expand(useCases: UseCases, { name, what, cursor }: Target, scope: McpScope): ToolOutcome {
  const shown = await useCases.showArchived({ name });
  if (!shown.ok) {
    const { kind } = shown.error;
    // Similar names may belong to something that is not shown.
    const isHidden = (kind === 'not-archived' || kind === 'ambiguous') && (scope.source ?? scope.since) !== null;
    return err(isHidden ? NOT_SHOWN : renderFailure(shown.error));
  }
  if (!shows(scope, shown.value)) return err(NOT_SHOWN);
  const report =
    shown.value.kind === 'compaction'
      ? { ...shown.value, batches: shown.value.batches.filter(({ start }) => isSince(scope, start)) }
      : shown.value;
  if (what === 'summary') {
    return report.kind === 'message'
      ? err('That is a message, not a summary: leave out `what` to read it.')
      : ok(answerSummary(report, cursor));
  }
  // The report has its own key, which is found faster and cannot mean anything else later.
  const page = await readPage(useCases, report.kind === 'compaction' ? name : report.show, {
    cursor,
    isShown: (message) => shows(scope, message),
  });
  return page.ok ? ok(answerPage(report, page.value)) : err(renderFailure(page.error));
}

/** Further summaries must be searched for. */
const MAX_BATCHES = 50;

/** The messages of a page, what they belong to, and how to continue. */
function answerPage(report: ShowReport, page: Page): ToolAnswer {
  const { messages, skippedLines } = page;
  const next = page.next && formatCursor(page.next);
  const isSummaryOfTranscript = report.kind === 'batch' && report.sources.length === 0;
  const none = isSummaryOfTranscript
    ? 'It has no further messages: it may be a summary that was already in the transcript (what: "summary" gives its text).'
    : 'It has no further messages.';
  const hint = [
    ...(messages.length === 0 && next === null ? [none] : []),
    ...(skippedLines === 0 ? [] : [`${countOf(skippedLines, 'line')} without a message skipped.`]),
    howToGoOn(next),
  ].join(' ');
  return {
    text: [describe(report), ...messages.map(renderMessage), hint].join('\n\n'),
    data: { ...aboutData(report), messages: messages.map(toMessageData), next_cursor: next, hint },
  };
}

function howToGoOn(cursor: string | null): string {
  return cursor === null ? 'That is the end.' : `There is more: repeat the call with cursor "${cursor}".`;
}

/** The text of a summary, or the summaries of a compaction. */
export function answerSummary(report: BatchShown | CompactionShown, { char: from }: Cursor): ToolAnswer {
  if (report.kind === 'compaction') return answerBatches(report);
  const text = takeChars(report.text.slice(from), MAX_ANSWER_CHARS);
  const to = from + text.length;
  const next = to < report.text.length ? formatCursor({ line: 0, char: to }) : null;
  const hint = howToGoOn(next);
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
  const lines = batches.map(({ label, depth, start, end, count }) => {
    const times = start === null || end === null ? '' : `, ${start} to ${end}`;
    return `${safeText(clipField(label))}\n  depth ${depth}, ${countOf(count, 'message')}${times}`;
  });
  const summaries = batches.map(({ label, depth, start, end, count: messages }) => ({
    label: clipField(label),
    depth,
    messages,
    start,
    end,
  }));
  return {
    text: [describe(report), ...lines, hint].join('\n\n'),
    data: { ...aboutData(report), summaries, next_cursor: null, hint },
  };
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

/** Where a page begins: a line of the named item, and an offset in its text, in UTF-16 units. Both from 0. */
export type Cursor = { readonly line: number; readonly char: number };

export const FIRST: Cursor = { line: 0, char: 0 };

/** A message, or a piece of one that is too long for a page. */
type PagedMessage = {
  readonly message: MessageShown;
  readonly text: string;
  /** Which part of the message's text this is; null: all of it. */
  readonly piece: { readonly from: number; readonly to: number; readonly of: number } | null;
};

export type Page = {
  readonly messages: readonly PagedMessage[];
  /** Lines left out because they hold no message: titles, snapshots. */
  readonly skippedLines: number;
  /** Null: this is the last page. */
  readonly next: Cursor | null;
};

const CURSOR = /^(\d{1,15}):(\d{1,15})$/;
/** Room for what surrounds a message's text: ids, times. */
const MESSAGE_OVERHEAD_CHARS = 200;
/** A page starts a message only if this much of it fits, or all of it. */
const MIN_PIECE_CHARS = 2000;

export function formatCursor({ line, char }: Cursor): string {
  return `${line}:${char}`;
}

/** Null: not a cursor. */
export function parseCursor(text: string): Cursor | null {
  const [, line, char] = CURSOR.exec(text) ?? [];
  return line === undefined || char === undefined ? null : { line: Number(line), char: Number(char) };
}

/** As many messages of the named item as fit, from the cursor on. */
export async function readPage(
  useCases: Pick<UseCases, 'showOriginals'>,
  name: string,
  { cursor, isShown = () => true }: { readonly cursor: Cursor; readonly isShown?: (message: MessageShown) => boolean },
): Promise<Result<Page, LookupFailure>> {
  const messages: PagedMessage[] = [];
  let at = -1;
  let room = MAX_ANSWER_CHARS;
  let skippedLines = 0;
  let next: Cursor | null = null;
  const shown = await useCases.showOriginals({ name }, async ({ report }) => {
    at += 1;
    if (at < cursor.line) return true;
    const message = await report();
    if (!isShown(message)) return true;
    if (message.role === null) {
      skippedLines += 1;
      return true;
    }
    const from = at === cursor.line ? Math.min(cursor.char, message.text.length) : 0;
    const rest = message.text.slice(from);
    room -= MESSAGE_OVERHEAD_CHARS;
    const isFull = messages.length > 0 && room < Math.min(rest.length, MIN_PIECE_CHARS);
    const text = isFull ? '' : takeChars(rest, room);
    const to = from + text.length;
    const isWhole = text.length === message.text.length;
    if (!isFull) messages.push({ message, text, piece: isWhole ? null : { from, to, of: message.text.length } });
    room -= text.length;
    if (!isFull && text.length === rest.length) return true;
    next = { line: at, char: to };
    return false;
  });
  return shown.ok ? ok({ messages, skippedLines, next }) : shown;
}
