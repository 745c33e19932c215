import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import type { FileStore, PendingFile } from '../../src/ports/files.ts';

/**
 * The real file store, without the search through all processes of the machine for one that writes to a file: it takes
 * longer than the rest of a small compaction. test/app/open-elsewhere.test.ts has it.
 */
export function createQuickStore(): FileStore {
  return { ...createFileStore(), findWriter: async () => null };
}

/** The same; `change` is told of each file that is begun, and may have its steps do something else. */
export function storeWith(change: (pending: PendingFile, path: string) => Partial<PendingFile>): FileStore {
  const real = createQuickStore();
  return {
    ...real,
    lock: async (path) => {
      const locked = await real.lock(path);
      if (!locked.ok) return locked;
      const { begin } = locked.value;
      return {
        ok: true,
        value: {
          ...locked.value,
          begin: async (like) => {
            const begun = await begin(like);
            return begun.ok ? { ok: true, value: { ...begun.value, ...change(begun.value, path) } } : begun;
          },
        },
      };
    },
  };
}
