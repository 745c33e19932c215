import { assertNever } from '../../../core/result.ts';
import { PERL_CLASSES } from './char-set.ts';
import type { Assertion } from './syntax.ts';

/** The character before the text, and after it. */
export const OUTSIDE = -1;

const LINE_END = 10;

/** Whether an assertion holds between two characters. */
export function holds(what: Assertion, before: number, after: number): boolean {
  switch (what) {
    case 'text-start':
      return before === OUTSIDE;
    case 'text-end':
      return after === OUTSIDE;
    case 'line-start':
      return before === OUTSIDE || before === LINE_END;
    case 'line-end':
      return after === OUTSIDE || after === LINE_END;
    case 'word-edge':
      return isWord(before) !== isWord(after);
    case 'no-word-edge':
      return isWord(before) === isWord(after);
    default:
      return assertNever(what);
  }
}

export function isWord(point: number): boolean {
  return point !== OUTSIDE && PERL_CLASSES.get('w')?.has(point) === true;
}

/** The character that begins at `at`; half of a surrogate pair alone is one too. */
export function pointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? OUTSIDE;
}

/** The character that ends before `at`. */
export function pointBefore(text: string, at: number): number {
  if (at <= 0) return OUTSIDE;
  const point = text.codePointAt(at - 1) ?? OUTSIDE;
  const isLow = point >= 0xdc00 && point < 0xe000;
  const pair = isLow && at > 1 ? (text.codePointAt(at - 2) ?? 0) : 0;
  return pair > 0xffff ? pair : point;
}
