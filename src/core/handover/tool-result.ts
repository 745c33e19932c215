import { CHARACTER, classOf, isBlankCode } from '../extract/character.ts';
import { parseJson } from '../result.ts';

// Tool output can be megabytes long. Its beginning and end are what a person would read.
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
const TERMINAL_MARKS = ['\x1b', '\x9b'];

/**
 * A tool's answer as a person would read it: the text inside JSON, with real line ends, and without terminal colors and reminders to the
 * model.
 */
export function readableText(answer: string, maxChars = MAX_READ_CHARS): string {
  const text = withoutReminders(innerText(answer));
  const short = text.length <= maxChars ? text : headAndTail(text, maxChars);
  const said = withoutEscapes(short);
  return TERMINAL_MARKS.some((mark) => said.includes(mark)) ? said.replaceAll(TERMINAL_COLOR, '') : said;
}

function headAndTail(text: string, maxChars: number): string {
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE));
  const tail = text.slice(text.length - Math.floor(maxChars * (1 - HEAD_SHARE)));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n');
  return `${headEnd < 0 ? withoutLastWord(head) : head.slice(0, headEnd)}\n${tailStart < 0 ? tail.replace(/^\S*/, '') : tail.slice(tailStart + 1)}`;
}

const WHITE_SPACE = /\s/;

/** Removes a word at the end, which may be cut off. */
function withoutLastWord(text: string): string {
  let end = text.length;
  while (end > 0 && !WHITE_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function innerText(answer: string): string {
  if (answer.length > MAX_JSON_CHARS || !/^\s*[[{"]/.test(answer)) return answer;
  const texts = textsOf(parseJson(answer), 0);
  return texts.length === 0 ? answer : texts.join('\n');
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
  if (!text.includes('\\') || !/\\[nt"]/.test(text)) return text;
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

/** The number before a line, as tools that show files print it. */
export const LINE_NUMBER = /^\s*\d{1,7}(?:→|\t|\|(?=\s|$)|[:-](?=\t| {2}|$)|\. (?=.*[[\]{}(),;]$))/;
/** Rulers before and after words, as test runners draw them around totals. */
const RULER = /^\s*[=─━_*~-]{3,}(?=\s)|(?<=\s)[=─━_*~-]{3,}\s*$/gu;
const RULER_MARKS = /[=─━_*~-]{3}/;
const MIN_LETTER_SHARE = 0.45;
const MIN_LINE_CHARS = 6;
const MAX_WORD_CHARS = 100;
/** A JSON member or fragment, or the frame of a code block or diff. */
const NOT_A_LINE = /^["'][^"']{1,80}["']: |^(?:```|~~~|@@ |diff --git |index [0-9a-f]{6,}\.\.)|(?:":|[{[]"|,")$/;

/** The line without its number; null if a person could not read it: JSON fragments, frames, encoded bytes. */
export function readableLine(line: string): string | null {
  const numberless = line.replace(LINE_NUMBER, '');
  const text = (RULER_MARKS.test(numberless) ? numberless.replace(RULER, '') : numberless).trim();
  if (text.length < MIN_LINE_CHARS || BRACKETS.includes(text.charAt(0))) return null;
  if (text.includes('\\') && /\\[nt"]/.test(text)) return null;
  return NOT_A_LINE.test(text) || !isWritten(text) ? null : text;
}

const BRACKETS = '])},:;';
const LETTER = CHARACTER.lower | CHARACTER.upper;

/** Whether text has enough letters and no word so long that it must be encoded data. */
function isWritten(text: string): boolean {
  const wanted = text.length * MIN_LETTER_SHARE;
  let letters = 0;
  for (let i = 0; i < text.length && letters < wanted; i += 1) {
    const code = text.charCodeAt(i);
    const isSurrogate = code >= 0xd800 && code < 0xe000;
    if (isSurrogate || (classOf(code) & LETTER) !== 0) letters += 1;
  }
  return letters >= wanted && !hasLongWord(text);
}

/** Looks only around places of which a long word must cover one. */
function hasLongWord(text: string): boolean {
  for (let at = MAX_WORD_CHARS; at < text.length; at += MAX_WORD_CHARS + 1) {
    let start = at;
    while (start > 0 && !endsWord(text.charCodeAt(start - 1))) start -= 1;
    let end = at;
    while (end < text.length && end - start <= MAX_WORD_CHARS && !endsWord(text.charCodeAt(end))) end += 1;
    if (end - start > MAX_WORD_CHARS) return true;
  }
  return false;
}

/** Whether a character is blank or of a script without spaces. */
function endsWord(code: number): boolean {
  return isBlankCode(code) || code > 0x2e80;
}

const EXIT_CODE = /(?:^|\n)[^\n]{0,40}\bexit(?:ed)?(?: with)?(?: exit)?[ _](?:code|status)"?:?[ \t]*(-?\d{1,5})\b/i;
/** A line about the call itself, not about its outcome. */
const STATUS_LINE = /^<.*>$|\bexit(?:ed)?\b.{0,30}\b(?:code|status)\b/i;

export function isStatusLine(line: string): boolean {
  return STATUS_LINE.test(line) || isClientLine(line);
}

const EXIT_CODE_REACH = 600;

/** The exit code in the output of a command, or null. */
export function exitCodeOf(answer: string): number | null {
  const match = EXIT_CODE.exec(answer.slice(0, EXIT_CODE_REACH)) ?? EXIT_CODE.exec(answer.slice(-EXIT_CODE_REACH));
  return match === null ? null : Number(match[1]);
}

const OPENING = '<system-reminder>';
const CLOSING = '</system-reminder>';
const UNCLOSED = /<system-reminder>[^\n]*(?:\n[^\n]+)*/g;

/** Removes the reminders that a client adds to results for the model. A reminder without an end runs up to the next empty line. */
function withoutReminders(text: string): string {
  if (!text.includes(OPENING)) return text;
  const pieces = text.split(CLOSING);
  const tail = pieces.pop() ?? '';
  const before = pieces.map((piece) => {
    const start = piece.indexOf(OPENING);
    return start < 0 ? piece : piece.slice(0, start);
  });
  return [...before, tail.replace(UNCLOSED, '')].join('\n');
}

/** One pattern for several with the same flags: much faster than one after the other. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), patterns[0]?.flags);
}

const CLIENT_LINE = anyOf([
  // Claude Code
  /^Todos have been modified successfully\b|^Shell cwd was reset to \S/,
  /^The file .{1,400} has been (?:updated|created)(?: successfully)?\./,
  /^\[Omitted .{0,40}line\]$|^\[Showing results\b|^(?:<persisted-output>)?Output too large\b|^\d+:\[Omitted\b/,
  /^(?:<usage>)?(?:total_tokens|subagent_tokens|tool_uses|duration_ms): \d+/,
  // Codex
  /^(?:Warning: truncated output|Total output lines)\b/,
  /^(?:Chunk ID|Wall time|Original token count|Exit code): /,
  /^(?:Output|Process exited with code -?\d+|Success\. Updated the following files):?$/,
  // Copilot, Kimi and others
  /^<\/?(?:shellId|command with shellId|system|usage|tool_use_error)\b.*>$/,
  /^shellId: \d+/,
]);
/** What Claude Code tells the model about agents. */
const AGENT_NOTE =
  /^agent_?id: |\binternal ID\b|\bdo(?: not|n['’]t) mention (?:this |it )?to (?:the )?user\b|\bSendMessage with to:|\bTaskOutput\b|^Async agent launched\b|^The agent is (?:currently )?working\b/i;

/** Whether the client wrote a line about the call, such as its id or duration. It says nothing about the work. */
function isClientLine(line: string): boolean {
  return CLIENT_LINE.test(line) || AGENT_NOTE.test(line);
}

export function withoutClientLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isClientLine(line))
    .join('\n');
}

const NOISE = anyOf([
  // Rows of `ls -l`, and its first line
  /^[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d/,
  /^total \d+[KMG]?$/,
  // Single tests that passed; totals stay
  /^(?:--- )?PASS: |^ok\s+\S+\s+(?:\(cached\)|\d[\d.]*m?s\b)|^\?\s+\S+\s+\[no test files\]$|^test \S+ \.\.\. ok$/,
  // Imports in any common language
  /^import\s(?:.*\bfrom\s+["']|["']|[\w.]+(?:\s+as\s+\w+)?;?$|static\s|type\s|\{)/,
  /^(?:from\s+[\w.]+\s+import\b|#include\s*[<"]|using\s+[\w.]+;$|(?:pub\s+)?use\s+[\w:]+(?:::\{.*)?;?$|package\s+[\w.]+;?$)/,
  /^export\s+(?:\*|\{[^}]*\})\s+from\s+["']/,
  /^(?:const|let|var)\s+[^=]{1,200}=\s*require\(/,
  /^\}\s*from\s+["']/,
  /^(?:[\w.]+\s+)?["'][@\w.-]+(?:\/[\w.@-]+)+["'],?$/,
  // Scripts that a package manager runs, and what it says when one fails
  /^> \S|^(?:npm|pnpm|yarn) (?:error|ERR!)/,
  // Headers of patches and diffs, whose files are listed elsewhere
  /^\*\*\* (?:Begin|End|Add|Update|Delete|Move)\b|^(?:new|deleted|old) (?:file )?mode \d|^(?:[-+]{3} )?(?:\/dev\/null|[ab]\/\S+)$/,
  // Progress
  /^(?:Downloading|Downloaded|Fetching|Compiling|Unpacking|Preparing to unpack|Selecting previously|Setting up|Get:\d+|Hit:\d+|remote: (?:Counting|Compressing|Enumerating))\b/,
]);
/** A single test that passed, or a progress bar. */
const PASSED = /\bPASSED\b\s*(?:\[\s*\d{1,3}%\])?$/;
const BAR = anyOf([
  /^(?:[✓✔√]|ok \d+\b)\s.{1,200}\(\d[\d.]*\s?m?s\)$/u,
  /^\[?\s*\d{1,3}%[\]|\s]|\b\d{1,3}%\s*\||[█▏▎▍▌▋▊▉━]{4,}/u,
]);

/** Whether a line is a listing, progress output or an import, which nobody misses in a hand-over. */
export function isNoise(line: string): boolean {
  return NOISE.test(line) || BAR.test(line) || (line.includes('PASSED') && PASSED.test(line));
}
