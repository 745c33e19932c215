import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Archive, LineDraft } from '../../../src/ports/archive.ts';
import {
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  rejectedFailure,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { type Engine, applied, linesOf, stored } from './engine.ts';

export async function storeBytes(archive: Archive, contents: readonly Uint8Array[]): Promise<number> {
  return await stored(
    archive,
    compactionDraft(contents.length),
    contents.map((bytes, at) => lineDraft(at + 1, { bytes })),
  );
}

export async function readBytes(archive: Archive, id: number): Promise<readonly Uint8Array[]> {
  return (await linesOf(archive, id)).map(({ bytes }) => bytes);
}

/** Big arrays are not compared as they are: the difference of two of them takes minutes to print. */
export function fingerprint(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${sha256(bytes)}`;
}

export function lineContract(engine: Engine): void {
  test('a line comes back with all that is known of it', async (t) => {
    const archive = await engine.open(t);
    const bytes = utf8('{"odd":"\u2028"}\r\n');
    const id = await stored(archive, compactionDraft(1), [
      lineDraft(1, { bytes, message: messageDraft({ index: 7 }) }),
    ]);
    assert.deepEqual(await linesOf(archive, id), [
      { id: 1, line: 1, outcome: 'summarized', cycleId: 1, batchId: 1, bytes, messageIndex: 7, erased: null },
    ]);
  });

  test('any lines of any outcome come back in order', async (t) => {
    const archive = await engine.open(t);
    const line = fc.record({
      bytes: fc.uint8Array({ maxLength: 2000 }),
      outcome: fc.constantFrom('summarized', 'other', 'quoted'),
      isLoose: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 250 }), async (drafts) => {
        const lines = drafts.map(({ bytes, outcome, isLoose }, at) =>
          lineDraft(
            at + 1,
            outcome === 'summarized' ? { bytes, outcome } : { bytes, outcome, cycle: isLoose ? null : 0, batch: null },
          ),
        );
        const id = await stored(archive, compactionDraft(lines.length), lines);
        const cycleId = (await archive.loadCompaction(id))?.cycles[0]?.id ?? 0;
        assert.deepEqual(
          (await linesOf(archive, id)).map(({ line, bytes, outcome, cycleId }) => ({ line, bytes, outcome, cycleId })),
          lines.map(({ line, bytes, outcome, cycle }) => ({
            line,
            bytes,
            outcome,
            cycleId: cycle === null ? null : cycleId,
          })),
        );
      }),
      { numRuns: engine.propertyRuns },
    );
  });

  test('a line may be empty, or the whole of a block', async (t) => {
    const archive = await engine.open(t);
    const contents = [0, 1024 * 1024, 0, 1024 * 1024 + 1, 1, 1024 * 1024 - 1, 2].map((size, at) =>
      new Uint8Array(size).fill(at),
    );
    assert.deepEqual(
      (await readBytes(archive, await storeBytes(archive, contents))).map(fingerprint),
      contents.map(fingerprint),
    );
  });

  test('lines that were read stay as they are while more are read', async (t) => {
    const archive = await engine.open(t);
    const contents = Array.from({ length: 300 }, (_, at) => utf8(`line ${at}\n`));
    const read = await linesOf(archive, await storeBytes(archive, contents));
    assert.deepEqual(
      read.map(({ bytes }) => bytes),
      contents,
    );
  });

  test('the archive can be used while its lines are read, and after a reading that stopped half-way', async (t) => {
    const archive = await engine.open(t);
    const id = await storeBytes(
      archive,
      Array.from({ length: 300 }, (_, at) => utf8(`line ${at}\n`)),
    );
    const reading = archive.readLines(id)[Symbol.asyncIterator]();
    await reading.next();
    await archive.markApplied(id);
    await reading.next();
    await storeBytes(archive, [utf8('more')]);
    assert.equal((await archive.loadCompaction(id))?.status, 'applied');
  });

  test('the lines of an unknown compaction are none', async (t) => {
    assert.deepEqual(await linesOf(await engine.open(t), 9), []);
  });

  test('a block that cannot be decompressed is damage that names its first line', async (t) => {
    const archive = await engine.open(t);
    const id = await storeBytes(
      archive,
      Array.from({ length: 150 }, (_, at) => utf8(`${'wide '.repeat(2000)}${at}\n`)),
    );
    await engine.execute(
      archive,
      'UPDATE packs SET data = (SELECT source_sha256 FROM compactions) WHERE id = (SELECT pack_id FROM blocks WHERE position = 1)',
    );
    assert.deepEqual(await rejectedFailure(() => readBytes(archive, id)), {
      kind: 'damaged',
      path: archive.path,
      reason: 'the block of archived lines that begins with source line 105 cannot be decompressed',
    });
  });

  for (const sizeBytes of [3, 5000]) {
    test(`a block of 4 bytes that should have ${sizeBytes} is damage`, async (t) => {
      const archive = await engine.open(t);
      const id = await storeBytes(archive, [utf8('one\n')]);
      await engine.execute(archive, `UPDATE blocks SET raw_size_bytes = ${sizeBytes}`);
      assert.equal((await rejectedFailure(() => readBytes(archive, id))).kind, 'damaged');
    });
  }

  for (const table of ['blocks', 'lines']) {
    test(`rows of ${table} that were deleted by hand are missed`, async (t) => {
      const archive = await engine.open(t);
      const id = await storeBytes(
        archive,
        Array.from({ length: 150 }, (_, at) => utf8(`${'wide '.repeat(2000)}${at}\n`)),
      );
      await engine.execute(archive, `DELETE FROM ${table} WHERE id = 1`);
      assert.equal((await rejectedFailure(() => readBytes(archive, id))).kind, 'damaged');
    });
  }

  test('survivors are those of the whole lineage that no cycle of it has summarized since', async (t) => {
    const archive = await engine.open(t);
    const survivor = (line: number): LineDraft =>
      lineDraft(line, { outcome: 'quoted', batch: null, message: messageDraft({ index: line }) });
    await applied(archive, compactionDraft(4), [
      survivor(1),
      lineDraft(2),
      survivor(3),
      lineDraft(4, { outcome: 'other', batch: null }),
    ]);
    const next = { cycles: [cycleDraft({ cycle: 2, parentCycleId: 1 })], carried: [{ lineId: 1, cycle: 0, batch: 0 }] };
    await applied(archive, compactionDraft(2, next), [lineDraft(1), survivor(2)]);
    const fork = { cycles: [cycleDraft({ cycle: 2, parentCycleId: 1 })] };
    await applied(archive, compactionDraft(1, fork), [lineDraft(1)]);
    const survivorsOf = async (cycleId: number): Promise<readonly number[]> =>
      (await archive.readSurvivors(cycleId)).map(({ id }) => id);
    assert.deepEqual(
      {
        first: await survivorsOf(1),
        second: await survivorsOf(2),
        fork: await survivorsOf(3),
        unknown: await survivorsOf(9),
      },
      {
        first: [1, 3],
        second: [3, 6],
        fork: [1, 3],
        unknown: [],
      },
    );
  });

  test('survivors come with their bytes, from several blocks', async (t) => {
    const archive = await engine.open(t);
    const lines = Array.from({ length: 250 }, (_, at) =>
      lineDraft(at + 1, at % 120 === 0 ? { outcome: 'quoted', batch: null, bytes: utf8(`kept ${at}\n`) } : {}),
    );
    await applied(archive, compactionDraft(250), lines);
    assert.deepEqual(
      (await archive.readSurvivors(1)).map(({ line, bytes }) => ({ line, bytes })),
      [1, 121, 241].map((line) => ({ line, bytes: utf8(`kept ${line - 1}\n`) })),
    );
  });
}
