import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Runs test files in this process, one after the other; each is a suite. */
export function runTogether(files: readonly string[]): void {
  for (const file of files) {
    suite(file, async () => {
      await import(pathToFileURL(file).href);
    });
  }
}
