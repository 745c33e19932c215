import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { collect } from '../../support/collect.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  rejectedFailure,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { applied, type Engine, linesOf } from './engine.ts';

async function originals(archive: Archive, batchId: number): Promise<readonly string[]> {
  return (await collect(archive.readOriginals(batchId))).flat().map(({ bytes }) => Buffer.from(bytes).toString());
}

/** Two cycles: batches 1 and 2, a line that stayed word for word; then batch 3 of that line and a new one, and batch 4 of 1, 2 and 3. */
async function twoCycles(archive: Archive): Promise<void> {
  const text = (name: string): { readonly bytes: Uint8Array } => ({ bytes: utf8(`${name}\r\n`) });
  await applied(archive, compactionDraft(5, { cycles: [cycleDraft({ newBatches: [batchDraft(), batchDraft()] })] }), [
    lineDraft(1, { ...text('one'), batch: 1 }),
    lineDraft(2, { ...text('two'), batch: 0 }),
    lineDraft(3, { ...text('kept'), batch: null, outcome: 'quoted' }),
    lineDraft(4, { ...text('title'), batch: null, outcome: 'other' }),
    lineDraft(5, { ...text('three'), batch: 1 }),
  ]);
  const sources = [
    { kind: 'stored', id: 1 },
    { kind: 'stored', id: 2 },
    { kind: 'new', position: 0 },
  ] as const;
  const newBatches = [batchDraft(), batchDraft({ depth: 1, sources })];
  const second = cycleDraft({ cycle: 2, parentCycleId: 1, clipSha256: sha256('2'), newBatches });
  await applied(archive, compactionDraft(1, { cycles: [second], carried: [{ lineId: 3, cycle: 0, batch: 0 }] }), [
    lineDraft(1, text('four')),
  ]);
}

export function originalsContract(engine: Engine): void {
  test('short lines of a large block are read, however well it was compressed', async (t) => {
    const archive = await engine.open(t);
    const lines = Array.from({ length: 300 }, (_, at) => utf8(`${at} ${'the harbor lamp '.repeat(150)}\n`));
    const drafts = lines.map((bytes, at) => lineDraft(at + 1, { bytes }));
    await applied(archive, compactionDraft(300), drafts);
    const ids = [1, 2];
    for (let times = 0; times < 2; times += 1) {
      const heads = await archive.readHeads(ids, 20_000);
      assert.deepEqual(
        ids.map((id) => Buffer.from(heads.get(id) ?? []).toString()),
        ids.map((id) => Buffer.from(lines[id - 1] ?? []).toString()),
      );
    }
  });

  test('the lines behind a batch come in the order in which they stood, byte for byte', async (t) => {
    const archive = await engine.open(t);
    await twoCycles(archive);
    assert.deepEqual(
      [await originals(archive, 1), await originals(archive, 2)],
      [['two\r\n'], ['one\r\n', 'three\r\n']],
    );
  });

  test('a line that was carried from an earlier clip-archive is behind the batch that took it up', async (t) => {
    const archive = await engine.open(t);
    await twoCycles(archive);
    assert.deepEqual(await originals(archive, 3), ['kept\r\n', 'four\r\n']);
  });

  test('behind a merged batch are the lines of all its sources, each once', async (t) => {
    const archive = await engine.open(t);
    await twoCycles(archive);
    assert.deepEqual(await originals(archive, 4), ['one\r\n', 'two\r\n', 'kept\r\n', 'three\r\n', 'four\r\n']);
  });

  test('a batch that names itself as its source is read once', async (t) => {
    const archive = await engine.open(t);
    await twoCycles(archive);
    await engine.execute(
      archive,
      'INSERT INTO batch_sources (batch_id, position, source_id) VALUES (1, 9, 4), (4, 9, 4)',
    );
    assert.equal((await originals(archive, 4)).length, 5);
  });

  test('a line that is not what was stored is damage, and so is one that is missing', async (t) => {
    const archive = await engine.open(t);
    await twoCycles(archive);
    await engine.execute(
      archive,
      'UPDATE lines SET sha256 = (SELECT substr(source_sha256, 1, 16) FROM compactions WHERE id = 1) WHERE id = 1',
    );
    const reason = 'archived source line 1 differs from its hash';
    const damage = { kind: 'damaged', path: archive.path, reason };
    assert.deepEqual(await rejectedFailure(() => originals(archive, 2)), damage);
    assert.deepEqual(await rejectedFailure(() => archive.readLine(1)), damage);
    assert.deepEqual(await rejectedFailure(() => linesOf(archive, 1)), damage);
    assert.equal((await rejectedFailure(() => archive.readLine(99))).kind, 'damaged');
  });

  test('heads of lines are their first bytes, however long and however well packed the lines are', async (t) => {
    const archive = await engine.open(t);
    const noise = randomBytes(1_200_000);
    const contents = [utf8('short\n'), new Uint8Array(8_000_000).fill(65), noise, utf8('last\n')];
    const message = messageDraft();
    await applied(
      archive,
      compactionDraft(4),
      contents.map((bytes, at) => lineDraft(at + 1, { bytes, message })),
    );
    const maxBytes = 1024 * 1024;
    const heads = await archive.readHeads([1, 2, 3, 4], maxBytes);
    assert.deepEqual([heads.get(1), heads.get(4)], [contents[0], contents[3]]);
    assert.ok(Buffer.from(heads.get(3) ?? []).equals(noise.subarray(0, maxBytes)));
    const many = heads.get(2) ?? new Uint8Array();
    assert.ok(many.length > 0 && many.length <= maxBytes && many.every((byte) => byte === 65), `${many.length} bytes`);
    assert.ok(Buffer.from(await archive.readLine(3)).equals(noise));
  });
}
