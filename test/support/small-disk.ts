import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderWith } from './folders.ts';

/** A disk of its own, which can be full. */
export type SmallDisk = {
  /** Its folder as the program sees it, which is to be run by `wrapper`. */
  readonly path: string;
  readonly wrapper: readonly string[];
  /** The same folder as this process sees it. */
  readonly seen: string;
  /** Takes all room but this; what is said last holds. */
  readonly leave: (freeBytes: number) => void;
};

export type SmallDiskOptions = {
  readonly sizeBytes: number;
  /** Files and folders that it can hold. */ readonly maxFiles?: number;
};

const FILLER = 'filler.bin';

/**
 * A memory file system in a mount namespace of its own, which needs no rights: it is there until the test ends, and for who is in the
 * namespace. A test that cannot have one fails: that nothing is lost on a full disk is then not known.
 */
export async function mountSmallDisk(
  context: TestContext,
  { sizeBytes, maxFiles = 1000 }: SmallDiskOptions,
): Promise<SmallDisk> {
  const path = join(folderWith(context, {}), 'disk');
  mkdirSync(path);
  const mount = `mount -t tmpfs -o size=${sizeBytes},nr_inodes=${maxFiles} tmpfs "$1" && echo mounted && exec cat`;
  // `cat` ends with this process, whatever ends it.
  const holder = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', mount, 'sh', path]);
  context.after(() => holder.stdin.end());
  const [said] = await Promise.race([once(holder.stdout, 'data'), once(holder.stderr, 'data')]);
  assert.equal(String(said), 'mounted\n', 'a disk that can be full needs `unshare` and user namespaces (or root)');
  const { pid } = holder;
  assert.ok(pid);
  const seen = `/proc/${pid}/root${path}`;
  const filler = join(seen, FILLER);
  return {
    path,
    seen,
    wrapper: ['nsenter', '--target', String(pid), '--user', '--mount', '--preserve-credentials'],
    leave: (freeBytes) => {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(seen);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes), 1));
    },
  };
}
