import assert from 'node:assert/strict';
import { readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryUsage } from 'node:process';
import { suite, test, type TestContext } from 'node:test';
import { createGzip, createZstdCompress, gzipSync, zstdCompressSync } from 'node:zlib';
import { createFileStore, openSourceFile } from '../../../src/adapters/fs/file-store.ts';
import { folderWith } from '../../support/folders.ts';

const MIB = 1024 ** 2;
const LIMIT_BYTES = 64 * MIB;

/** So many mebibytes of zeros, compressed. */
async function compressZeros(
  engine: ReturnType<typeof createGzip> | ReturnType<typeof createZstdCompress>,
  mib: number,
) {
  const zeros = Buffer.alloc(MIB);
  const pieces: Buffer[] = [];
  engine.on('data', (piece: Buffer) => pieces.push(piece));
  for (let at = 0; at < mib; at += 1)
    if (!engine.write(zeros)) await new Promise((resolve) => engine.once('drain', resolve));
  await new Promise((resolve) => engine.once('end', resolve).end());
  return Buffer.concat(pieces);
}

function fileWith(t: TestContext, bytes: Uint8Array): string {
  const path = join(folderWith(t, {}), 'talk.jsonl');
  writeFileSync(path, bytes);
  return path;
}

for (const { compression, engine } of [
  { compression: 'gzip', engine: () => createGzip({ level: 1 }) },
  { compression: 'zstd', engine: createZstdCompress },
] as const) {
  suite(`a bomb (${compression})`, () => {
    test('is refused after little of it', async (t) => {
      const bytes = await compressZeros(engine(), 1024);
      const path = fileWith(t, bytes);
      const before = { rss: memoryUsage.rss(), cpu: process.cpuUsage() };
      const opened = await openSourceFile(path);
      const { user, system } = process.cpuUsage(before.cpu);
      const failure = { kind: 'unpacks-too-large', path, limitBytes: LIMIT_BYTES };
      assert.deepEqual(opened, { ok: false, error: failure });
      assert.ok((user + system) / 1e6 < 2, `${user + system} µs`);
      assert.ok(memoryUsage.rss() - before.rss < 300 * MIB);
      assert.equal(
        readdirSync(tmpdir()).some((name) => name.startsWith('compact-unpacked-')),
        false,
      );
    });

    test('of many small parts is refused as a whole', async (t) => {
      const part = await compressZeros(engine(), 8);
      const path = fileWith(t, Buffer.concat(Array.from({ length: 40 }, () => part)));
      const opened = await openSourceFile(path);
      assert.equal(!opened.ok && opened.error.kind, 'unpacks-too-large');
    });

    test('is read where the person at the keyboard wants it', async (t) => {
      const path = fileWith(t, await compressZeros(engine(), 80));
      assert.equal((await openSourceFile(path)).ok, false);
      const opened = await createFileStore({ maxUnpackedBytes: 81 * MIB }).open(path);
      assert.ok(opened.ok);
      assert.equal(opened.value.sizeBytes, 80 * MIB);
      opened.value.close();
    });
  });
}

test('a small file may be larger than its size makes likely, and a limit of one’s own may be smaller', async (t) => {
  const path = fileWith(t, gzipSync(Buffer.alloc(4 * MIB)));
  const opened = await openSourceFile(path);
  assert.ok(opened.ok);
  opened.value.close();
  assert.deepEqual(await openSourceFile(path, { maxUnpackedBytes: MIB }), {
    ok: false,
    error: { kind: 'unpacks-too-large', path, limitBytes: MIB },
  });
});

test('a limit of one’s own never takes the last gibibyte of the disk', async (t) => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const path = fileWith(t, zstdCompressSync(Buffer.alloc(MIB)));
  const opened = await openSourceFile(path, { maxUnpackedBytes: 2 * bavail * bsize });
  // There is room for this one: the limit is the disk's, and it is far away.
  assert.ok(opened.ok);
  opened.value.close();
});
