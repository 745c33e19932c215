import { createRequire } from 'node:module';
import { StringDecoder } from 'node:string_decoder';
import type stringWidth from 'string-width';
import { lazily } from '../core/lazy.ts';
import { formatCount } from '../core/tokens.ts';

// Control characters (C0, DEL, C1), line and paragraph separators, lone surrogates, and characters that reorder or hide text, also tags:
// a terminal obeys them, or they deceive readers. The joiner U+200D stays, because emoji need it.
const UNSAFE_CLASS = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e00ff}]`;
const UNSAFE = lazily(() => new RegExp(UNSAFE_CLASS, 'gu'));
/** Safe, like most text. */
const ASCII = /^[ -~]*$/;
const ASCII_LINES = /^[\n -~]*$/;
/** A style that `theme.ts` writes, or something unsafe. */
const STYLE_OR_UNSAFE = lazily(() => new RegExp(String.raw`\u001b\[(?:1|2|22|3\d|9[0-7])m|${UNSAFE_CLASS}`, 'gu'));

/** A transcript's text, a file name or an argument, safe to show: `\x1b` for an escape, `\n` for a line ending. */
export function safeText(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE(), escapeUnit);
}

/** The same for text that is already JSON or TOML, with only their own escapes. */
export function safeJson(json: string): string {
  if (ASCII.test(json)) return json;
  return json.replace(UNSAFE(), (unit) =>
    Array.from({ length: unit.length }, (_, at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** One report as one line; safe to print on a terminal, and the same value for a parser. */
export function reportJson(report: object): string {
  return `${safeJson(JSON.stringify(report))}\n`;
}

/** Rendered lines, whose parts should already be safe: styles and line endings stay, all else that a terminal would obey is escaped. */
export function safeLines(lines: string): string {
  if (ASCII_LINES.test(lines)) return lines;
  return lines.replace(STYLE_OR_UNSAFE(), (found) =>
    found.length > 1 && found.startsWith('\u001b') ? found : keepLineEnd(found),
  );
}

/** Makes raw output safe for a terminal, piece by piece: no escape sequence of a transcript reaches it. Tabs and line endings stay. */
export function createTerminalFilter(): (piece: string | Uint8Array) => string {
  const decoder = new StringDecoder('utf8');
  return (piece) => {
    const text = typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece));
    return text.replace(/\r(?=\n)/g, '').replace(UNSAFE(), (unit) => (unit === '\t' ? unit : keepLineEnd(unit)));
  };
}

function keepLineEnd(unit: string): string {
  return unit === '\n' ? unit : escapeUnit(unit);
}

function escapeUnit(unit: string): string {
  const code = unit.codePointAt(0) ?? 0;
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const PLAIN = /^[A-Za-z0-9_./:@%+,=~-]+$/;

/** A file name that can be pasted into a shell. A leading dash gets `./`; control characters use bash's `$'…'`. */
export function shellWord(name: string): string {
  const word = name.startsWith('-') ? `./${name}` : name;
  if (PLAIN.test(word) && !word.startsWith('~')) return word;
  if (safeText(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = Array.from(word, (character) => escapeForShell(character)).join('');
  return `$'${escaped}'`;
}

function escapeForShell(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return character;
  // Bytes, because a file name is bytes to a shell: \u would depend on its locale.
  return Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

/** A command line that can be typed again; `./` keeps a leading dash from being a flag. */
export function quoteForShell(argv: readonly string[]): string {
  return argv.map((word) => (word.startsWith('-') ? shellWord(word).replace('./-', '-') : shellWord(word))).join(' ');
}

/** A text whose quoted commands ('compact undo') are called as the user calls this program. */
export function callAs(text: string, program: () => string): string {
  return text.replaceAll(/(?<=['`])compact(?= [a-z-])/g, program);
}

/** The words of these flags with their values, and all other words. */
export function partFlags(argv: readonly string[], known: readonly { readonly flags: string }[]) {
  const flags: string[] = [];
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name = ''] = word.split('=');
    const flag = known.find((one) => one.flags.split(/,? /).includes(name));
    (flag === undefined ? rest : flags).push(word);
    if (flag?.flags.includes('<') === true && name === word && index + 1 < argv.length) {
      index += 1;
      flags.push(argv[index] ?? '');
    }
  }
  return { flags, rest };
}

/** Where a result went; `-` is standard output. */
export function nameOutput(output: string): string {
  return output === '-' ? 'standard output' : safeText(output);
}

/** Its own line ends stay, and a tab is some room; all else that a terminal would obey is shown as an escape. */
export function textLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => safeText(line.replaceAll('\t', '    ')));
}

// Characters that surely take one column or two, whatever stands beside them: most letters, and the signs that programs draw with.
const SIMPLE = /^[\x20-\x7e█·…→]*$/;
const COMMON =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0384-\u0482\u048a-\u052f\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u259f\u2713\u2717\u2705\u274c\u3041-\u3096\u30a1-\u30fc\u3400-\u9fff\uac00-\ud7a3\u{1f600}-\u{1f64f}]*$/u;
const WIDE = /[\u2705\u274c\u3041-\u9fff\uac00-\ud7a3]/gu;

/** The number of columns on a terminal. An emoji has two UTF-16 units and takes two columns. */
export function textWidth(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  return COMMON.test(text) ? text.length + (text.match(WIDE)?.length ?? 0) : unicode().measure(text);
}

/** Loaded when a text first needs it: loading the Unicode tables takes as long as the rest of the start. */
const unicode = lazily(() => {
  const require = createRequire(import.meta.url);
  const { default: measure }: { readonly default: typeof stringWidth } = require('string-width');
  return { measure, graphemes: new Intl.Segmenter(undefined, { granularity: 'grapheme' }) };
});

/** At most `columns` wide; an ellipsis replaces the cut end. */
export function clipText(text: string, columns: number): string {
  return clip(text, columns, 'end');
}

/** The same, but cut at the start: the end of a path identifies it. */
export function clipStart(text: string, columns: number): string {
  return clip(text, columns, 'start');
}

function clip(text: string, columns: number, cut: 'start' | 'end'): string {
  if (textWidth(text) <= columns) return text;
  if (columns <= 0) return '';
  const isEnd = cut === 'end';
  let kept = '';
  if (SIMPLE.test(text)) kept = isEnd ? text.slice(0, columns - 1) : text.slice(text.length - columns + 1);
  else {
    const segments = COMMON.test(text)
      ? Array.from(text)
      : Array.from(unicode().graphemes.segment(text), ({ segment }) => segment);
    let width = 0;
    for (const segment of isEnd ? segments : segments.toReversed()) {
      width += textWidth(segment);
      if (width > columns - 1) break;
      kept = isEnd ? kept + segment : segment + kept;
    }
  }
  return isEnd ? `${kept}…` : `…${kept}`;
}

/** The same, but cut in the middle: the beginning of a path identifies its owner, the end the file. */
export function clipMiddle(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  const headColumns = Math.floor(columns / 3);
  if (headColumns < 2) return clipStart(text, columns);
  const head = clipText(text, headColumns);
  return head + clipStart(text, columns - textWidth(head) + 1).slice(1);
}

/** Exactly `columns` wide. */
export function fitText(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const clipped = clipText(text, columns);
  const padding = ' '.repeat(Math.max(0, columns - textWidth(clipped)));
  return align === 'left' ? clipped + padding : padding + clipped;
}

/** A part of a line; `text` may be painted. */
export type Piece = { readonly text: string; readonly width: number };

function toPiece(text: string): Piece {
  return { text, width: textWidth(text) };
}

/** Lines of at most `columns`, filled with pieces in their order; a wider piece gets its own line. */
export function fillLines(pieces: readonly Piece[], columns: number): readonly string[] {
  const lines: string[] = [];
  let line: Piece = { text: '', width: 0 };
  for (const piece of pieces) {
    const width = line.width + 1 + piece.width;
    if (line.text !== '' && width > columns) lines.push(line.text);
    line = line.text === '' || width > columns ? piece : { text: `${line.text} ${piece.text}`, width };
  }
  return [...lines, line.text];
}

/** Lines broken at spaces. */
export function wrapText(text: string, columns: number): readonly string[] {
  return fillLines(text.split(' ').map(toPiece), columns);
}

/** Lines break only between facts: a number stays with its unit. A column stays free at the end, where other lines have a comma. */
export function wrapFacts(facts: readonly string[], columns: number): readonly string[] {
  return fillLines(toFactPieces(facts, 1), columns);
}

function toFactPieces(facts: readonly string[], freeColumns: number): readonly Piece[] {
  return facts.map((fact, at) =>
    at < facts.length - 1 ? toPiece(`${fact},`) : { text: fact, width: textWidth(fact) + freeColumns },
  );
}

export function indent(lines: readonly string[], columns = 2): readonly string[] {
  return lines.map((line) => ' '.repeat(columns) + line);
}

const LABEL_COLUMNS = 9;
/** How far the texts of a report are indented. */
export const INDENT_COLUMNS = LABEL_COLUMNS + 3;

/** A line of a report: what it is about, and a text. */
export function reportRow(label: string, text: string, labelColumns = LABEL_COLUMNS): string {
  return `  ${label.padEnd(labelColumns)} ${text}`;
}

/** The width of a report where possible: half of most screens. */
const REPORT_COLUMNS = 60;

/** A comma-separated list that continues on the next line when one is full. */
export function reportList(label: string, facts: readonly string[], widthColumns = REPORT_COLUMNS): readonly string[] {
  const lines = fillLines(toFactPieces(facts, 0), widthColumns - INDENT_COLUMNS);
  return lines.map((line, at) => reportRow(at === 0 ? label : '', line));
}

const MAX_ITEM_COLUMNS = 28;
const MIN_ITEM_COLUMNS = 8;
const MAX_ITEMS = 3;

/** 'a, b and 8 more': as many of `count` as fit, and at least the beginning of the first. */
export function listSome(
  items: readonly string[],
  { count, columns }: { readonly count: number; readonly columns: number },
): string {
  const texts = items.slice(0, MAX_ITEMS).map((text) => clipText(safeText(text), MAX_ITEM_COLUMNS));
  for (let shown = texts.length; ; shown -= 1) {
    const rest = count - shown;
    const more = rest > 0 ? ` and ${formatCount(rest)} more` : '';
    const text = texts.slice(0, shown).join(', ');
    const room = columns - textWidth(more);
    if (textWidth(text) <= room) return text + more;
    if (shown <= 1) return clipText(text, Math.max(room, MIN_ITEM_COLUMNS)) + more;
  }
}

/** The title of a session as a line of its own; none, if it has none. */
export function titleLines(title: string | null, widthColumns: number, indentation: string): readonly string[] {
  return title === null ? [] : [indentation + clipText(safeText(title), widthColumns - indentation.length)];
}

/** An ISO time to the minute, in UTC as it is stored: '2026-03-02 09:14'. */
export function formatMinute(iso: string): string {
  const minute = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})/.exec(iso);
  return minute === null ? safeText(iso) : `${minute[1]} ${minute[2]}`;
}
