/** A record of a transcript or of a request, as far as its shape is known. */
export type Fields = { readonly [key: string]: unknown };

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The members of a list that are objects. */
export function listOf(value: unknown): readonly Fields[] {
  const members: readonly unknown[] = Array.isArray(value) ? value : [];
  return members.flatMap((member) => (isFields(member) ? [member] : []));
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object that a text holds; undefined: it is no JSON, or no object. */
export function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The records of a transcript; what a producer skips is skipped. */
export function readRecords(file: Buffer): readonly Fields[] {
  return file
    .toString()
    .split('\n')
    .map(parseFields)
    .filter((record) => record !== undefined);
}
