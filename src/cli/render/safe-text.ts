// Control characters (C0, DEL, C1), line and paragraph separators, lone surrogates, and what reorders or hides text: a terminal
// obeys them, or a reader is deceived by them. The joiner U+200D stays, emoji are made with it.
const UNSAFE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Text of a transcript, a file's name or an argument, as it may be shown: `\x1b` for an escape, `\n` for a line's end. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escapeUnit);
}

/** The same for text that is JSON or TOML already: only escapes that those know. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
