export type TextFinder = {
  /** Whether bytes have the text: as it is, or escaped in JSON, also in JSON that is itself a string of JSON. */
  readonly isIn: (bytes: Uint8Array) => boolean;
  readonly isInText: (text: string) => boolean;
  /** Where the text is: offsets of its first byte and behind its last one. */
  readonly find: (bytes: Uint8Array) => readonly ByteRange[];
  /** The most bytes that the text can take when it is escaped. */
  readonly maxBytes: number;
};

export type ByteRange = { readonly start: number; readonly end: number };

/** Arguments of tools are JSON in a string, and their results may hold JSON again. */
const MAX_ESCAPES = 3;
/** `\uXXXX`, for each UTF-16 unit and in each string of JSON. */
const ESCAPED_BYTES = 6;

/** Bytes are compared as strings that have a character for each byte, so offsets are those of the bytes. */
export function createTextFinder(text: string): TextFinder {
  const wanted = toByteString(new TextEncoder().encode(text));
  const isIn = (bytes: Uint8Array): boolean => {
    let left = toByteString(bytes);
    for (let depth = 0; depth <= MAX_ESCAPES; depth += 1) {
      if (left.includes(wanted)) return true;
      if (!left.includes('\\')) return false;
      left = left.replaceAll(ESCAPES, unescapeOne);
    }
    return false;
  };
  const find = (bytes: Uint8Array): readonly ByteRange[] => {
    if (!isIn(bytes)) return [];
    const found: ByteRange[] = [];
    let left: Unescaped = { text: toByteString(bytes), offsetOf: (at) => at };
    for (let depth = 0; depth <= MAX_ESCAPES; depth += 1) {
      for (let at = left.text.indexOf(wanted); at >= 0; at = left.text.indexOf(wanted, at + 1))
        found.push({ start: left.offsetOf(at), end: left.offsetOf(at + wanted.length) });
      if (!left.text.includes('\\')) break;
      left = unescapeAll(left);
    }
    return found;
  };
  return {
    isIn,
    isInText: (whole) => isIn(new TextEncoder().encode(whole)),
    find,
    maxBytes: Math.max(wanted.length, text.length * ESCAPED_BYTES ** MAX_ESCAPES),
  };
}

const ESCAPES = /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u([\da-f]{4})|(["\\/bfnrt]))/gi;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeOne(_: string, ...[high, low, hex, named]: readonly (string | undefined)[]): string {
  const units = [high, low, hex].flatMap((digits) => (digits === undefined ? [] : Number.parseInt(digits, 16)));
  if (units.length > 0) return toByteString(new TextEncoder().encode(String.fromCharCode(...units)));
  return NAMED[named ?? ''] ?? named ?? '';
}

/** `offsetOf`: where a character of the text was in the bytes. */
type Unescaped = { readonly text: string; readonly offsetOf: (at: number) => number };

function unescapeAll({ text, offsetOf }: Unescaped): Unescaped {
  const offsets: number[] = [];
  const parts: string[] = [];
  let end = 0;
  const keepUntil = (next: number): void => {
    parts.push(text.slice(end, next));
    for (let at = end; at < next; at += 1) offsets.push(offsetOf(at));
  };
  for (const match of text.matchAll(ESCAPES)) {
    keepUntil(match.index);
    const one = unescapeOne(match[0], ...match.slice(1));
    parts.push(one);
    for (let at = 0; at < one.length; at += 1) offsets.push(offsetOf(match.index));
    end = match.index + match[0].length;
  }
  keepUntil(text.length);
  offsets.push(offsetOf(text.length));
  return { text: parts.join(''), offsetOf: (at) => offsets[at] ?? 0 };
}

function toByteString(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}
