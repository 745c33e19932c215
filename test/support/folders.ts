import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** For the environment of the program: without its compiled code in a folder, each process compiles it again. */
export const CODE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };

/** A temp folder with these files (a name that ends in a slash is a folder); removed when the test is over. */
export function folderWith(context: TestContext, files: { readonly [path: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'compact-test-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    const full = join(folder, path);
    mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(full, text);
  }
  return folder;
}
