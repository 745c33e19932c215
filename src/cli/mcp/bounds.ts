/** Characters of an answer. Clients cut longer ones where they please (Claude Code at 25,000 tokens), and take room for them from the work. */
export const MAX_ANSWER_CHARS = 20_000;

/** A conversation's id, a name or a path may be of any length; what is longer tells nobody more. */
const MAX_FIELD_CHARS = 300;

export function clipField<T extends string | null>(field: T): T | string {
  return field === null || field.length <= MAX_FIELD_CHARS ? field : `${takeChars(field, MAX_FIELD_CHARS)}…`;
}

/** The first UTF-16 units of a text, no pair of them parted. */
export function takeChars(text: string, count: number): string {
  if (text.length <= count) return text;
  return text.slice(0, isPairAt(text, count - 1) && count > 1 ? count - 1 : count);
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
