const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
export const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The first byte from `at` on that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next += 1;
  return next;
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Behind the string that begins at `at`; -1: it does not end. */
export function skipString(bytes: Uint8Array, at: number): number {
  for (let quote = bytes.indexOf(QUOTE, at + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return -1;
}

/** Behind the value that begins at `at`, as far as brackets and quotes tell; -1: it does not end. */
export function skipValue(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let next = at; next < bytes.length;) {
    const byte = bytes[next];
    if (byte === QUOTE) {
      next = skipString(bytes, next);
      if (next < 0) return -1;
      if (depth === 0) return next;
      continue;
    }
    const closes = byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (depth === 0 && (closes || byte === COMMA || isSpace(byte))) return next > at ? next : -1;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    next += 1;
    if (!closes) continue;
    depth -= 1;
    if (depth === 0) return next;
  }
  return depth === 0 && bytes.length > at ? bytes.length : -1;
}
