import { StringDecoder } from 'node:string_decoder';

// Control characters (C0, DEL, C1), line and paragraph separators, lone surrogates, and what reorders or hides text, tag characters too: a
// terminal obeys them, or a reader is deceived by them. The joiner U+200D stays, emoji are made with it.
const UNSAFE_CLASS = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e00ff}]`;
const UNSAFE = new RegExp(UNSAFE_CLASS, 'gu');
/** The styles that `theme.ts` writes, or something unsafe. */
const STYLE_OR_UNSAFE = new RegExp(String.raw`\u001b\[(?:1|2|22|3\d|9[0-7])m|${UNSAFE_CLASS}`, 'gu');

/** Text of a transcript, a file's name or an argument, as it may be shown: `\x1b` for an escape, `\n` for a line's end. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escapeUnit);
}

/** The same for text that is JSON or TOML already: only escapes that those know. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (unit) =>
    Array.from({ length: unit.length }, (_, at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** Rendered lines, whose parts should be safe by now: styles and line ends stay, whatever else a terminal would obey is shown. */
export function safeLines(lines: string): string {
  return lines.replace(STYLE_OR_UNSAFE, (found) =>
    found.length > 1 && found.startsWith('\u001b') ? found : keepLineEnd(found),
  );
}

/** Raw output, piece by piece, as a terminal may show it: no escape sequence of a transcript reaches it. Tabs and line ends stay. */
export function createTerminalFilter(): (piece: string | Uint8Array) => string {
  const decoder = new StringDecoder('utf8');
  return (piece) => {
    const text = typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece));
    return text.replace(/\r(?=\n)/g, '').replace(UNSAFE, (unit) => (unit === '\t' ? unit : keepLineEnd(unit)));
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
