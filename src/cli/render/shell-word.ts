import { safeText } from './safe-text.ts';

const PLAIN = /^[A-Za-z0-9_./:@%+,=~-]+$/;

/** A file's name as it can be pasted into a shell. A leading dash gets `./`; control characters stand as bash's `$'…'`. */
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
  // Bytes, because a file's name is bytes to a shell: \u would depend on its locale.
  return Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
