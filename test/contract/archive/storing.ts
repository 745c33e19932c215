import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LineDraft } from '../../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { type Engine, applied, linesOf, stored } from './engine.ts';

export function storeContract(engine: Engine): void {
  test('a compaction comes back as it was stored', async (t) => {
    const archive = await engine.open(t);
    const draft = compactionDraft(5, {
      format: 'claude-code',
      source: { sha256: sha256('a'), sizeBytes: 5_000_000_000, lineCount: 5, hasBom: true },
      output: { sha256: sha256('b'), sizeBytes: 77 },
      settings: '{"chunk_size":20}',
      settingsSha256: sha256('{"chunk_size":20}'),
      inserted: [
        { beforeLine: 4, bytes: utf8('{"clip":1}\r\n') },
        { beforeLine: 4, bytes: new Uint8Array(0) },
      ],
      kept: [
        { firstLine: 1, lineCount: 1, sizeBytes: 9, lineSha256: [sha256('one').slice(0, 32)] },
        {
          firstLine: 4,
          lineCount: 2,
          sizeBytes: 20,
          lineSha256: [sha256('four').slice(0, 32), sha256('five').slice(0, 32)],
        },
      ],
    });
    const id = await stored(archive, draft, [lineDraft(2), lineDraft(3)]);
    const { cycles: cycleDrafts, carried: _, run: _run, ...rest } = draft;
    const [cycle] = cycleDrafts;
    assert.ok(cycle);
    const { sources, ...batch } = batchDraft();
    const label = 'compaction-batch-harbor-2026-03-01T09:30:00.000Z';
    const found = { ...batch, id: 1, label, level: 'plain', contentSha256: sha256(batch.content) };
    const { newBatches: _made, ...cycleRest } = cycle;
    assert.deepEqual(await archive.loadCompaction(id), {
      ...rest,
      id,
      status: 'prepared',
      erased: null,
      inserted: draft.inserted.map((line) => ({ ...line, erasedSha256: null })),
      cycles: [
        {
          ...cycleRest,
          id: 1,
          compactionId: id,
          parentCompactionId: null,
          isErased: false,
          live: [found],
          made: [{ ...found, sources }],
        },
      ],
    });
  });

  test('an unknown compaction is null', async (t) => {
    assert.equal(await (await engine.open(t)).loadCompaction(1), null);
  });

  test('a batch without times and indices comes back without them', async (t) => {
    const archive = await engine.open(t);
    const { firstIndex: _first, lastIndex: _last, ...plain } = batchDraft({ startTime: null, endTime: null });
    const id = await stored(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches: [plain] })] }), [
      lineDraft(1),
    ]);
    const { sources: _sources, ...expected } = plain;
    assert.deepEqual((await archive.loadCompaction(id))?.cycles[0]?.live, [
      {
        ...expected,
        id: 1,
        label: 'compaction-batch-harbor-cycle-1-1',
        level: 'plain',
        contentSha256: sha256(expected.content),
      },
    ]);
  });

  test('text with lone surrogates, NUL and line separators comes back exactly', async (t) => {
    const archive = await engine.open(t);
    const odd = 'a\ud800b\0c\udfff\u2028 \ufffd é 🙂';
    const draft = compactionDraft(1, {
      sourcePath: odd,
      outputPath: null,
      settings: odd,
      cycles: [cycleDraft({ conversationId: odd, newBatches: [batchDraft({ content: odd })] })],
    });
    const found = await archive.loadCompaction(await stored(archive, draft, [lineDraft(1)]));
    assert.deepEqual(
      [
        found?.sourcePath,
        found?.outputPath,
        found?.settings,
        found?.cycles[0]?.conversationId,
        found?.cycles[0]?.live[0]?.content,
      ],
      [odd, null, odd, odd, odd],
    );
  });

  test('a re-summarized batch keeps its sources, of this compaction and of earlier ones', async (t) => {
    const archive = await engine.open(t);
    const first = await applied(archive, compactionDraft(1), [lineDraft(1)]);
    const second = await stored(
      archive,
      compactionDraft(1, {
        cycles: [
          cycleDraft({
            cycle: 2,
            parentCycleId: 1,
            newBatches: [
              batchDraft({ content: 'newer' }),
              batchDraft({
                content: 'joined',
                depth: 1,
                sources: [
                  { kind: 'stored', id: 1 },
                  { kind: 'new', position: 0 },
                ],
              }),
            ],
            live: [{ kind: 'new', position: 1 }],
          }),
        ],
      }),
      [lineDraft(1)],
    );
    const [cycle] = (await archive.loadCompaction(second))?.cycles ?? [];
    assert.deepEqual(
      [
        cycle?.parentCycleId,
        cycle?.live.map(({ content }) => content),
        cycle?.made.map(({ id, sources }) => ({ id, sources })),
      ],
      [
        1,
        ['joined'],
        [
          { id: 2, sources: [] },
          { id: 3, sources: [1, 2] },
        ],
      ],
    );
    assert.deepEqual(
      (await archive.loadCompaction(first))?.cycles[0]?.live.map(({ id }) => id),
      [1],
    );
  });

  test('several conversations of one file keep their own batches, in order', async (t) => {
    const archive = await engine.open(t);
    const cycles = ['a', 'b'].map((conversationId) =>
      cycleDraft({ conversationId, clipSha256: sha256(conversationId) }),
    );
    const id = await stored(archive, compactionDraft(2, { cycles }), [
      lineDraft(1, { cycle: 1 }),
      lineDraft(2, { cycle: 0 }),
    ]);
    assert.deepEqual(
      (await archive.loadCompaction(id))?.cycles.map(({ conversationId, made }) => ({
        conversationId,
        batches: made.map((one) => one.id),
      })),
      [
        { conversationId: 'a', batches: [1] },
        { conversationId: 'b', batches: [2] },
      ],
    );
    assert.deepEqual(
      (await linesOf(archive, id)).map(({ line, cycleId, batchId }) => ({ line, cycleId, batchId })),
      [
        { line: 1, cycleId: 2, batchId: 2 },
        { line: 2, cycleId: 1, batchId: 1 },
      ],
    );
  });

  test('a live batch whose row was deleted by hand is missing from the list, and the rest loads', async (t) => {
    const archive = await engine.open(t);
    const newBatches = [batchDraft({ content: 'one' }), batchDraft({ content: 'two' })];
    const live = [0, 1].map((position) => ({ kind: 'new', position }) as const);
    const id = await applied(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches, live })] }), [
      lineDraft(1),
    ]);
    await engine.execute(archive, 'DELETE FROM batches WHERE id = 1');
    const [cycle] = (await archive.loadCompaction(id))?.cycles ?? [];
    assert.deepEqual(
      [cycle?.live.map(({ content }) => content), cycle?.made.map(({ content }) => content)],
      [['two'], ['two']],
    );
    assert.deepEqual(
      (await linesOf(archive, id)).map(({ line, cycleId }) => ({ line, cycleId })),
      [{ line: 1, cycleId: null }],
    );
  });

  test('an error of the lines comes through unchanged and nothing is stored', async (t) => {
    const archive = await engine.open(t);
    const error = new Error('of the lines');
    function* lines(): IterableIterator<LineDraft> {
      for (let line = 1; line <= 250; line += 1) yield lineDraft(line, { message: messageDraft() });
      throw error;
    }
    await assert.rejects(
      async () => stored(archive, compactionDraft(500), lines()),
      (thrown) => thrown === error,
    );
    assert.equal(await archive.loadCompaction(1), null);
    assert.deepEqual(await linesOf(archive, 1), []);
  });

  test('a compaction can be stored after one that failed', async (t) => {
    const archive = await engine.open(t);
    await assert.rejects(async () => stored(archive, compactionDraft(2), [lineDraft(1)]));
    const id = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    assert.equal((await linesOf(archive, id)).length, 1);
  });

  test('lines may be read from the archive while others are stored', async (t) => {
    const archive = await engine.open(t);
    const first = await applied(
      archive,
      compactionDraft(3),
      [1, 2, 3].map((line) => lineDraft(line)),
    );
    const writer = await archive.begin({ batchCounts: [1] });
    for (const { line, bytes } of await linesOf(archive, first)) await writer.append([lineDraft(line, { bytes })]);
    const { id: second } = await writer.commit(compactionDraft(3));
    const bytesOf = async (id: number): Promise<readonly Uint8Array[]> =>
      (await linesOf(archive, id)).map(({ bytes }) => bytes);
    assert.deepEqual(await bytesOf(second), await bytesOf(first));
  });

  const backwards = [batchDraft({ sources: [{ kind: 'new', position: 1 }] }), batchDraft()];
  for (const [what, draft, line, message] of [
    [
      'a summarized line without a batch',
      {},
      { batch: null },
      'source line 1 is summarized, but in no batch (cycle 0, batch null)',
    ],
    [
      'a line of an unknown cycle',
      {},
      { outcome: 'other', cycle: 3, batch: null },
      'source line 1 is of cycle 3, of 1',
    ],
    ['a hash that is none', { settingsSha256: 'abc' }, {}, 'not a sha256 in hex: "abc"'],
    [
      'a batch that replaces one that was made after it',
      { cycles: [cycleDraft({ newBatches: backwards })] },
      {},
      'no new batch at position 1',
    ],
  ] as const)
    test(`${what} is a bug, and nothing is stored`, async (t) => {
      const archive = await engine.open(t);
      await assert.rejects(async () => stored(archive, compactionDraft(1, draft), [lineDraft(1, line)]), { message });
      assert.equal(await archive.loadCompaction(1), null);
    });
}
