import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs test files in this process, one after the other; each is a suite. A file is loaded when the one before it is: its tests and hooks would
 * get into another file's suite otherwise, and be lost where that one has ended.
 */
export async function runTogether(files: readonly string[]): Promise<void> {
  // Some files move to another folder.
  const urls = files.map((file) => pathToFileURL(file).href);
  for (const [at, file] of files.entries()) {
    const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
    suite(file, async () => {
      await import(urls[at] ?? '').then(() => resolve(), reject);
    });
    await loaded;
  }
}
