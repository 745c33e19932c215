import type { BigIntStats, Stats } from 'node:fs';

/** What stands where a file should ("a folder"); null: it is a file. */
export function describeNonFile(stats: Stats | BigIntStats): string | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
