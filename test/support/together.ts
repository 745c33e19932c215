import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs test files in this process, one after the other; each is a suite. A file is loaded when the one before it is: its tests and hooks would
 * get into another file's suite otherwise, and be lost where that one has ended.
 */
export async function runTogether(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
    suite(file, async () => {
      await import(pathToFileURL(file).href).then(() => resolve(), reject);
    });
    await loaded;
  }
}
