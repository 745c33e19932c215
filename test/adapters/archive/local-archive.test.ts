import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeLines } from '../../../src/app/compact/archive-lines.ts';
import { applied, compactionDraft, lineDraft, messageDraft, rejectedFailure, tempArchive } from './drafts.ts';

const OUTLINE = { batchCounts: [1] };

test('a compaction that is being stored is not seen before it is complete', async (t) => {
  const { port } = tempArchive(t);
  const writer = await port.begin(OUTLINE);
  await writer.append([lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
  assert.deepEqual([await port.listPrepared(), await port.messages.countMessages()], [[], 0]);
  const { id } = await writer.commit(compactionDraft(1));
  assert.deepEqual(
    (await port.listPrepared()).map((one) => one.id),
    [id],
  );
  assert.equal(await port.messages.countMessages(), 1);
});

test('nothing stays of a compaction that is abandoned', async (t) => {
  const { port } = tempArchive(t);
  const writer = await port.begin(OUTLINE);
  await writer.append([lineDraft(1)]);
  await writer.abandon();
  await writer.abandon();
  await assert.rejects(writer.commit(compactionDraft(1)), /stored or abandoned before/);
  assert.deepEqual(await port.listPrepared(), []);
});

test('what is stored at the same time does not wait, and gets its ids in the order of the commits', async (t) => {
  const { port } = tempArchive(t);
  const writer = await port.begin(OUTLINE);
  await writer.append([lineDraft(1)]);
  const second = await storeLines(port, compactionDraft(1), [lineDraft(1)]);
  assert.deepEqual([second.id, (await writer.commit(compactionDraft(1))).id], [1, 2]);
});

test('writing goes on after a write that failed', async (t) => {
  const { port } = tempArchive(t);
  const writer = await port.begin(OUTLINE);
  await writer.append([lineDraft(1)]);
  await assert.rejects(writer.commit(compactionDraft(2)), { message: '1 lines are kept or archived of a source of 2' });
  assert.equal((await rejectedFailure(() => port.markApplied(1))).kind, 'damaged');
  const { id, archiveBytes } = await storeLines(port, compactionDraft(1), [lineDraft(1)]);
  assert.deepEqual([id, archiveBytes % 4096], [1, 0]);
});

test('cycles and batches must be as many as were announced', async (t) => {
  for (const batchCounts of [[], [2], [1, 1]]) {
    const { port } = tempArchive(t);
    const writer = await port.begin({ batchCounts });
    const message = /^(there are|cycle 0 has|source line 1 is of cycle)/;
    await assert.rejects(
      writer.append([lineDraft(1)]).then(() => writer.commit(compactionDraft(1))),
      { message },
    );
  }
});

test('work on one state does not see what is stored meanwhile', async (t) => {
  const archive = tempArchive(t);
  const store = (): Promise<number> =>
    applied(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
  await store();
  const other = tempArchive(t).port; // another archive does not wait
  const seen = await archive.port.inOneState(async (state) => {
    const before = await state.messages.countMessages();
    const waiting = storeLines(archive.port, compactionDraft(1), [lineDraft(1, { message: messageDraft() })]);
    await storeLines(other, compactionDraft(1), [lineDraft(1)]);
    return { before, after: await state.messages.countMessages(), waiting };
  });
  assert.deepEqual([seen.before, seen.after], [1, 1]);
  await seen.waiting;
  assert.equal(await archive.port.messages.countMessages(), 2);
});
