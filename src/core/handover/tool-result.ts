import { CHARACTER, classOf, isBlankCode } from '../extract/character.ts';
import { isHarnessLine, withoutReminders } from './harness.ts';

// Tools answer with megabytes; what a person reads of them stands at the head and the tail.
const MAX_READ_CHARS = 24_000;
const HEAD_SHARE = 2 / 3;
const MAX_JSON_CHARS = 1_000_000;
const TEXT_KEYS = [
  'stdout',
  'stderr',
  'output',
  'text',
  'content',
  'result',
  'message',
  'error',
  'aggregated_output',
  'title',
  'body',
  'description',
  'summary',
  'path',
  'html_url',
];

/** Control sequences of ECMA-48: ESC [ or its one-character form, parameters, a final letter. */
// oxlint-disable-next-line no-control-regex
const TERMINAL_COLOR = /(?:\x1b\[|\x9b)[\d;?]*[A-Za-z]/g;

/** A tool's answer as a person would read it: the text inside of JSON, real line ends for escaped ones, no terminal colors, no reminders to the model. */
export function readableText(answer: string, maxChars = MAX_READ_CHARS): string {
  const text = withoutReminders(innerText(answer));
  const short = text.length <= maxChars ? text : headAndTail(text, maxChars);
  return withoutEscapes(short).replaceAll(TERMINAL_COLOR, '');
}

function headAndTail(text: string, maxChars: number): string {
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE));
  const tail = text.slice(text.length - Math.floor(maxChars * (1 - HEAD_SHARE)));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n');
  return `${headEnd < 0 ? head.replace(/\S*$/, '') : head.slice(0, headEnd)}\n${tailStart < 0 ? tail.replace(/^\S*/, '') : tail.slice(tailStart + 1)}`;
}

function innerText(answer: string): string {
  if (answer.length > MAX_JSON_CHARS || !/^\s*[[{"]/.test(answer)) return answer;
  try {
    const texts = textsOf(JSON.parse(answer), 0);
    return texts.length === 0 ? answer : texts.join('\n');
  } catch {
    // It only looks like JSON.
    return answer;
  }
}

function textsOf(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (depth > 3 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => (typeof item === 'object' ? textsOf(item, depth + 1) : []));
  const record: Readonly<Record<string, unknown>> = { ...value };
  return TEXT_KEYS.flatMap((key) => textsOf(record[key], depth + 1));
}

function withoutEscapes(text: string): string {
  if (!/\\[nt"]/.test(text)) return text;
  return text
    .split('\n')
    .map((line) =>
      /\\n|\\"/.test(line)
        ? line
            .replace(/\\r?\\n|\\n/g, '\n')
            .replace(/\\t/g, '\t')
            .replace(/\\"/g, '"')
        : line,
    )
    .join('\n');
}

const LINE_NUMBER = /^\s*\d{1,7}(?:→|\t|\|(?=\s|$)|[:-](?=\t| {2}|$))/;
/** What draws a line before or behind words, as test runners do around their totals. */
const RULER = /^\s*[=─━_*~-]{3,}(?=\s)|(?<=\s)[=─━_*~-]{3,}\s*$/gu;
const MIN_LETTER_SHARE = 0.45;
const MIN_LINE_CHARS = 6;
const MAX_WORD_CHARS = 100;
/** A member of JSON, a piece of it, the frame of a block of code or of a change. */
const NOT_A_LINE = /^["'][^"']{1,80}["']: |^(?:```|~~~|@@ |diff --git |index [0-9a-f]{6,}\.\.)|(?:":|[{[]"|,")$/;

/** The line without its number, where a person can read it as it stands; null: a piece of JSON, a frame, encoded bytes. */
export function readableLine(line: string): string | null {
  const text = line.replace(LINE_NUMBER, '').replace(RULER, '').trim();
  if (text.length < MIN_LINE_CHARS || BRACKETS.includes(text.charAt(0))) return null;
  if (text.includes('\\') && /\\[nt"]/.test(text)) return null;
  return NOT_A_LINE.test(text) || !isWritten(text) ? null : text;
}

const BRACKETS = '])},:;';
const LETTER = CHARACTER.lower | CHARACTER.upper;

/** Letters enough, and no word so long that it is encoded and not written. */
function isWritten(text: string): boolean {
  let letters = 0;
  let wordChars = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    const isSurrogate = code >= 0xd800 && code < 0xe000;
    if (isSurrogate || (classOf(code) & LETTER) !== 0) letters += 1;
    wordChars = isBlankCode(code) || code > 0x2e80 ? 0 : wordChars + 1;
    if (wordChars > MAX_WORD_CHARS) return false;
  }
  return letters >= text.length * MIN_LETTER_SHARE;
}

const EXIT_CODE = /(?:^|\n)[^\n]{0,40}\bexit(?:ed)?(?: with)?(?: exit)?[ _](?:code|status)"?:?[ \t]*(-?\d{1,5})\b/i;
/** A line in which a tool speaks of the call and not of what came of it. */
const STATUS_LINE = /^<.*>$|\bexit(?:ed)?\b.{0,30}\b(?:code|status)\b/i;

export function isStatusLine(line: string): boolean {
  return STATUS_LINE.test(line) || isHarnessLine(line);
}

const EXIT_CODE_REACH = 600;

/** The exit code that the answer to a command tells; null: it tells none. */
export function exitCodeOf(answer: string): number | null {
  const match = EXIT_CODE.exec(answer.slice(0, EXIT_CODE_REACH)) ?? EXIT_CODE.exec(answer.slice(-EXIT_CODE_REACH));
  return match === null ? null : Number(match[1]);
}
