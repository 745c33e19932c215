/** A value that JSON.parse gave. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A line as JSON, or where (column from 1, in characters) and why it is none. */
export type LineParse =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly column: number; readonly problem: string };
