import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { createRangeReader, openSourceFile } from '../../../src/adapters/fs/file-store.ts';
import type { SourceFile } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';
import { runsOf } from '../../support/runs.ts';

async function opened(
  context: TestContext,
  content: string | Uint8Array,
): Promise<{ readonly file: SourceFile; readonly path: string }> {
  const path = join(folderWith(context, {}), 'source.jsonl');
  writeFileSync(path, content);
  const result = await openSourceFile(path);
  assert.ok(result.ok);
  context.after(() => result.value.close());
  return { file: result.value, path };
}

function textsOf(file: SourceFile, from?: number): readonly string[] {
  return Array.from(file.lines(from), ({ bytes }) => Buffer.from(bytes).toString());
}

suite('a source file', () => {
  test('a byte order mark belongs to no line and counts in the offsets', async (context) => {
    const { file } = await opened(context, '\ufeffa\nb\n');
    assert.equal(file.bomLength, 3);
    assert.deepEqual(
      Array.from(file.lines(), ({ start, bytes }) => [start, Buffer.from(bytes).toString()]),
      [
        [3, 'a\n'],
        [5, 'b\n'],
      ],
    );
  });

  test('two bytes of a byte order mark are data', async (context) => {
    const { file } = await opened(context, Uint8Array.of(0xef, 0xbb));
    assert.equal(file.bomLength, 0);
    assert.equal(Array.from(file.lines()).length, 1);
  });

  test('a file of a byte order mark only has no lines', async (context) => {
    const { file } = await opened(context, '\ufeff');
    assert.deepEqual(textsOf(file), []);
  });

  test('lines can be read again, two at a time, and from the offset of any line', async (context) => {
    const { file } = await opened(context, 'a\nb\nc\n');
    const outer: string[] = [];
    for (const { start, bytes } of file.lines()) {
      outer.push(Buffer.from(bytes).toString());
      assert.equal(textsOf(file, start)[0], outer.at(-1));
    }
    assert.deepEqual(outer, ['a\n', 'b\n', 'c\n']);
  });

  test('a range gives its bytes, and at the end those that there are', async (context) => {
    const { file } = await opened(context, 'abcdef');
    assert.deepEqual([file.read(2, 3), file.read(4, 10), file.read(9, 1), file.read(0, 0)].map(String), [
      'cde',
      'ef',
      '',
      '',
    ]);
  });

  test('what is appended after opening is not read', async (context) => {
    const { file, path } = await opened(context, 'a\n');
    appendFileSync(path, 'b\n');
    assert.deepEqual(textsOf(file), ['a\n']);
    assert.equal(file.stamp.sizeBytes, 2);
  });

  test('a file that was cut shorter after opening gives what is left', async (context) => {
    const { file, path } = await opened(context, 'abc\ndef\n');
    truncateSync(path, 5);
    assert.deepEqual(textsOf(file), ['abc\n', 'd']);
    assert.equal(String(file.read(2, 6)), 'c\nd');
  });

  test('closing twice is closing once', async (context) => {
    const { file } = await opened(context, 'a');
    file.close();
    assert.doesNotThrow(() => file.close());
  });

  test('closing again after a failure closes no file that got the number since', async (context) => {
    const path = join(folderWith(context, { a: 'abc' }), 'a');
    const next = openSync(path, 'r'); // the next file gets its number
    closeSync(next);
    const result = await openSourceFile(path);
    assert.ok(result.ok);
    closeSync(next);
    assert.throws(() => result.value.close(), { code: 'EBADF' });
    const other = openSync(path, 'r');
    assert.equal(other, next);
    result.value.close();
    closeSync(other);
  });

  test('lines joined are the file, a byte order mark aside', async (context) => {
    const folder = folderWith(context, {});
    const path = join(folder, 'any.jsonl');
    const piece = fc.constantFrom('\n', '\r\n', '\r', '\u2028', 'a', '{"b":1}', '\ufeff');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.boolean(), async (pieces, hasBom) => {
        const bytes = Buffer.from(`${hasBom ? '\ufeff' : ''}${pieces.join('')}`);
        writeFileSync(path, bytes);
        const result = await openSourceFile(path);
        assert.ok(result.ok);
        const file = result.value;
        const lines = Array.from(file.lines(), (raw) => Uint8Array.from(raw.bytes));
        file.close();
        assert.deepEqual(Buffer.concat([bytes.subarray(0, file.bomLength), ...lines]), bytes);
      }),
      { numRuns: runsOf(60) },
    );
  });
});

suite('what cannot be opened', () => {
  test('a file that is not there', async (context) => {
    const path = join(folderWith(context, {}), 'none.jsonl');
    assert.deepEqual(await openSourceFile(path), { ok: false, error: { kind: 'not-found', path } });
  });

  test('a path that goes through a file', async (context) => {
    const path = join(folderWith(context, { file: '' }), 'file', 'below');
    assert.deepEqual(await openSourceFile(path), { ok: false, error: { kind: 'not-found', path } });
  });

  test('a folder', async (context) => {
    const path = folderWith(context, {});
    assert.deepEqual(await openSourceFile(path), { ok: false, error: { kind: 'not-a-file', path, is: 'a folder' } });
  });

  test('a pipe that nobody writes to, without waiting for one', async (context) => {
    const path = join(folderWith(context, {}), 'pipe');
    execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
    assert.deepEqual(await openSourceFile(path), { ok: false, error: { kind: 'not-a-file', path, is: 'a pipe' } });
  });

  test('a device', async () => {
    const path = '/dev/null';
    assert.deepEqual(await openSourceFile(path), { ok: false, error: { kind: 'not-a-file', path, is: 'a device' } });
  });

  test('a socket', async (context) => {
    const path = join(folderWith(context, {}), 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const result = await openSourceFile(path);
    await new Promise((resolve) => server.close(resolve));
    assert.deepEqual(result, { ok: false, error: { kind: 'not-a-file', path, is: 'a socket' } });
  });

  test('a link that leads in a circle', async (context) => {
    const folder = folderWith(context, {});
    const path = join(folder, 'a');
    symlinkSync('a', path);
    assert.deepEqual(await openSourceFile(path), {
      ok: false,
      error: { kind: 'not-a-file', path, is: 'a circle of links' },
    });
  });
});

/** A file in memory that counts how often it is read. */
function fileOf(content: Uint8Array): {
  readonly read: (start: number, length: number) => Uint8Array;
  readonly asked: { times: number };
} {
  const asked = { times: 0 };
  const fill = (into: Uint8Array, position: number): number => {
    asked.times += 1;
    const bytes = content.subarray(position, position + into.length);
    into.set(bytes);
    return bytes.length;
  };
  return { read: createRangeReader(fill, content.length), asked };
}

const content = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 251);

const range = fc.record({ start: fc.nat(310_000), length: fc.oneof(fc.nat(2000), fc.nat(140_000)), more: fc.nat(5) });

suite('ranges of a file', () => {
  test('any range, in any order, gives the bytes that stand there, and what was given before stays as it was', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 20 }), (ranges) => {
        const { read } = fileOf(content);
        const given = ranges.flatMap(({ start, length, more }) =>
          Array.from({ length: more + 1 }, (_, times) => start + times * length).map((at) => ({
            bytes: read(at, length),
            expected: content.slice(at, at + length),
          })),
        );
        for (const { bytes, expected } of given) assert.ok(Buffer.from(bytes).equals(expected));
      }),
    );
  });

  test('small ranges, one after the other, come from few readings of the file', () => {
    const { read, asked } = fileOf(content);
    for (let at = 0; at < 100_000; at += 100) read(at, 100);
    assert.equal(asked.times, 3); // the first, and two windows
  });

  test('a range that stands alone is read alone', () => {
    const { read, asked } = fileOf(content);
    for (const at of [200_000, 100, 250_000]) read(at, 100);
    assert.equal(asked.times, 3);
  });

  test('a file that was cut off since gives what is left of it', () => {
    const cut = createRangeReader((into, position) => {
      const bytes = content.subarray(Math.min(position, 250), Math.min(position + into.length, 250));
      into.set(bytes);
      return bytes.length;
    }, content.length);
    assert.deepEqual(
      [0, 100, 200, 300].map((at) => cut(at, 100).length),
      [100, 100, 50, 0],
    );
  });
});
