// Tools answer with megabytes; what a person reads of them stands at the head and the tail.
const MAX_READ_CHARS = 24_000;
const HEAD_SHARE = 2 / 3;
const MAX_JSON_CHARS = 1_000_000;
const TEXT_KEYS = ['stdout', 'stderr', 'output', 'text', 'content', 'result', 'message', 'error', 'aggregated_output'];

const TERMINAL_COLOR = /\p{Cc}\[[\d;?]*[A-Za-z]/gu;

/** A tool's answer as a person would read it: the text inside of JSON, real line ends for escaped ones, no terminal colors. */
export function readableText(answer: string, maxChars = MAX_READ_CHARS): string {
  const text = innerText(answer);
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
const MIN_LETTER_SHARE = 0.45;
const MIN_LINE_CHARS = 6;
/** A word of a hundred letters and digits is encoded, not written. */
const ENCODED = /[A-Za-z0-9+/=_-]{100}/;

/** The line without its number, where a person can read it as it stands; null: a piece of JSON, a frame, encoded bytes. */
export function readableLine(line: string): string | null {
  const text = line.replace(LINE_NUMBER, '').trim();
  if (text.length < MIN_LINE_CHARS || ENCODED.test(text)) return null;
  if (/\\[nt"]/.test(text) || /^[\])},"':;\\[{]/.test(text) || /(?:":|[{[]"|,")$/.test(text)) return null;
  return letterShare(text) < MIN_LETTER_SHARE ? null : text;
}

function letterShare(text: string): number {
  return (text.match(/\p{L}/gu) ?? []).length / text.length;
}

const EXIT_CODE =
  /\b(?:exit(?:ed)?(?: with)?(?: code| status)?|Exit code|exit_code|returned (?:code|status))["':= ]{1,4}(-?\d{1,5})\b/i;

/** The exit code that an answer tells; null: it tells none. */
export function exitCodeOf(answer: string): number | null {
  const match = EXIT_CODE.exec(answer.slice(0, 500)) ?? EXIT_CODE.exec(answer.slice(-500));
  return match === null ? null : Number(match[1]);
}
