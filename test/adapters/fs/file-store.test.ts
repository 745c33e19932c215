import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { getegid, geteuid, getgroups } from 'node:process';
import { suite, test } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import type { FileLock, PendingFile } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();

async function locked(path: string): Promise<FileLock> {
  const lock = await store.lock(path);
  assert.ok(lock.ok, JSON.stringify(lock));
  return lock.value;
}

/** Works on a file that is begun; it and its lock are given back in the end. */
async function begun<T>(path: string, work: (pending: PendingFile) => Promise<T>, like?: string): Promise<T> {
  const lock = await locked(path);
  const pending = await lock.begin(like);
  assert.ok(pending.ok, JSON.stringify(pending));
  try {
    return await work(pending.value);
  } finally {
    pending.value.close();
    lock.release();
  }
}

const DONE = { ok: true, value: undefined };

/** Gives the new file its name, whatever stands there. */
async function takePlace(pending: PendingFile, path: string): ReturnType<PendingFile['takePlace']> {
  const stamp = await store.stamp(path);
  const placed = await pending.takePlace(stamp.ok ? stamp.value : null);
  if (placed.ok && placed.value !== 'taken') placed.value?.drop();
  return placed;
}

async function written(path: string, text: string, like?: string): Promise<void> {
  const steps = await begun(
    path,
    async (pending) => [
      pending.write(Buffer.from(text)),
      pending.drain(),
      pending.sync(),
      (await takePlace(pending, path)).ok,
      await pending.syncFolder(),
    ],
    like,
  );
  assert.deepEqual(steps, [DONE, DONE, DONE, true, DONE]);
}

/** An owner that files may be given to: root's to choose, and for others one of their groups. */
function ownerToGive(): { readonly uid: number; readonly gid: number } {
  const [uid = 0, own = 0] = [geteuid?.(), getegid?.()];
  if (uid === 0) return { uid: 1234, gid: 2345 };
  return { uid, gid: getgroups?.().find((gid) => gid !== own) ?? own };
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

suite('a file that is begun', () => {
  test('appears whole when it gets its name, and not before', async (context) => {
    const path = join(folderWith(context, { 'out.jsonl': 'old' }), 'out.jsonl');
    await begun(path, async (pending) => {
      pending.write(Buffer.from('new '));
      pending.write(Buffer.from('text'));
      pending.sync();
      assert.equal(readFileSync(path, 'utf8'), 'old');
      await takePlace(pending, path);
      assert.equal(readFileSync(path, 'utf8'), 'new text');
    });
    assert.deepEqual(readdirSync(dirname(path)), ['out.jsonl']);
  });

  test('stands under a hidden name meanwhile, in the same folder', async (context) => {
    const folder = folderWith(context, {});
    const names = await begun(join(folder, 'out.jsonl'), async () => readdirSync(folder).toSorted());
    assert.match(names.join(' '), /^\.compact-([0-9a-f]{12})-[0-9a-f]{8}\.tmp \.compact-\1\.lock$/);
  });

  test('leaves nothing behind when it is closed without a name, once or twice', async (context) => {
    const folder = folderWith(context, { 'out.jsonl': 'old' });
    await begun(join(folder, 'out.jsonl'), async (pending) => {
      pending.write(Buffer.alloc(1_000_000, 'x'));
      pending.close();
    });
    assert.deepEqual(readdirSync(folder), ['out.jsonl']);
    assert.equal(readFileSync(join(folder, 'out.jsonl'), 'utf8'), 'old');
  });

  test('takes more at its end after it has its name, behind what its producer wrote there meanwhile', async (context) => {
    const path = join(folderWith(context, {}), 'out.jsonl');
    await begun(path, async (pending) => {
      pending.write(Buffer.from('a'));
      await pending.takePlace(null);
      appendFileSync(path, 'b');
      pending.write(Buffer.from('c'));
      pending.sync();
    });
    assert.equal(readFileSync(path, 'utf8'), 'abc');
  });

  test('holds what was given, in pieces small and large, from buffers that are used again', async (context) => {
    const path = join(folderWith(context, {}), 'out.jsonl');
    const reused = Buffer.alloc(1000);
    const expected: Buffer[] = [];
    await begun(path, async (pending) => {
      for (let round = 0; round < 700; round += 1) {
        reused.fill(round % 251);
        const piece = round === 350 ? Buffer.alloc(600_000, 7) : reused.subarray(0, 1 + ((round * 37) % 1000));
        expected.push(Buffer.from(piece));
        pending.write(piece);
      }
      await pending.takePlace(null);
    });
    assert.ok(readFileSync(path).equals(Buffer.concat(expected)));
  });

  test('is private without a model', async (context) => {
    const path = join(folderWith(context, {}), 'out.jsonl');
    await written(path, 'x');
    assert.equal(modeOf(path), 0o600);
  });

  test('is private where its model is not there', async (context) => {
    const folder = folderWith(context, {});
    await written(join(folder, 'out.jsonl'), 'x', join(folder, 'none'));
    assert.equal(modeOf(join(folder, 'out.jsonl')), 0o600);
  });

  test('has the mode of its model, whatever the umask', async (context) => {
    const folder = folderWith(context, { model: '' });
    chmodSync(join(folder, 'model'), 0o666);
    await written(join(folder, 'out.jsonl'), 'x', join(folder, 'model'));
    assert.equal(modeOf(join(folder, 'out.jsonl')), 0o666);
  });

  test('has the owner of its model where that may be', async (context) => {
    const folder = folderWith(context, { model: '' });
    const owner = ownerToGive();
    chownSync(join(folder, 'model'), owner.uid, owner.gid);
    await written(join(folder, 'out.jsonl'), 'x', join(folder, 'model'));
    const { uid, gid } = statSync(join(folder, 'out.jsonl'));
    assert.deepEqual({ uid, gid }, owner);
  });
});

suite('links', () => {
  test('the file that a link leads to is replaced, and the link stays', async (context) => {
    const folder = folderWith(context, { 'deep/er/target.jsonl': 'old', 'links/': '' });
    symlinkSync('../deep/er', join(folder, 'links', 'folder'));
    symlinkSync('links/folder/../er/target.jsonl', join(folder, 'second'));
    symlinkSync('second', join(folder, 'first'));
    await written(join(folder, 'first'), 'new');
    assert.equal(readFileSync(join(folder, 'deep/er/target.jsonl'), 'utf8'), 'new');
    assert.equal(readlinkSync(join(folder, 'first')), 'second');
    assert.ok(lstatSync(join(folder, 'second')).isSymbolicLink());
  });

  test('a link that leads to nothing yet leads to the new file', async (context) => {
    const folder = folderWith(context, { 'there/': '' });
    symlinkSync('there/new.jsonl', join(folder, 'link'));
    await written(join(folder, 'link'), 'x');
    assert.equal(readFileSync(join(folder, 'there/new.jsonl'), 'utf8'), 'x');
    assert.ok(lstatSync(join(folder, 'link')).isSymbolicLink());
  });

  test('links in a circle are a failure', async (context) => {
    const folder = folderWith(context, {});
    const path = join(folder, 'a');
    symlinkSync('a', path);
    assert.deepEqual(await store.lock(path), {
      ok: false,
      error: { kind: 'not-a-file', path, is: 'a circle of links' },
    });
  });
});

suite('what cannot be written', () => {
  test('a folder that is not there is what is missing', async (context) => {
    const folder = join(folderWith(context, {}), 'none');
    const result = await store.lock(join(folder, 'out.jsonl'));
    assert.deepEqual(result, { ok: false, error: { kind: 'not-found', path: folder } });
  });

  test('a folder in the place of the file', async (context) => {
    const path = join(folderWith(context, {}), 'out.jsonl');
    mkdirSync(path);
    assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'not-a-file', path, is: 'a folder' } });
  });

  test('a device is never replaced by a file', async () => {
    const path = '/dev/null';
    assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'not-a-file', path, is: 'a device' } });
  });

  test('a target that became a folder meanwhile leaves no temporary file', async (context) => {
    const folder = folderWith(context, {});
    const path = join(folder, 'out.jsonl');
    const result = await begun(path, async (pending) => {
      pending.write(Buffer.from('x'));
      mkdirSync(path);
      return pending.takePlace(null);
    });
    assert.deepEqual(result, { ok: true, value: 'taken' });
    assert.deepEqual(readdirSync(folder), ['out.jsonl']);
  });
});

suite('the stamp of a file', () => {
  test('is that of the file when it was opened', async (context) => {
    const path = join(folderWith(context, { a: 'abc' }), 'a');
    const source = await store.open(path);
    assert.ok(source.ok);
    source.value.close();
    assert.deepEqual(await store.stamp(path), { ok: true, value: source.value.stamp });
    assert.equal(source.value.stamp.sizeBytes, 3);
  });

  test('differs after a replacement with the same bytes', async (context) => {
    const path = join(folderWith(context, { a: 'abc' }), 'a');
    const before = await store.stamp(path);
    await written(path, 'abc');
    assert.notDeepEqual(await store.stamp(path), before);
  });

  test('of nothing is a failure', async (context) => {
    const path = join(folderWith(context, {}), 'a');
    assert.deepEqual(await store.stamp(path), { ok: false, error: { kind: 'not-found', path } });
  });
});
