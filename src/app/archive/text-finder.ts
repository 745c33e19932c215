export type TextFinder = {
  /** Whether bytes have the text: as it is, or escaped in JSON, also in JSON that is itself a string of JSON. */
  readonly isIn: (bytes: Uint8Array) => boolean;
  readonly isInText: (text: string) => boolean;
};

/** Arguments of tools are JSON in a string, and their results may hold JSON again. */
const MAX_ESCAPES = 3;

export function createTextFinder(text: string): TextFinder {
  const decoder = new TextDecoder();
  const isInText = (whole: string): boolean => {
    let left = whole;
    for (let depth = 0; depth <= MAX_ESCAPES; depth += 1) {
      if (left.includes(text)) return true;
      if (!left.includes('\\')) return false;
      left = left.replaceAll(ESCAPES, unescapeOne);
    }
    return false;
  };
  return { isInText, isIn: (bytes) => isInText(decoder.decode(bytes)) };
}

const ESCAPES = /\\(?:u([\da-f]{4})|(["\\/bfnrt]))/gi;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeOne(_: string, hex: string | undefined, named: string | undefined): string {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return NAMED[named ?? ''] ?? named ?? '';
}
