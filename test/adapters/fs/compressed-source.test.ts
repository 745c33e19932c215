import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { suite, test, type TestContext } from 'node:test';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { openSourceFile } from '../../../src/adapters/fs/file-store.ts';
import type { FileFailure, SourceFile } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';
import { runsOf } from '../../support/runs.ts';

const TEXT = 'one\r\ntwo\u2028\nthree';
const withChecksum = (text: string): Buffer =>
  zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
/** A frame of zstd that holds nothing. */
const skippable = (bytes: string): Buffer =>
  Buffer.concat([Buffer.of(0x5a, 0x2a, 0x4d, 0x18, bytes.length, 0, 0, 0), Buffer.from(bytes)]);
const joined = (...parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));

async function opened(context: TestContext, bytes: Uint8Array): Promise<{ file: SourceFile; path: string }> {
  const path = join(folderWith(context, {}), 'talk');
  writeFileSync(path, bytes);
  const result = await openSourceFile(path);
  assert.ok(result.ok);
  context.after(() => result.value.close());
  return { file: result.value, path };
}

async function refused(context: TestContext, bytes: Uint8Array): Promise<Partial<FileFailure>> {
  const path = join(folderWith(context, {}), 'talk');
  writeFileSync(path, bytes);
  const result = await openSourceFile(path);
  assert.ok(!result.ok);
  const { path: named, ...failure } = result.error;
  assert.equal(named, path);
  return failure;
}

const textOf = (file: SourceFile): string => Buffer.from(file.read(0, file.sizeBytes)).toString();

suite('a packed file is read as what it holds', () => {
  for (const [what, bytes, compression] of [
    ['gzip', gzipSync(TEXT), 'gzip'],
    [
      'gzip of several members, one of them empty',
      joined(gzipSync('one\r'), gzipSync(''), gzipSync(TEXT.slice(4))),
      'gzip',
    ],
    ['zstd', zstdCompressSync(TEXT), 'zstd'],
    ['zstd with a checksum', withChecksum(TEXT), 'zstd'],
    [
      'zstd of several frames',
      joined(withChecksum('one'), zstdCompressSync(''), zstdCompressSync(TEXT.slice(3))),
      'zstd',
    ],
    ['zstd with frames to be skipped', joined(skippable(''), zstdCompressSync(TEXT), skippable('abc')), 'zstd'],
  ] as const) {
    test(what, async (context) => {
      const { file } = await opened(context, bytes);
      assert.deepEqual([file.compression, textOf(file), file.sizeBytes], [compression, TEXT, Buffer.byteLength(TEXT)]);
      const lines = Array.from(file.lines(), ({ line, start, bytes: raw }) => [
        line,
        start,
        Buffer.from(raw).toString(),
      ]);
      assert.deepEqual(lines, [
        [1, 0, 'one\r\n'],
        [2, 5, 'two\u2028\n'],
        [3, 12, 'three'],
      ]);
      assert.deepEqual([file.stamp.sizeBytes, Buffer.concat([...file.onDisk()])], [bytes.length, bytes]);
    });
  }

  test('a byte order mark within it is one', async (context) => {
    const { file } = await opened(context, gzipSync(`\ufeff${TEXT}`));
    assert.deepEqual([file.bomLength, file.lines().next().value?.start], [3, 3]);
  });

  for (const [what, bytes] of [
    ['gzip', gzipSync('')],
    ['zstd', zstdCompressSync('')],
    ['a frame to be skipped', skippable('x')],
  ] as const) {
    test(`and that may be nothing: ${what}`, async (context) => {
      const { file } = await opened(context, bytes);
      assert.deepEqual([file.sizeBytes, [...file.lines()]], [0, []]);
    });
  }

  test('whatever the parts that it was packed in', async (context) => {
    const path = join(folderWith(context, {}), 'talk');
    const pack = { gzip: gzipSync, zstd: zstdCompressSync };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string(), { minLength: 1 }),
        fc.constantFrom('gzip', 'zstd'),
        async (parts, compression) => {
          writeFileSync(path, joined(...parts.map((part) => pack[compression](part))));
          const result = await openSourceFile(path);
          assert.ok(result.ok);
          const text = textOf(result.value);
          result.value.close();
          assert.equal(text, parts.map((part) => Buffer.from(part).toString()).join(''));
        },
      ),
      { numRuns: runsOf(40) },
    );
  });

  test('content larger than any buffer comes out whole', async (context) => {
    const content = Buffer.alloc(3_000_001, 'a line that is long enough\n');
    for (const bytes of [gzipSync(content), zstdCompressSync(content)]) {
      const { file } = await opened(context, bytes);
      assert.ok(content.equals(file.read(0, file.sizeBytes)));
    }
  });
});

suite('what cannot be unpacked whole is refused', () => {
  const gzip = gzipSync(TEXT.repeat(9));
  const zstd = withChecksum(TEXT.repeat(9));
  const flipped = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(copy.length + at) ^ 1, copy.length + at);
    return copy;
  };
  for (const [what, bytes, compression, problem] of [
    ['gzip without its last byte', gzip.subarray(0, -1), 'gzip', 'cut-off'],
    ['gzip of which only the magic number is there', gzip.subarray(0, 2), 'gzip', 'cut-off'],
    ['gzip whose second member has only begun', joined(gzip, gzip.subarray(0, 1)), 'gzip', 'cut-off'],
    ['zstd without its last byte', zstd.subarray(0, -1), 'zstd', 'cut-off'],
    ['zstd of which only the magic number is there', zstd.subarray(0, 4), 'zstd', 'cut-off'],
    ['zstd whose second frame has only begun', joined(zstd, zstd.subarray(0, 3)), 'zstd', 'cut-off'],
    ['zstd whose second frame is half there', joined(zstd, zstd.subarray(0, 12)), 'zstd', 'cut-off'],
    [
      'zstd whose last frame to be skipped is half there',
      joined(zstd, skippable('abc').subarray(0, 10)),
      'zstd',
      'cut-off',
    ],
    ['gzip whose checksum does not fit', flipped(gzip, -5), 'gzip', 'broken'],
    ['zstd whose checksum does not fit', flipped(zstd, -1), 'zstd', 'broken'],
    ['text behind gzip', joined(gzip, 'junk'), 'gzip', 'trailing'],
    ['NULs behind gzip, as a power loss leaves them', joined(gzip, Buffer.alloc(20)), 'gzip', 'trailing'],
    ['text behind zstd', joined(zstd, '{"a":1}\n'), 'zstd', 'trailing'],
    ['zstd behind gzip', joined(gzip, zstd), 'gzip', 'trailing'],
    ['gzip behind zstd', joined(zstd, gzip), 'zstd', 'trailing'],
    // A window of 2 GiB: descriptor 0xa8, 2^(10 + 21).
    ['zstd that wants very much memory', Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0), 'zstd', 'too-wide'],
  ] as const) {
    test(what, async (context) => {
      assert.deepEqual(await refused(context, bytes), { kind: 'damaged', compression, problem });
    });
  }
});

suite('while a packed file is open', () => {
  test('nothing of its content stands in the folder for temporary files', async (context) => {
    const before = env['TMPDIR'];
    const folder = folderWith(context, { 'tmp/': '' });
    env['TMPDIR'] = join(folder, 'tmp');
    context.after(() => {
      if (before === undefined) delete env['TMPDIR'];
      else env['TMPDIR'] = before;
    });
    const path = join(folder, 'talk');
    writeFileSync(path, gzipSync(TEXT));
    const result = await openSourceFile(path);
    assert.ok(result.ok);
    assert.deepEqual([readdirSync(join(folder, 'tmp')), textOf(result.value)], [[], TEXT]);
    result.value.close();
    assert.doesNotThrow(() => result.value.close());
    rmSync(join(folder, 'tmp'), { recursive: true });
    assert.deepEqual(await openSourceFile(path), {
      ok: false,
      error: { kind: 'no-room', path, folder: join(folder, 'tmp'), code: 'ENOENT' },
    });
  });

  test('an interruption ends the unpacking', async (context) => {
    const path = join(folderWith(context, {}), 'talk');
    writeFileSync(path, zstdCompressSync(Buffer.alloc(5_000_000, 'a')));
    await assert.rejects(openSourceFile(path, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });
});
