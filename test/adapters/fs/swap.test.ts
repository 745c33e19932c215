import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { createFileStore, stampOf } from '../../../src/adapters/fs/file-store.ts';
import { missingFrom, hiddenNamesOf } from '../../../src/adapters/fs/leftovers.ts';
import { createSwap, describeNew } from '../../../src/adapters/fs/swap.ts';
import { findMovedAside } from '../../../src/core/paths.ts';
import type { FileLock, MovedFile, PendingFile } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();
const OLD = '1\n2\n';
const NEW = 's\n';

type Scene = {
  readonly folder: string;
  readonly path: string;
  readonly text: () => string;
  readonly lock: FileLock;
  readonly pending: PendingFile;
  /** Swaps the files; `onMoved` happens while nothing has the name. */
  readonly swap: (onMoved?: () => void) => Promise<MovedFile | 'taken'>;
};

async function sceneOf(t: TestContext, options: { readonly isDocument?: boolean } = {}): Promise<Scene> {
  const folder = folderWith(t, { 'a.jsonl': OLD });
  const path = join(folder, 'a.jsonl');
  const stamp = await store.stamp(path);
  const lock = await store.lock(path);
  assert.ok(stamp.ok && lock.ok);
  const begun = await lock.value.begin(path);
  assert.ok(begun.ok);
  begun.value.write(Buffer.from(NEW));
  return {
    folder,
    path,
    text: () => readFileSync(path, 'utf8'),
    lock: lock.value,
    pending: begun.value,
    swap: async (onMoved = () => undefined) => {
      const { isDocument = false } = options;
      const placed = await begun.value.takePlace(stamp.value, { isDocument, onMoved, mtimeNs: stamp.value.mtimeNs });
      assert.ok(placed.ok && placed.value !== null, JSON.stringify(placed));
      return placed.value;
    },
  };
}

function end({ lock, pending, folder }: Scene): readonly string[] {
  pending.close();
  lock.release();
  return readdirSync(folder);
}

async function swapped(scene: Scene): Promise<MovedFile> {
  const old = await scene.swap();
  assert.ok(old !== 'taken');
  return old;
}

suite('a file that is replaced', () => {
  test('has the new content, the time of the old file, and no hidden names beside it', async (t) => {
    const scene = await sceneOf(t);
    const before = statSync(scene.path).mtimeMs;
    (await swapped(scene)).drop();
    assert.deepEqual([scene.text(), end(scene)], [NEW, ['a.jsonl']]);
    assert.ok(Math.abs(statSync(scene.path).mtimeMs - before) < 0.01);
  });

  test('goes back with what came to it under any name, in the order in which it came', async (t) => {
    const scene = await sceneOf(t);
    const open = openSync(scene.path, 'a');
    const old = await swapped(scene);
    writeSync(open, 'to the old\n');
    closeSync(open);
    appendFileSync(scene.path, 'to the new\n');
    assert.ok(old.putBack().ok);
    assert.deepEqual([scene.text(), end(scene)], [`${OLD}to the old\nto the new\n`, ['a.jsonl']]);
  });

  test('goes back whole when another program wrote our file anew', async (t) => {
    const scene = await sceneOf(t);
    const old = await swapped(scene);
    writeFileSync(scene.path, 'their own and longer\n');
    assert.ok(old.putBack().ok);
    assert.deepEqual([scene.text(), end(scene)], [`${OLD}their own and longer\n`, ['a.jsonl']]);
  });

  test('goes back when the run fails between the swap and the comparison, if it changed', async (t) => {
    const scene = await sceneOf(t);
    const open = openSync(scene.path, 'a');
    await swapped(scene);
    writeSync(open, '3\n');
    closeSync(open);
    assert.deepEqual([end(scene), scene.text()], [['a.jsonl'], `${OLD}3\n`]);
  });

  for (const [what, change] of [
    ['was replaced', (path: string) => (writeFileSync(`${path}.new`, 'theirs\n'), renameSync(`${path}.new`, path))],
    ['was written to', (path: string) => appendFileSync(path, '3\n')],
  ] as const) {
    test(`stays as it is if it ${what} after it was read`, async (t) => {
      const scene = await sceneOf(t);
      change(scene.path);
      const text = scene.text();
      assert.equal(await scene.swap(), 'taken');
      assert.deepEqual([scene.text(), end(scene)], [text, ['a.jsonl']]);
    });
  }
});

suite('what another program writes in the moment without a file', () => {
  test('stands at the end of the old file, which stays', async (t) => {
    const scene = await sceneOf(t);
    const placed = await scene.swap(() => appendFileSync(scene.path, 'a fragment\n'));
    assert.deepEqual([placed, scene.text(), end(scene)], ['taken', `${OLD}a fragment\n`, ['a.jsonl']]);
  });

  test('counts instead of the old document', async (t) => {
    const scene = await sceneOf(t, { isDocument: true });
    const placed = await scene.swap(() => writeFileSync(scene.path, '{"theirs":1}'));
    assert.deepEqual([placed, scene.text(), end(scene)], ['taken', '{"theirs":1}', ['a.jsonl']]);
  });
});

test('a document that another program wrote after the swap stays, even if the old one changed as well', async (t) => {
  const scene = await sceneOf(t, { isDocument: true });
  const old = await swapped(scene);
  writeFileSync(old.path, 'late');
  writeFileSync(scene.path, '{"theirs":1}');
  assert.ok(old.putBack().ok);
  assert.deepEqual([scene.text(), end(scene)], ['{"theirs":1}', ['a.jsonl']]);
});

const hiddenIn = ({ folder }: Scene, ending: string): string =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(ending)) ?? '');

/** Another process that has a file open for appending, and writes to it when it is told to. */
async function holdOpen(t: TestContext, path: string): Promise<{ readonly write: () => Promise<void> }> {
  const child = spawn('sh', ['-c', 'exec 3>>"$0"; echo open; read go; echo held >&3', path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill());
  await once(child.stdout, 'data');
  return {
    write: async () => {
      child.stdin.end('go\n');
      await once(child, 'exit');
    },
  };
}

test(
  'what comes to the new file from a program that still has it open is brought by the next run',
  {
    skip: process.platform !== 'linux',
  },
  async (t) => {
    const scene = await sceneOf(t);
    const old = await swapped(scene);
    const writer = await holdOpen(t, scene.path);
    assert.ok(old.putBack().ok);
    assert.equal(scene.text(), OLD);
    scene.pending.close();
    scene.lock.release();
    await writer.write();
    assert.ok((await store.clearLeftovers(scene.path)).ok);
    assert.deepEqual([scene.text(), readdirSync(scene.folder)], [`${OLD}held\n`, ['a.jsonl']]);
  },
);

test('a file whose name is taken again and again keeps its hidden name', (t) => {
  const folder = folderWith(t, { 'a.jsonl': OLD, 'new.tmp': NEW });
  const path = join(folder, 'a.jsonl');
  const names = hiddenNamesOf(path);
  const nothing = (): void => undefined;
  const swap = createSwap(path, path, { names, onBegun: nothing, onEnded: nothing, maxTries: 0 });
  const temporary = join(folder, 'new.tmp');
  const expected = stampOf(statSync(path, { bigint: true }));
  const ours = describeNew(temporary);
  const placed = swap.takePlace(temporary, expected, {
    isDocument: false,
    ours,
    onMoved: () => writeFileSync(path, 'theirs\n'),
  });
  assert.ok(!placed.ok && placed.error.kind === 'foreign-leftover');
  assert.equal(readFileSync(placed.error.path, 'utf8'), OLD);
  assert.ok(swap.isOutstanding());
});

class Killed extends Error {}

suite('after a kill', () => {
  const heal = async ({ folder, path, text }: Scene): Promise<unknown> => {
    const cleared = await store.clearLeftovers(path);
    return cleared.ok ? [text(), readdirSync(folder)] : cleared.error;
  };
  const killMoved = async (scene: Scene, then: () => void = () => undefined): Promise<void> => {
    const killed = scene.swap(() => {
      then();
      throw new Killed();
    });
    await assert.rejects(killed, Killed);
    scene.lock.release();
  };

  test('in the moment without a file, a listing names the file, and whoever opens it brings it back', async (t) => {
    const scene = await sceneOf(t);
    await killMoved(scene);
    assert.deepEqual(findMovedAside(readdirSync(scene.folder)), ['a.jsonl']);
    assert.deepEqual(await heal(scene), [OLD, ['a.jsonl']]);
  });

  test('then, what came to the name meanwhile follows', async (t) => {
    const scene = await sceneOf(t);
    await killMoved(scene, () => appendFileSync(scene.path, '3\n'));
    assert.deepEqual(await heal(scene), [`${OLD}3\n`, ['a.jsonl']]);
  });

  for (const [what, late, since, expected] of [
    ['was not written to, the new one stays with what came since', '', '4\n', `${NEW}4\n`],
    ['was written to, it goes back, and what came since follows', '3\n', '4\n', `${OLD}3\n4\n`],
  ] as const) {
    test(`after the swap: if the old file ${what}`, async (t) => {
      const scene = await sceneOf(t);
      const old = await swapped(scene);
      if (late !== '') appendFileSync(old.path, late);
      appendFileSync(scene.path, since);
      scene.lock.release();
      assert.deepEqual(await heal(scene), [expected, ['a.jsonl']]);
    });
  }

  test('between the two names of our file, it goes back, too, if it changed', async (t) => {
    const scene = await sceneOf(t);
    await killMoved(scene);
    const [temporary = '', old = ''] = ['.tmp', '.old'].map((ending) => hiddenIn(scene, ending));
    linkSync(temporary, scene.path);
    appendFileSync(old, '3\n');
    appendFileSync(scene.path, '4\n');
    assert.deepEqual(await heal(scene), [`${OLD}3\n4\n`, ['a.jsonl']]);
  });

  test('a file that has another name of its user’s comes back', async (t) => {
    const scene = await sceneOf(t);
    linkSync(scene.path, join(scene.folder, 'backup'));
    await killMoved(scene);
    assert.deepEqual(await heal(scene), [OLD, ['a.jsonl', 'backup']]);
  });

  for (const [what, text, expected] of [
    ['a document that another program wrote counts', '{"theirs":1}', '{"theirs":1}'],
    ['a fragment does not count instead of a document', '\n', `${OLD}\n`],
  ] as const) {
    test(`while the file went back: ${what}`, async (t) => {
      const scene = await sceneOf(t, { isDocument: true });
      await killMoved(scene);
      const late = join(scene.folder, 'theirs');
      writeFileSync(late, text);
      const prefix = hiddenIn(scene, '.old').replace(/moved-.*$/, '');
      renameSync(late, `${prefix}0000-0-${statSync(late, { bigint: true }).ino}.late`);
      assert.deepEqual(await heal(scene), [expected, ['a.jsonl']]);
    });
  }

  for (const search of ['finds it', 'takes too long'])
    test(
      `what a program writes later to a file that it still has open is brought by the next run: the search for it ${search}`,
      {
        skip: process.platform !== 'linux',
      },
      async (t) => {
        const scene = await sceneOf(t);
        const writer = await holdOpen(t, scene.path);
        await swapped(scene);
        scene.lock.release();
        let ms = 0;
        const clock = search === 'finds it' ? null : t.mock.method(performance, 'now', () => (ms += 60_000));
        assert.ok((await store.clearLeftovers(scene.path)).ok);
        clock?.mock.restore();
        assert.equal(scene.text(), NEW);
        await writer.write();
        assert.deepEqual(await heal(scene), [`${OLD}held\n`, ['a.jsonl']]);
      },
    );

  test('an old file with another name is refused and named: it may be somebody’s private file', async (t) => {
    const scene = await sceneOf(t);
    const old = await swapped(scene);
    appendFileSync(old.path, 'private\n');
    linkSync(old.path, join(scene.folder, 'private'));
    scene.lock.release();
    const is = 'it is a hard link to a file that has other names';
    assert.deepEqual(await heal(scene), { kind: 'foreign-leftover', path: old.path, is });
    assert.equal(scene.text(), NEW);
  });
});

suite('which late bytes are not in the target yet', () => {
  const bytes = (text: string): Buffer => Buffer.from(text);
  for (const [what, late, there, missing] of [
    ['all of them where nothing came since', 'a\nb\n', '', 'a\nb\n'],
    ['nothing where they came first', 'a\nb\n', 'a\nb\nc\n', ''],
    ['nothing where they came after another line', 'a\nb\n', 'c\na\nb\n', ''],
    ['the rest where a write ended in the middle', 'aa\nbb\n', 'aa\nb', 'b\n'],
    ['all of them where others begin alike', '{"a":1}\n', '{"a":2}\n', '{"a":1}\n'],
    ['all of them where they only end a line of somebody else', '1}\n', '{"a":1}\n', '1}\n'],
  ] as const) {
    test(`is ${what}`, () => {
      assert.equal(missingFrom(bytes(late), bytes(there)).toString(), missing);
    });
  }

  test('is what was not written yet, wherever the writing ended', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b') }), { minLength: 1 });
    fc.assert(
      fc.property(lines, fc.nat(), (texts, cut) => {
        const late = bytes(texts.map((text) => `${text}\n`).join(''));
        const done = late.subarray(0, cut % (late.length + 1));
        assert.deepEqual(Buffer.concat([done, missingFrom(late, done)]), late);
      }),
    );
  });
});

test('a swap that another machine has finished meanwhile leaves what stands there now', async (t) => {
  const scene = await sceneOf(t);
  const old = await swapped(scene);
  unlinkSync(old.path); // as whoever heals does
  writeFileSync(`${scene.path}.theirs`, 'theirs\n');
  renameSync(`${scene.path}.theirs`, scene.path);
  assert.deepEqual(old.putBack(), { ok: true, value: undefined });
  assert.equal(scene.text(), 'theirs\n');
  assert.deepEqual(end(scene), ['a.jsonl']);
});

test('a file that was only set aside gets its name back', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': OLD });
  const path = join(folder, 'a.jsonl');
  const { ino } = statSync(path, { bigint: true });
  const names = hiddenNamesOf(path);
  renameSync(path, names.late({ fromBytes: 0, inode: ino }, 0).path);
  writeFileSync(names.lock, '');
  assert.ok((await store.clearLeftovers(path)).ok);
  assert.equal(readFileSync(path, 'utf8'), OLD);
  assert.deepEqual(readdirSync(folder), ['a.jsonl']);
});
