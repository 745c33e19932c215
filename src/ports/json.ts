/** A value as JSON.parse returns it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The value of a line, or where it stops being JSON (`column` from 1, in characters) and why. */
export type LineParse =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly column: number; readonly problem: string };
