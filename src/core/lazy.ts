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

/** Creates a value for each key when it is first asked for, and keeps both. */
export function lazilyFor<Key, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, () => Value>();
  return (key) => {
    const known = made.get(key) ?? lazily(() => create(key));
    made.set(key, known);
    return known();
  };
}
