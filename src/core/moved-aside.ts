const MOVED_ASIDE = /^\.compact-[0-9a-f]{12}-moved-[^=]*=(.*)\.old$/;

/** The names that a killed run left without a file, in a listing of their folder: the file still stands under a hidden name. */
export function findMovedAside(names: readonly string[]): readonly string[] {
  const hidden = names.flatMap((name) => MOVED_ASIDE.exec(name)?.[1] ?? []);
  if (hidden.length === 0) return hidden;
  const standing = new Set(names);
  return hidden.filter((name) => !standing.has(name));
}
