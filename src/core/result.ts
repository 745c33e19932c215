/** An expected outcome as a value: either the result, or why there is none. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** Closes a switch over a union, so that an unhandled variant is a type error. */
export function assertNever(value: never): never {
  throw new Error(`unhandled variant: ${JSON.stringify(value)}`);
}

/** What a table, which has an entry for each variant of a union, says of one. */
export function byKind<Union extends { readonly kind: string }, T>(
  one: Union,
  table: { readonly [Kind in Union['kind']]: (one: Extract<Union, { readonly kind: Kind }>) => T },
): T {
  return (table[one.kind as Union['kind']] as (one: Union) => T)(one);
}

/** The code of a system error ("ENOENT"); null: any other error. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

type Remedy = { readonly reason: string; readonly advice: string };

/** Errors of the system that have nothing to do with the disk or with what the file is. Files and archives say the same of them. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  EMFILE: {
    reason: 'this program has too many files open',
    advice: 'Raise the limit (ulimit -n), or work on fewer files at a time with -j.',
  },
  ENFILE: { reason: 'the system has too many files open', advice: 'Close other programs, or try again later.' },
  EBUSY: { reason: 'another program has it open', advice: 'Close that program, and try again.' },
  ENAMETOOLONG: { reason: 'its name or its path is too long', advice: 'Name a shorter one.' },
};

/** What to say and to try for a system's code ("EMFILE"); null: nothing that is not already in the code. */
export function findRemedy(code: string): Remedy | null {
  return Object.hasOwn(REMEDIES, code) ? (REMEDIES[code] ?? null) : null;
}

/** "erased by policy on 2026-11-22, receipt 0a1b2c3d4e5f": for messages. */
export function describeErasure({ receipt, at }: { receipt: string; at: Date }): string {
  return `erased by policy on ${at.toISOString().slice(0, 'yyyy-mm-dd'.length)}, receipt ${receipt}`;
}

/** The value of a JSON text; undefined: it is not JSON, or was cut off. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
