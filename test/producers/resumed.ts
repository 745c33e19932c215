import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFields, textOf } from './json.ts';

/** Works in a folder of its own, which is removed then. A program may name something after its resolved path. */
export async function withFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The version of a package that is installed in a folder; '': it is not. */
export function versionIn(root: string): string {
  return textOf(parseFields(readFileSync(join(root, 'package.json'), 'utf8'))?.['version']) ?? '';
}

/** What the program that wrote a transcript did with the compacted one, as its own files and the request to its model show. */
export type Resumed = {
  /** It took the file up: its model was asked, its answer came out, and both were appended to this very file. */
  readonly resumed: boolean;
  /** The summary, whole, is in what it sent. */
  readonly summaryFound: boolean;
  /** Messages (or items) that it sent. */
  readonly messages: number;
  /** Calls without a result and results without a call in what it sent. */
  readonly orphans: number;
  /** The file no longer begins with the bytes that it had before. */
  readonly rewritten: boolean;
  /** Of the program. */
  readonly version: string;
  /** What it said where it did not resume, and what was not as it should be around it. */
  readonly detail?: string;
};

export type Package = {
  /** Below the folder of the producers. */
  readonly folder: string;
  readonly packageName: string;
  /** The one that is pinned. */
  readonly version: string;
  /** The package under which newer versions are published. */
  readonly movedTo?: string;
  /** Only a library is needed, without the programs that it would install. */
  readonly isLibrary?: true;
};

/** Has a program take up a compacted file. */
export type Check = (compactedFile: string, producersFolder: string, program: Package) => Promise<Resumed>;

/** The last words of standard error and output, for `detail`. */
export function lastWords(...texts: readonly string[]): string {
  return texts
    .map((text) => text.trim().slice(-300))
    .filter((text) => text !== '')
    .join(' | ');
}

/** How many ids stand on one side only; an id that stands more than once counts as often as it has no partner. */
export function countOrphans(calls: readonly string[], results: readonly string[]): number {
  const balance = new Map<string, number>();
  for (const id of calls) balance.set(id, (balance.get(id) ?? 0) + 1);
  for (const id of results) balance.set(id, (balance.get(id) ?? 0) - 1);
  return balance.values().reduce((sum, count) => sum + Math.abs(count), 0);
}
