import type { MessageShown } from '../../app/contract/archive-reports.ts';
import type { LookupFailure } from '../../app/contract/failure.ts';
import { ok, type Result } from '../../core/result.ts';
import type { UseCases } from '../../compose/use-cases.ts';
import { MAX_ANSWER_CHARS, takeChars } from './tool.ts';

/** Where a page begins: a line of the named item, and an offset in its text, in UTF-16 units. Both from 0. */
export type Cursor = { readonly line: number; readonly char: number };

export const FIRST: Cursor = { line: 0, char: 0 };

/** A message, or a piece of one that is too long for a page. */
export type PagedMessage = {
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
  const state: { line: number; room: number; skippedLines: number; next: Cursor | null } = {
    line: 0,
    room: MAX_ANSWER_CHARS,
    skippedLines: 0,
    next: null,
  };
  const shown = await useCases.showOriginals({ name }, async ({ report }) => {
    const line = state.line;
    state.line += 1;
    if (line < cursor.line) return true;
    const message = await report();
    if (!isShown(message)) return true;
    if (message.role === null) {
      state.skippedLines += 1;
      return true;
    }
    const from = line === cursor.line ? Math.min(cursor.char, message.text.length) : 0;
    const rest = message.text.slice(from);
    const room = state.room - MESSAGE_OVERHEAD_CHARS;
    if (messages.length > 0 && room < Math.min(rest.length, MIN_PIECE_CHARS)) {
      state.next = { line, char: from };
      return false;
    }
    const text = takeChars(rest, room);
    const to = from + text.length;
    const isWhole = from === 0 && text.length === message.text.length;
    messages.push({ message, text, piece: isWhole ? null : { from, to, of: message.text.length } });
    state.room -= text.length + MESSAGE_OVERHEAD_CHARS;
    if (text.length === rest.length) return true;
    state.next = { line, char: to };
    return false;
  });
  if (!shown.ok) return shown;
  return ok({ messages, skippedLines: state.skippedLines, next: state.next });
}
