import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeLines } from '../../../src/app/compact/archive-lines.ts';
import { compactionDraft, lineDraft, messageDraft, tempArchive } from './drafts.ts';

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

test('what is stored at the same time does not wait, and gets its ids in the order of the commits', async (t) => {
  const { port } = tempArchive(t);
  const writer = await port.begin(OUTLINE);
  await writer.append([lineDraft(1)]);
  const second = await storeLines(port, compactionDraft(1), [lineDraft(1)]);
  assert.deepEqual([second.id, (await writer.commit(compactionDraft(1))).id], [1, 2]);
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
