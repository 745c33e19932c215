// Control characters (C0, DEL, C1), line and paragraph separators, what reorders or hides text, and lone surrogates: a terminal
// obeys them, or a reader is deceived by them.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text of a transcript, a file's name or an argument, as it may be shown: `\x1b` for an escape, `\n` for a line's end. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escapeUnit);
}

function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
