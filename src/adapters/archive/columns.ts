import type { SummaryLevel } from '../../core/batch.ts';
import type { Role } from '../../core/message.ts';
import type { MessageTraits } from '../../core/search/traits.ts';
import type { LineFate } from '../../ports/archive.ts';

/** How values stand in columns; rows.ts reads them back. */

/** Codes by position: they are stored, so names are only ever added at the end. */
export const FATES = ['summarized', 'other', 'survived'] as const satisfies readonly LineFate[];
export const LEVELS = ['plain', 'feedback', 'halved', 'fallback'] as const satisfies readonly SummaryLevel[];
export const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

/** Exact: text with lone surrogates has no UTF-8 and is stored as its UTF-16LE units. Equal text is an equal value. */
export function textColumn(text: string): string | Uint8Array {
  return text.isWellFormed() ? text : Buffer.from(text, 'utf16le');
}

/** 32 bytes of a sha256 in hex. */
export function hashColumn(hex: string): Uint8Array {
  if (!/^[\da-f]{64}$/.test(hex)) throw new TypeError(`not a sha256 in hex: ${JSON.stringify(hex)}`);
  return Buffer.from(hex, 'hex');
}

/** Unix milliseconds; null for no time, and for one that is no time. */
export function timeColumn(time: Date | null): number | null {
  const ms = time === null ? Number.NaN : time.getTime();
  return Number.isNaN(ms) ? null : ms;
}

const [IS_QUESTION, NAMES_TIME] = [1, 2];

export function traitsColumn({ isQuestion, namesTime }: MessageTraits): number {
  return (isQuestion ? IS_QUESTION : 0) + (namesTime ? NAMES_TIME : 0);
}

export function toTraits(column: number): MessageTraits {
  return { isQuestion: (column & IS_QUESTION) !== 0, namesTime: (column & NAMES_TIME) !== 0 };
}
