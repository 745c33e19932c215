import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import type { FileLock } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const STORE = new URL('../../../src/adapters/fs/file-store.ts', import.meta.url).href;
const store = createFileStore();

async function taken(path: string): Promise<FileLock> {
  const lock = await store.lock(path);
  assert.ok(lock.ok, JSON.stringify(lock));
  return lock.value;
}

/** A process that holds the lock until it is killed. */
async function holder(context: { after: (end: () => void) => void }, path: string) {
  const code = `
    const { createFileStore } = await import(${JSON.stringify(STORE)});
    const lock = await createFileStore().lock(${JSON.stringify(path)});
    const begun = lock.ok ? await lock.value.begin() : lock;
    process.stdout.write(begun.ok ? 'held' : JSON.stringify(begun));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said), 'held');
  return child;
}

test('a file is held by one at a time, also within a process', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x', 'b.jsonl': 'x' });
  const path = join(folder, 'a.jsonl');
  const first = await taken(path);
  assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'held', path } });
  (await taken(join(folder, 'b.jsonl'))).release();
  first.release();
  (await taken(path)).release();
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.jsonl', 'b.jsonl']);
});

test('under another name, through a link, it is the same file', async (context) => {
  const folder = folderWith(context, { 'deep/a.jsonl': 'x' });
  symlinkSync('deep/a.jsonl', join(folder, 'link'));
  symlinkSync('deep', join(folder, 'folder'));
  const lock = await taken(join(folder, 'deep', 'a.jsonl'));
  for (const name of ['link', 'folder/a.jsonl']) {
    const path = join(folder, name);
    assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'held', path } });
  }
  lock.release();
});

test('a process that holds it keeps others out, and when it is killed the next one has it and clears what it left', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x', '.compact-0123456789ab-deadbeef.tmp': "another file's" });
  const path = join(folder, 'a.jsonl');
  const child = await holder(context, path);
  assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'held', path } });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(readdirSync(folder).length, 4); // its lock and its temporary file
  (await taken(path)).release();
  assert.deepEqual(readdirSync(folder).toSorted(), ['.compact-0123456789ab-deadbeef.tmp', 'a.jsonl']);
});

test('an old lock file may be taken by anybody who may write to the folder', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x' });
  const lock = await taken(join(folder, 'a.jsonl'));
  const name = readdirSync(folder).find((one) => one.endsWith('.lock')) ?? '';
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o666);
  lock.release();
});

test('many that want it at once have it one after the other', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  let holders = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    for (let done = 0; done < 5;) {
      const lock = await store.lock(path);
      if (!lock.ok) {
        assert.equal(lock.error.kind, 'held');
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      holders += 1;
      most = Math.max(most, holders);
      await new Promise((resolve) => setImmediate(resolve));
      holders -= 1;
      lock.value.release();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.equal(most, 1);
});

test('a lock is taken where no file stands yet, and makes none', async (context) => {
  const folder = folderWith(context, {});
  (await taken(join(folder, 'new.jsonl'))).release();
  assert.equal(existsSync(join(folder, 'new.jsonl')), false);
  assert.deepEqual(readdirSync(folder), []);
});

test('the file that is held can still be read and written by its producer', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  const lock = await taken(path);
  writeFileSync(path, 'y');
  lock.release();
  assert.equal(statSync(path).size, 1);
});

test('a second try in the same process does not end the lock for others', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  const lock = await taken(path);
  assert.equal((await store.lock(path)).ok, false);
  const code = `
    const { createFileStore } = await import(${JSON.stringify(STORE)});
    const lock = await createFileStore().lock(${JSON.stringify(path)});
    process.stdout.write(lock.ok ? 'locked' : lock.error.kind);`;
  const other = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(other.stdout, 'held');
  lock.release();
});

test('a lock file that is something else is a failure that names it', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x' });
  const lock = await taken(join(folder, 'a.jsonl'));
  const name = readdirSync(folder).find((one) => one.endsWith('.lock')) ?? '';
  lock.release();
  writeFileSync(join(folder, name), 'no lock of ours'.repeat(100));
  assert.deepEqual(await store.lock(join(folder, 'a.jsonl')), {
    ok: false,
    error: { kind: 'foreign-leftover', path: join(folder, name), is: 'it is not empty' },
  });
});
