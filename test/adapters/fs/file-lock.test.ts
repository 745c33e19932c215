import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
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

/** A file that was replaced, and a line that came to it in that moment; the run is over before it could bring it over. */
async function leaveOld(context: TestContext): Promise<{ readonly folder: string; readonly path: string }> {
  const folder = folderWith(context, { 'a.jsonl': '1\n2\n' });
  const path = join(folder, 'a.jsonl');
  const stamp = await store.stamp(path);
  const lock = await taken(path);
  const begun = await lock.begin(path);
  assert.ok(stamp.ok && begun.ok);
  begun.value.write(Buffer.from('s\n'));
  const kept = begun.value.keepBackup(stamp.value, 4);
  assert.ok(kept.ok && kept.value.kind === 'kept');
  appendFileSync(path, 'late\n');
  await begun.value.rename();
  // It is in the way of whoever would write to the target now.
  renameSync(path, `${path}.aside`);
  begun.value.close();
  lock.release();
  renameSync(`${path}.aside`, path);
  return { folder, path };
}

const endings = (folder: string): readonly string[] =>
  readdirSync(folder)
    .map((name) => name.slice(name.lastIndexOf('.')))
    .toSorted();

suite('what came to a file while it was replaced', () => {
  test('is brought over by whoever takes the lock next', async (context) => {
    const { folder, path } = await leaveOld(context);
    assert.deepEqual([endings(folder), readFileSync(path, 'utf8')], [['.jsonl', '.lock', '.old'], 's\n']);
    (await taken(path)).release();
    assert.deepEqual([endings(folder), readFileSync(path, 'utf8')], [['.jsonl'], 's\nlate\n']);
  });

  test('is brought over by who only tidies up', async (context) => {
    const { folder, path } = await leaveOld(context);
    assert.deepEqual(await store.clearLeftovers(path), { ok: true, value: undefined });
    assert.deepEqual([endings(folder), readFileSync(path, 'utf8')], [['.jsonl'], 's\nlate\n']);
  });

  test('stays, and nobody has the lock, where it cannot be brought over', async (context) => {
    const { folder, path } = await leaveOld(context);
    const old = join(folder, readdirSync(folder).find((name) => name.endsWith('.old')) ?? '');
    // A folder cannot be read as a file.
    rmSync(old);
    mkdirSync(old);
    const failure = { ok: false, error: { kind: 'foreign-leftover', path: old, is: 'it is not a regular file' } };
    assert.deepEqual(await store.lock(path), failure);
    assert.deepEqual(await store.clearLeftovers(path), failure);
    assert.deepEqual([endings(folder), readFileSync(path, 'utf8')], [['.jsonl', '.lock', '.old'], 's\n']);
  });

  test('is nothing where the file was not replaced after all: the second name goes', async (context) => {
    const folder = folderWith(context, { 'a.jsonl': '1\n' });
    const path = join(folder, 'a.jsonl');
    const stamp = await store.stamp(path);
    const lock = await taken(path);
    const begun = await lock.begin(path);
    assert.ok(stamp.ok && begun.ok);
    assert.ok(begun.value.keepBackup(stamp.value, 2).ok);
    assert.deepEqual(endings(folder), ['.jsonl', '.lock', '.old', '.tmp']);
    begun.value.close();
    lock.release();
    assert.deepEqual([endings(folder), readFileSync(path, 'utf8')], [['.jsonl'], '1\n']);
  });

  test('cannot be kept of another file than the one that was read', async (context) => {
    const folder = folderWith(context, { 'a.jsonl': '1\n', 'b.jsonl': '1\n' });
    const path = join(folder, 'a.jsonl');
    const stamp = await store.stamp(path);
    const lock = await taken(path);
    const begun = await lock.begin(path);
    assert.ok(stamp.ok && begun.ok);
    renameSync(join(folder, 'b.jsonl'), path);
    assert.deepEqual(begun.value.keepBackup(stamp.value, 2), { ok: true, value: { kind: 'another-file' } });
    begun.value.close();
    lock.release();
    assert.deepEqual(endings(folder), ['.jsonl']);
  });
});
