import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveDamageKind, Archive } from '../../../src/ports/archive.ts';
import { collect } from '../../support/collect.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { applied, type Engine, problemsOf } from './engine.ts';

/** A compaction whose hashes and counts are right: two messages were summarized, one line was kept. */
async function fill(archive: Archive): Promise<void> {
  const lines = ['first\n', 'second\n', 'kept\n'].map(utf8);
  const clip = utf8('{"clip":1}\n');
  const source = Buffer.concat(lines);
  const output = Buffer.concat([clip, lines[2] ?? clip]);
  const draft = compactionDraft(3, {
    source: { sha256: sha256(source), sizeBytes: source.length, lineCount: 3, hasBom: false },
    output: { sha256: sha256(output), sizeBytes: output.length },
    cycles: [cycleDraft({ clipSha256: sha256(clip.subarray(0, -1)), newBatches: [batchDraft()] })],
    inserted: [{ beforeLine: 3, bytes: clip }],
    kept: [{ firstLine: 3, lineCount: 1, sizeBytes: 5, lineSha256: [sha256('kept\n').slice(0, 32)] }],
  });
  await applied(
    archive,
    draft,
    [1, 2].map((line) =>
      lineDraft(line, {
        bytes: lines[line - 1] ?? clip,
        message: messageDraft({ id: `m${line}`, index: line, text: 'hull' }),
      }),
    ),
  );
}

const SOME_HASH = '(SELECT sha256 FROM settings)';
const DAMAGE: readonly (readonly [what: string, sql: string, kind: ArchiveDamageKind])[] = [
  ['the hash of a line', `UPDATE lines SET sha256 = substr(${SOME_HASH}, 1, 16) WHERE line = 1`, 'wrong-hash'],
  ['a line', 'DELETE FROM lines WHERE line = 2', 'block'],
  ['a block', `UPDATE packs SET data = ${SOME_HASH}`, 'block'],
  ['a kept line', 'DELETE FROM kept_runs', 'hole'],
  ['the settings', "UPDATE settings SET value = 'other'", 'wrong-hash'],
  ['the size of the source', 'UPDATE compactions SET source_size_bytes = 99', 'wrong-count'],
  ['the size of the output', 'UPDATE compactions SET output_size_bytes = 99', 'wrong-count'],
  ['a clip-archive', `UPDATE cycles SET clip_sha256 = ${SOME_HASH}`, 'wrong-hash'],
  ['the text of a batch', `UPDATE batches SET content_sha256 = ${SOME_HASH}`, 'wrong-hash'],
  ['the place of a text', 'UPDATE batches SET text_size = text_size - 1', 'unreadable'],
  ['the end of a text', 'UPDATE inserted_lines SET text_size = text_size + 100', 'unreadable'],
  ['the count of a batch', 'UPDATE batches SET message_count = 7', 'wrong-count'],
  ['a live batch', 'DELETE FROM live_batches', 'wrong-count'],
  ['a conversation', 'DELETE FROM cycles', 'reference'],
  ['the place of the lines of a batch', 'UPDATE batches SET last_line_id = last_line_id - 1', 'reference'],
  ['the place of the lines of a block', 'UPDATE blocks SET last_line_id = last_line_id - 1', 'block'],
  ['the end of a batch', 'UPDATE batches SET last_line_id = last_line_id + 9', 'reference'],
  ['the end of a block', 'UPDATE blocks SET last_line_id = last_line_id + 9', 'block'],
  ['the outcome of a line', 'UPDATE lines SET outcome = 1 WHERE line = 1', 'reference'],
];

export function checkContract(engine: Engine): void {
  test('a check of a whole archive finds nothing, and counts what is there', async (t) => {
    const archive = await engine.open(t);
    await fill(archive);
    const steps = await collect(archive.check());
    assert.deepEqual(
      steps.filter(({ kind }) => kind === 'damage'),
      [],
    );
    const last = steps.at(-1);
    assert.ok(last?.kind === 'counted');
    const { bytes, ...counts } = last.counts;
    assert.deepEqual(counts, { compactions: 1, batches: 1, captured: 0, lines: 2, blocks: 1 });
    assert.equal(bytes.original, 13);
  });

  for (const [what, sql, kind] of DAMAGE) {
    test(`a check notices damage to ${what}, and names the files`, async (t) => {
      const archive = await engine.open(t);
      await fill(archive);
      await engine.execute(archive, sql);
      const found = (await collect(archive.check())).flatMap((step) => (step.kind === 'damage' ? [step.damage] : []));
      assert.ok(
        found.some((damage) => damage.kind === kind),
        JSON.stringify(found),
      );
      assert.ok(found.some(({ files }) => files.includes('/logs/harbor.jsonl')));
    });
  }

  test('a check notices a label that two batches of a conversation have', async (t) => {
    const archive = await engine.open(t);
    await fill(archive);
    await fill(archive);
    assert.deepEqual(await problemsOf(archive), []);
    await engine.execute(archive, "UPDATE batches SET label_end = '=bow'");
    assert.deepEqual(await problemsOf(archive), [
      'the labels of batches: 2 batches of conversation harbor have the label bow',
    ]);
  });

  test('a check tells of a compaction that is only prepared, which is no damage', async (t) => {
    const archive = await engine.open(t);
    await fill(archive);
    await engine.execute(archive, "UPDATE compactions SET status = 'prepared'");
    assert.deepEqual(await problemsOf(archive), []);
    const prepared = (await collect(archive.check())).filter(({ kind }) => kind === 'prepared');
    assert.deepEqual(prepared, [{ kind: 'prepared', files: ['/logs/harbor.jsonl', '/logs/harbor.compact.jsonl'] }]);
  });
}
