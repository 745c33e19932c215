import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { deflateRawSync, zstdCompressSync } from 'node:zlib';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { readZip } from '../../../src/adapters/fs/zip.ts';
import type { Result } from '../../../src/core/result.ts';
import type { FileFailure } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';
import { zipOf, type ZipLayout } from '../../support/zip.ts';

const START = JSON.stringify({ version: 2, eval: { task: 'mill' }, plan: {} });
const sampleText = (indent: number): string =>
  JSON.stringify({ id: 1, epoch: 1, messages: [{ role: 'user', content: 'Mend "it" \u2014 {}[],' }] }, null, indent);
const MEMBERS = [
  ['_journal/start.json', START],
  ['samples/1_epoch_1.json', '{"id":1,"messages":[]}'], // superseded below
  ['samples/1_epoch_1.json', sampleText(2)],
  ['samples/ä_epoch_2.json', sampleText(0)],
  ['samples/2_epoch_1/sample.json', '{"id":2}'],
  ['header.json', `{"version":2,"status":"success","eval":{"task":"mill"}}\n`],
] as const satisfies Parameters<typeof zipOf>[0];

async function open(
  context: TestContext,
  zip: Buffer,
  maxUnpackedBytes?: number,
): Promise<Result<{ readonly text: Buffer; readonly path: string }, FileFailure>> {
  const path = join(folderWith(context, {}), 'log.eval');
  writeFileSync(path, zip);
  const opened = await createFileStore({ maxUnpackedBytes }).open(path);
  if (!opened.ok) return opened;
  const { sizeBytes, read, close } = opened.value;
  const text = Buffer.from(read(0, sizeBytes));
  close();
  return { ok: true, value: { text, path } };
}

/** Writes a document as a log, in pieces of this size. */
async function written(path: string, text: Buffer, pieceBytes: number): Promise<Buffer> {
  const lock = await createFileStore().lock(path);
  assert.ok(lock.ok);
  const begun = await lock.value.begin(path, 'eval');
  assert.ok(begun.ok);
  for (let at = 0; at < text.length; at += pieceBytes) begun.value.write(text.subarray(at, at + pieceBytes));
  assert.deepEqual(await begun.value.catchUp('end'), { ok: true, value: undefined });
  assert.ok(begun.value.drain().ok);
  assert.ok((await begun.value.takePlace(null)).ok);
  begun.value.close();
  lock.value.release();
  return readFileSync(path);
}

const LAYOUTS: readonly (readonly [name: string, layout: ZipLayout])[] = [
  ['stored', { method: 'stored' }],
  ['deflate', { method: 'deflate' }],
  ['zip64', { method: 'deflate', isZip64: true }],
  ['zstd, with a comment', { method: 'zstd', comment: 'a comment' }],
  ['zstd in two frames', { method: 'zstd-frames' }],
  ['with a comment that ends like ours', { method: 'deflate', comment: 'made by compact:' }],
  ['with a comment like ours that names a member', { method: 'deflate', comment: `compact:Bg==:${'0'.repeat(64)}` }],
  ['with a comment like ours that names no member', { method: 'stored', comment: `compact:AAAA:${'0'.repeat(64)}` }],
];

for (const [name, layout] of LAYOUTS)
  test(`a log of Inspect AI (${name}) is one document, and the same bytes again`, async (context) => {
    const zip = zipOf(MEMBERS, layout);
    const opened = await open(context, zip);
    assert.ok(opened.ok);
    const { path, text } = opened.value;
    const { version, status, samples } = JSON.parse(text.toString('utf8'));
    assert.deepEqual([version, status, samples.length], [2, 'success', MEMBERS.length]);
    const read = samples.flatMap((sample: { messages?: unknown }) => (sample.messages === undefined ? [] : [sample]));
    assert.deepEqual(
      read.map(({ compact_zip: _zip, compact_packed: _packed, ...sample }: { [key: string]: unknown }) => sample),
      [JSON.parse(sampleText(2)), JSON.parse(sampleText(0))],
    );
    for (const pieceBytes of [1, 997, text.length]) assert.ok((await written(path, text, pieceBytes)).equals(zip));
  });

suite('a zip file that could not be written again byte for byte, or is damaged', () => {
  const zip = zipOf(MEMBERS);
  const at = (place: number, change: (byte: number) => number): Buffer => {
    const copy = Buffer.from(zip);
    copy[place] = change(copy[place] ?? 0);
    return copy;
  };
  const sampleData = zip.indexOf('samples/ä') + 'samples/ä_epoch_2.json'.length + 3;
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ['cut off', zip.subarray(0, -30), 'arranged-otherwise'],
    ['bytes between members', zipOf(MEMBERS, { gap: 'xx' }), 'arranged-otherwise'],
    ['data descriptors', at(6, () => 8), 'arranged-otherwise'],
    ['something behind the end', Buffer.concat([zip, Buffer.from('x')]), 'arranged-otherwise'],
    ['a sample with a wrong bit', at(sampleData, (byte) => byte ^ 4), 'broken'],
    ['samples that are larger than they say', zipOf(MEMBERS, { claimed: { 'samples/1_epoch_1.json': 10 } }), 'broken'],
    ['no journal and no header', zipOf([['samples/1_epoch_1.json', sampleText(0)]]), 'broken'],
  ];
  for (const [name, bytes, problem] of cases)
    test(`${name}: it is refused`, async (context) => {
      const opened = await open(context, bytes);
      assert.ok(!opened.ok && opened.error.kind === 'damaged');
      assert.deepEqual([opened.error.compression, opened.error.problem], ['eval', problem]);
    });
});

test('a zip bomb is refused before it is unpacked', async (context) => {
  const zip = zipOf(MEMBERS, { claimed: { 'samples/1_epoch_1.json': 100 * 1024 ** 2 } });
  const opened = await open(context, zip);
  assert.equal(!opened.ok && opened.error.kind, 'unpacks-too-large');
  const small = await open(context, zipOf(MEMBERS), 1000);
  assert.equal(!small.ok && small.error.kind, 'unpacks-too-large');
});

test('a member that is too large to read is refused before it is read', async (context) => {
  const opened = await open(
    context,
    zipOf([...MEMBERS, ['media/film', 'x'.repeat(129 * 1024 ** 2)]], { method: 'stored' }),
  );
  assert.equal(!opened.ok && opened.error.kind, 'member-too-large');
});

test('a sample that could pass for a part of the document stays packed', async (context) => {
  const zip = zipOf([...MEMBERS, ['samples/9_epoch_1.json', '{"id":9,"messages":[\n{"compact_zip":"x"}]}']]);
  const opened = await open(context, zip);
  assert.ok(opened.ok);
  const { samples } = JSON.parse(opened.value.text.toString('utf8'));
  assert.deepEqual(Object.keys(samples.at(-1)), ['compact_zip', 'data']);
  assert.ok((await written(opened.value.path, opened.value.text, 64)).equals(zip));
});

suite('a record that looks like packed bytes', () => {
  const record = (packed: Buffer, method: number, size: number): Buffer =>
    Buffer.from(`{"packed":"${packed.toString('base64')}","method":${method},"size":${size}}`);
  const text = Buffer.from('Mend it.'.repeat(50));
  const packed = deflateRawSync(text);
  const { unpackRecord } = createFileStore();

  test('is unpacked if it is one', async () => {
    assert.deepEqual(await unpackRecord(record(packed, 8, text.length)), text);
    assert.deepEqual(await unpackRecord(record(zstdCompressSync(text), 93, text.length)), text);
  });

  const cases: readonly (readonly [string, Buffer])[] = [
    ['no such data', record(Buffer.from('ABCDEFGH'), 8, 9)],
    ['no frame of zstd', record(Buffer.from('ABCDEFGH'), 93, 9)],
    ['an unknown method', record(packed, 12, text.length)],
    ['a smaller size', record(packed, 8, text.length - 1)],
    ['a larger size', record(packed, 8, text.length + 1)],
    ['a size above the limit', record(packed, 8, 2_100_000_000)],
    ['no numbers', Buffer.from('{"packed":"QUJDREVGR0g="} and nothing else')],
    ['no end', Buffer.from('{"packed":"QUJDREVGR0g')],
  ];
  for (const [name, bytes] of cases)
    test(`is left alone with ${name}`, async () => assert.equal(await unpackRecord(bytes), null));
});

test('a zip file with any number changed is refused or read, and never a crash', () => {
  for (const isZip64 of [false, true]) {
    const zip = zipOf(MEMBERS.slice(0, 2), { isZip64 });
    for (let at = 0; at < zip.length; at += 1)
      for (const length of [1, 4, 8]) {
        const changed = Buffer.from(zip).fill(0xff, at, Math.min(at + length, zip.length));
        const read = (start: number, size: number): Buffer => changed.subarray(start, start + size);
        assert.doesNotThrow(() => readZip(read, changed.length), `${length} bytes at ${at}`);
      }
  }
});
