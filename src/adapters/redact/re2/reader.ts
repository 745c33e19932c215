import { negated, PERL_CLASSES, unicodeSet } from './char-set.ts';
import type { CharSet } from './char-set.ts';
import type { SyntaxProblem } from './syntax.ts';

/** Goes through an expression's source. After the first problem there is nothing left to read. */
export type Reader = {
  readonly isAtEnd: () => boolean;
  readonly sees: (text: string) => boolean;
  /** Reads the text if it stands here. */
  readonly take: (text: string) => boolean;
  /** What a sticky pattern finds here, not read yet. */
  readonly match: (pattern: RegExp) => RegExpExecArray | null;
  readonly skip: (chars: number) => void;
  /** Reads up to the mark, or to the end, and over it. */
  readonly until: (mark: string) => string;
  /** Reads `\d`, `\pL`, …; null where something else stands. */
  readonly escapedClass: () => CharSet | null;
  /** Reads one character, written as it is or escaped. */
  readonly character: () => number;
  readonly fail: (problem: string) => void;
  readonly problem: () => SyntaxProblem | null;
};

const CLASS = /\\(?:([dDsSwW])|([pP])(?:\{(\^?)([^}]{1,40})\}|([A-Za-z])))/y;
const NUMBERED = /\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/y;
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['t', 9],
  ['n', 10],
  ['r', 13],
  ['v', 11],
]);
const MAX_CODE_POINT = 0x10ffff;

export function createReader(source: string): Reader {
  let at = 0;
  let found: SyntaxProblem | null = null;
  const fail = (problem: string): void => {
    found ??= { problem, at };
    at = source.length;
  };
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const take = (text: string): boolean => {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const numbered = (): number | null => {
    const written = match(NUMBERED);
    if (written === null) return null;
    at += written[0].length;
    const hex = written[1] ?? written[2];
    const point = hex === undefined ? Number.parseInt(written[3] ?? '0', 8) : Number.parseInt(hex, 16);
    if (point > MAX_CODE_POINT) fail('names a character that there is not');
    return Math.min(point, MAX_CODE_POINT);
  };
  const escaped = (): number => {
    const point = numbered();
    if (point !== null) return point;
    const letter = source.charAt(at + 1);
    const control = CONTROLS.get(letter);
    if (control === undefined && (letter === '' || /[A-Za-z0-9]/.test(letter))) {
      fail(`uses \`\\${letter}\`, which Go has not`);
      return 0;
    }
    const literal = source.codePointAt(at + 1) ?? 0;
    at += 1 + String.fromCodePoint(literal).length;
    return control ?? literal;
  };
  return {
    isAtEnd: () => at >= source.length,
    sees: (text) => source.startsWith(text, at),
    take,
    match,
    skip: (chars) => {
      at += chars;
    },
    until: (mark) => {
      const end = source.indexOf(mark, at);
      const text = source.slice(at, end < 0 ? source.length : end);
      at += text.length + (end < 0 ? 0 : mark.length);
      return text;
    },
    escapedClass: () => {
      const written = match(CLASS);
      if (written === null) return null;
      const [whole, perl = '', property, not = '', long, short] = written;
      at += whole.length;
      const isPerl = perl !== '';
      const set = isPerl ? PERL_CLASSES.get(perl.toLowerCase()) : unicodeSet(long ?? short ?? '');
      if (set === undefined || set === null) {
        fail(`names the class \`${whole}\`, which is unknown`);
        return null;
      }
      const isNegated = isPerl ? perl !== perl.toLowerCase() : (property === 'P') !== (not === '^');
      return isNegated ? negated(set) : set;
    },
    character: () => {
      if (source.startsWith('\\', at)) return escaped();
      const point = source.codePointAt(at) ?? 0;
      at += String.fromCodePoint(point).length;
      return point;
    },
    fail,
    problem: () => found,
  };
}
