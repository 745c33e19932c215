import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { createCompressedFile } from '../../../src/adapters/fs/new-file.ts';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { err, ok } from '../../../src/core/result.ts';
import type { Compression, FileFailure, PendingFile } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();
// Each reads one member of gzip, or one frame of zstd, and no more.
const UNPACK = { gzip: gunzipSync, zstd: zstdDecompressSync };

async function begun<T>(
  path: string,
  compression: Compression,
  work: (pending: PendingFile) => Promise<T>,
): Promise<T> {
  const lock = await store.lock(path);
  assert.ok(lock.ok);
  const pending = await lock.value.begin(undefined, compression);
  assert.ok(pending.ok);
  try {
    return await work(pending.value);
  } finally {
    pending.value.close();
    lock.value.release();
  }
}

async function written(path: string, compression: Compression, pieces: Iterable<Uint8Array>): Promise<Buffer> {
  await begun(path, compression, async (pending) => {
    for (const piece of pieces) {
      pending.write(piece);
      await pending.catchUp('here');
    }
    assert.deepEqual(await pending.catchUp('end'), ok(undefined));
    assert.deepEqual([pending.sync(), await pending.takePlace(null)], [ok(undefined), ok(null)]);
  });
  return readFileSync(path);
}

const pathIn = (context: TestContext): string => join(folderWith(context, {}), 'out');

for (const compression of ['gzip', 'zstd'] as const) {
  suite(`a new file that is packed as ${compression}`, () => {
    test('holds what was given, in one part, from buffers that are used again', async (context) => {
      const reused = Buffer.alloc(700_000);
      const expected: Buffer[] = [];
      const pieces = function* (): Generator<Uint8Array> {
        for (let round = 0; round < 40; round += 1) {
          reused.fill(`${round} and `);
          const piece = reused.subarray(0, round === 20 ? reused.length : 1 + ((round * 7919) % 60_000));
          expected.push(Buffer.from(piece));
          yield piece;
        }
      };
      const bytes = await written(pathIn(context), compression, pieces());
      assert.ok(UNPACK[compression](bytes).equals(Buffer.concat(expected)));
    });

    test('is the same bytes whatever the pieces were', async (context) => {
      const content = Buffer.from(Array.from({ length: 60_000 }, (_, at) => `${at * at} `).join(''));
      const inPieces = function* (sizeBytes: number): Generator<Uint8Array> {
        for (let at = 0; at < content.length; at += sizeBytes) yield content.subarray(at, at + sizeBytes);
      };
      const [whole, parted] = [
        await written(pathIn(context), compression, [content]),
        await written(pathIn(context), compression, inPieces(9973)),
      ];
      assert.ok(whole.equals(parted));
    });

    test('is a part that holds nothing where nothing was written', async (context) => {
      assert.equal(UNPACK[compression](await written(pathIn(context), compression, [])).length, 0);
    });

    test('leaves nothing behind when it is given up in the middle', async (context) => {
      const folder = folderWith(context, {});
      await begun(join(folder, 'out'), compression, async (pending) => {
        pending.write(Buffer.alloc(600_000, 'x'));
        await pending.catchUp('here');
      });
      assert.deepEqual(readdirSync(folder), []);
    });

    test('fails as writing does', async (context) => {
      const failure: FileFailure = { kind: 'no-space', path: 'out' };
      const result = await begun(pathIn(context), 'none', async (pending) => {
        const full = createCompressedFile({ ...pending, write: () => err(failure) }, { path: 'out', compression });
        full.write(Buffer.alloc(2_000_000, 'x'));
        const ended = [await full.catchUp('here'), await full.catchUp('end')];
        full.close();
        return ended.find((one) => one?.ok === false);
      });
      assert.deepEqual(result, err(failure));
    });
  });
}

test('gzip tells no time, so that it is the same tomorrow', async (context) => {
  const bytes = await written(pathIn(context), 'gzip', [Buffer.from('x')]);
  assert.equal(bytes.readUInt32LE(4), 0);
});

test('a file that is not packed has nothing to wait for', async (context) => {
  await begun(pathIn(context), 'none', async (pending) => {
    assert.deepEqual([pending.catchUp('here'), pending.catchUp('end')], [null, null]);
  });
});

test('a packed file that was replaced goes back with what came to the new one', async (context) => {
  const path = pathIn(context);
  writeFileSync(path, gzipSync('old\n'));
  const stamp = await store.stamp(path);
  assert.ok(stamp.ok);
  await begun(path, 'gzip', async (pending) => {
    pending.write(Buffer.from('new\n'));
    await pending.catchUp('end');
    const placed = await pending.takePlace(stamp.value, { isDocument: false });
    assert.ok(placed.ok && placed.value !== null && placed.value !== 'taken');
    assert.equal(gunzipSync(readFileSync(path)).toString(), 'new\n');
    appendFileSync(path, gzipSync('late\n'));
    assert.ok(placed.value.putBack().ok);
  });
  assert.equal(statSync(path, { bigint: true }).ino, stamp.value.inode);
  assert.equal(gunzipSync(readFileSync(path)).toString(), 'old\nlate\n');
});

test('the name of a file says how it is packed', () => {
  const names = ['a.jsonl', 'a.jsonl.gz', 'd.gz/a.ZST', 'gz', 'a.zst.jsonl'];
  assert.deepEqual(names.map(store.compressionOf), ['none', 'gzip', 'zstd', 'none', 'none']);
});
