import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactionDraft, cycleDraft, lineDraft, rejectedFailure, sha256 } from '../../adapters/archive/drafts.ts';
import { type Engine, applied, stored } from './engine.ts';

export function settleContract(engine: Engine): void {
  test('the id of a discarded compaction is not used again', async (t) => {
    const archive = await engine.open(t);
    const id = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    await archive.discard(id);
    assert.notEqual(await stored(archive, compactionDraft(1), [lineDraft(1)]), id);
  });

  test('applying a compaction twice is the same as once', async (t) => {
    const archive = await engine.open(t);
    const id = await applied(archive, compactionDraft(1), [lineDraft(1)]);
    await archive.markApplied(id);
    assert.equal((await archive.loadCompaction(id))?.status, 'applied');
  });

  test('applying a compaction that was removed is damage', async (t) => {
    const archive = await engine.open(t);
    const id = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    await archive.discard(id);
    assert.deepEqual(await rejectedFailure(() => archive.markApplied(id)), {
      kind: 'damaged',
      path: archive.path,
      reason: `compaction ${id} was removed before it was applied`,
    });
  });

  test('a prepared compaction is listed until it is applied', async (t) => {
    const archive = await engine.open(t);
    const { sourcePath, outputPath, source, output, processId } = compactionDraft(1);
    const id = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    assert.deepEqual(await archive.listPrepared(), [
      { id, sourcePath, outputPath, source, output, processId, isLocal: true },
    ]);
    await archive.markApplied(id);
    assert.deepEqual(await archive.listPrepared(), []);
  });

  test('a clip-archive leads to the applied cycles that wrote it, newest first', async (t) => {
    const archive = await engine.open(t);
    const other = compactionDraft(1, { cycles: [cycleDraft({ clipSha256: sha256('other') })] });
    await applied(archive, compactionDraft(1), [lineDraft(1)]);
    await applied(archive, other, [lineDraft(1)]);
    await applied(archive, compactionDraft(1), [lineDraft(1)]);
    const prepared = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    const found = await archive.findCycles(sha256('clip'));
    assert.deepEqual(
      found.map(({ compactionId }) => compactionId),
      [3, 1],
    );
    assert.deepEqual(found[0], (await archive.loadCompaction(3))?.cycles[0]);
    await archive.markApplied(prepared);
    assert.equal((await archive.findCycles(sha256('clip'))).length, 3);
  });

  test('the same input under the same settings is found once it is applied', async (t) => {
    const archive = await engine.open(t);
    const [source, settings] = [sha256('source'), sha256('{}')];
    const id = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    assert.equal(await archive.findSame(source, settings), null);
    await archive.markApplied(id);
    assert.deepEqual(await archive.findSame(source, settings), await archive.loadCompaction(id));
    assert.equal(await archive.findSame(source, sha256('other settings')), null);
    assert.equal(await archive.findSame(sha256('other source'), settings), null);
  });
}
