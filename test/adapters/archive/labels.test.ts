import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildLabel } from '../../../src/adapters/archive/store/compactions.ts';
import { makeUnique } from '../../../src/adapters/archive/store/rows.ts';
import { applied, batchDraft, compactionDraft, cycleDraft, lineDraft, tempArchive } from './drafts.ts';

const PLACE = { conversationId: 'harbor', cycle: 2, position: 0 };

test('a label names the conversation and the end of the batch', () => {
  assert.equal(buildLabel({ ...PLACE, batch: batchDraft() }), 'compaction-batch-harbor-2026-03-01T09:30:00.000Z');
});

test('without times a label names the messages', () => {
  const batch = batchDraft({ endTime: null, firstIndex: 21, lastIndex: 40 });
  assert.equal(buildLabel({ ...PLACE, batch }), 'compaction-batch-harbor-messages-21-40');
});

test('a time that is no time counts as none', () => {
  const batch = batchDraft({ endTime: new Date('never'), firstIndex: 21, lastIndex: 40 });
  assert.equal(buildLabel({ ...PLACE, batch }), 'compaction-batch-harbor-messages-21-40');
});

test('without times and indices a label names the cycle', () => {
  const { firstIndex: _first, lastIndex: _last, ...batch } = batchDraft({ endTime: null });
  assert.equal(buildLabel({ ...PLACE, batch }), 'compaction-batch-harbor-cycle-2-1');
});

test('a label can be typed even where the conversation id has a lone surrogate', () => {
  const label = buildLabel({ ...PLACE, conversationId: 'x\ud800', batch: batchDraft() });
  assert.equal(label, 'compaction-batch-x\ufffd-2026-03-01T09:30:00.000Z');
});

test('labels that would collide are numbered, within a compaction and across them', async (t) => {
  const archive = tempArchive(t);
  const cycles = [cycleDraft({ newBatches: [batchDraft(), batchDraft()] })];
  const ids: number[] = [];
  for (let times = 0; times < 2; times += 1)
    ids.push(await applied(archive, compactionDraft(1, { cycles }), [lineDraft(1)]));
  const stem = 'compaction-batch-harbor-2026-03-01T09:30:00.000Z';
  const compactions = await Promise.all(ids.map((id) => archive.port.loadCompaction(id)));
  assert.deepEqual(
    compactions.flatMap((one) => one?.cycles[0]?.made.map(({ label }) => label)),
    [stem, `${stem}-2`, `${stem}-3`, `${stem}-4`],
  );
});

test('a label that thousands share is numbered without asking for each of them', () => {
  const asked: string[] = [];
  const isTaken = (label: string): boolean => {
    asked.push(label);
    return label === 'x' || Number(label.slice(2)) <= 5000;
  };
  assert.equal(makeUnique('x', isTaken), 'x-5001');
  assert.ok(asked.length < 30, `asked ${asked.length} times`);
});
