import { ok } from '../../core/result.ts';
import type { FileEdit } from '../../ports/clients.ts';

/** Stands in every file that belongs to this program as a whole. */
export const MANAGED_FILE_MARK = 'Written by compact install';

/** A file that is ours as a whole. A file of the same name without our mark is the user's. `content` has to contain the mark. */
export function createManagedFile({ path, content }: { readonly path: string; readonly content: string }): FileEdit {
  const isOurs = (text: string): boolean => text.includes(MANAGED_FILE_MARK);
  return {
    path,
    inspect: (text) => {
      if (text === null) return ok({ state: 'absent', taken: [] });
      if (!isOurs(text)) return ok({ state: 'absent', taken: [path] });
      return ok({ state: text === content ? 'installed' : 'changed', taken: [] });
    },
    add: (text) => ok(text === null || isOurs(text) ? content : text),
    remove: (text) => ({ text: isOurs(text) ? '' : text, isEmpty: isOurs(text) }),
  };
}
