/**
 * Creates a value when it is first asked for. V8 needs up to 2 ms to read a pattern with Unicode classes, which is a
 * tenth of a start, so patterns that most runs have no use for are created like this.
 */
export function lazily<T>(create: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
