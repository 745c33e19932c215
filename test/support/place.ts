import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderWith } from './folders.ts';
import { type Ended, runHere } from './program.ts';

export type Place = {
  readonly folder: string;
  readonly archive: string;
  readonly path: (name: string) => string;
  readonly text: (name: string) => string;
  /** Runs a command with the archive of the place. */
  readonly compact: (...args: readonly string[]) => Promise<Ended>;
};

/** A folder with these files, and an archive of its own. */
export function placeWith(t: TestContext, files: Readonly<Record<string, string>>): Place {
  const folder = folderWith(t, files);
  const path = (name: string): string => join(folder, name);
  const archive = path('.archive.db');
  return {
    folder,
    archive,
    path,
    text: (name) => readFileSync(path(name), 'utf8'),
    compact: (...args) => runHere([...args, '--archive', archive]),
  };
}
