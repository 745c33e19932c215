import type { MessageShown } from '../../app/contract/archive-reports.ts';
import type { LookupFailure } from '../../app/contract/failure.ts';
import { ok, type Result } from '../../core/result.ts';
import type { UseCases } from '../use-cases.ts';
import { MAX_ANSWER_CHARS, takeChars } from './tool.ts';

/** Where a page begins: a line among those behind a name, and a place in what it says, in UTF-16 units. Both from 0. */
export type Cursor = { readonly line: number; readonly char: number };

export const FIRST: Cursor = { line: 0, char: 0 };

/** A message, or a piece of one that is too long for a page. */
export type PagedMessage = {
  readonly message: MessageShown;
  readonly text: string;
  /** Of the text in the message's; null: it is the whole of it. */
  readonly piece: { readonly from: number; readonly to: number; readonly of: number } | null;
};

export type Page = {
  readonly messages: readonly PagedMessage[];
  /** Lines passed over, because nobody said anything in them: titles, snapshots. */
  readonly passedOver: number;
  /** Null: it is the last. */
  readonly next: Cursor | null;
};

const CURSOR = /^(\d{1,15}):(\d{1,15})$/;
/** What stands around the text of a message: ids, times. */
const MESSAGE_OVERHEAD_CHARS = 200;
/** A message is begun on a page only where this much of it fits, or all. */
const MIN_PIECE_CHARS = 2000;

export function formatCursor({ line, char }: Cursor): string {
  return `${line}:${char}`;
}

/** Null: it is none of ours. */
export function parseCursor(text: string): Cursor | null {
  const [, line, char] = CURSOR.exec(text) ?? [];
  return line === undefined || char === undefined ? null : { line: Number(line), char: Number(char) };
}

/** The messages behind a name from the cursor on, as many as fit. */
export async function readPage(
  useCases: Pick<UseCases, 'showOriginals'>,
  name: string,
  { cursor, isShown = () => true }: { readonly cursor: Cursor; readonly isShown?: (message: MessageShown) => boolean },
): Promise<Result<Page, LookupFailure>> {
  const messages: PagedMessage[] = [];
  const state: { line: number; room: number; passedOver: number; next: Cursor | null } = {
    line: 0,
    room: MAX_ANSWER_CHARS,
    passedOver: 0,
    next: null,
  };
  const shown = await useCases.showOriginals({ name }, ({ report }) => {
    const line = state.line;
    state.line += 1;
    if (line < cursor.line) return true;
    const message = report();
    if (!isShown(message)) return true;
    if (message.role === null) {
      state.passedOver += 1;
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
  return ok({ messages, passedOver: state.passedOver, next: state.next });
}
