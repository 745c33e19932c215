import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { type ArchiveCheckReport, checkArchive } from '../../src/app/search/check-archive.ts';
import { sha256 } from '../adapters/archive/drafts.ts';
import { change, checked, copyOf, makeFullArchive, spoilText } from '../support/full-archive.ts';

const made: { folder: string; remove: () => void } = { folder: '', remove: () => undefined };

before(async () => {
  Object.assign(made, await makeFullArchive());
});
after(() => made.remove());

/** The report on a copy of the full archive that was changed so. */
async function reportAfter(t: TestContext, sql: string): Promise<ArchiveCheckReport> {
  const path = join(copyOf(t, made.folder), 'archive.db');
  change(path, sql);
  const report = await checked(path);
  assert.ok(report.ok);
  return report.value;
}

/** Each problem as its kind, its message and its files, without what differs from run to run. */
function tell({ problems }: ArchiveCheckReport): readonly string[] {
  return problems.map(({ kind, message, files }) => {
    const names = files.map((file) => file.replace(`${made.folder}/`, '')).join(', ');
    const text = message
      .replaceAll(/conversation [\da-f]{16}/g, 'its conversation')
      .replaceAll(/batch compaction-batch-\S+/g, 'batch L');
    return `${kind}: ${text} [${names}]`;
  });
}

test('an archive of several formats, cycles, forks and survivors is sound, and what is not confirmed is named', async () => {
  const report = await checked(join(made.folder, 'archive.db'));
  assert.ok(report.ok);
  const { compactions, result, problems, moreProblems, prepared, bytes } = report.value;
  assert.deepEqual([compactions, result, problems, moreProblems], [11, 'sound', [], 0]);
  assert.deepEqual(prepared, [{ files: [join(made.folder, 'prepared.jsonl')] }]);
  assert.ok(bytes.compressed > 0 && bytes.compressed < bytes.original && bytes.compressed < bytes.file);
});

test('checking changes no byte of the archive, and settles nothing', async (t) => {
  const path = join(copyOf(t, made.folder), 'archive.db');
  const before = sha256(readFileSync(path));
  await checked(path);
  assert.equal(sha256(readFileSync(path)), before);
});

const TALK = '[talk.jsonl, fork.jsonl]';

const DAMAGE: readonly (readonly [what: string, sql: string, ...problems: (string | RegExp)[]])[] = [
  [
    'a block with other bytes in it',
    "UPDATE packs SET data = CAST(x'00' || substr(data, 2) AS BLOB) WHERE id = 2",
    'block: compaction 2: the block of archived lines that begins with source line 1 cannot be decompressed [talk.jsonl]',
    'unreadable: compaction 2, lines of its output: its block of summaries cannot be decompressed [talk.jsonl]',
    'unreadable: compaction 2, its conversation: its block of summaries cannot be decompressed [talk.jsonl]',
  ],
  [
    'a block that stands in the place of another',
    'UPDATE packs SET data = (SELECT data FROM packs WHERE id = 1) WHERE id = 2',
    'block: compaction 2: the block of archived lines that begins with source line 1 cannot be decompressed [talk.jsonl]',
    'unreadable: compaction 2, lines of its output: its block of summaries cannot be decompressed [talk.jsonl]',
    'unreadable: compaction 2, its conversation: its block of summaries cannot be decompressed [talk.jsonl]',
  ],
  [
    "a batch's text",
    spoilText('batches', 3),
    `wrong-hash: compaction 1, its conversation: batch L is not what was stored (by sha256) ${TALK}`,
  ],
  [
    "a batch's hash",
    'UPDATE batches SET content_sha256 = zeroblob(32) WHERE id = (SELECT max(id) FROM batches)',
    'wrong-hash: compaction 11, its conversation: batch L is not what was stored (by sha256) [prepared.jsonl]',
  ],
  [
    'hashes of lines',
    'UPDATE lines SET sha256 = zeroblob(16) WHERE id IN (3, 9)',
    `wrong-hash: compaction 1: 2 lines from source line 3 on are not what was stored (by sha256) ${TALK}`,
  ],
  [
    'settings',
    "UPDATE settings SET value = '{}' WHERE id = (SELECT settings_id FROM compactions WHERE id = 6)",
    'wrong-hash: compaction 6: its settings differ from their hash [session.jsonl, session.compact.jsonl]',
  ],
  [
    'a clip-archive',
    spoilText('inserted_lines', 5),
    'wrong-hash: compaction 5: the clip-archive of its conversation differs from its hash [fork.jsonl]',
  ],
  [
    "the source's hash, where all of it was archived",
    'UPDATE compactions SET source_sha256 = zeroblob(32) WHERE id = 8',
    'wrong-hash: compaction 8: its lines together have another sha256 than its source [whole.jsonl]',
  ],
  [
    "the output's hash, where nothing was kept",
    'UPDATE compactions SET output_sha256 = zeroblob(32) WHERE id = 8',
    'wrong-hash: compaction 8: the lines of its output have another sha256 than its output [whole.jsonl]',
  ],
  [
    "the source's size",
    'UPDATE compactions SET source_size_bytes = 1 WHERE id = 10',
    /^wrong-count: compaction 10: its lines have \d+ bytes, its source had 1 \[conversation:library\]$/,
  ],
  [
    'a line',
    'DELETE FROM lines WHERE id = 20',
    `block: compaction 1: the block of archived lines that begins with source line 1 is not filled by its 219 lines ${TALK}`,
    `hole: compaction 1: source line 20 is neither kept nor archived ${TALK}`,
    'search: the search index of messages: 1 of its rows leads to nothing (the first is 20) []',
  ],
  [
    'a block',
    'DELETE FROM blocks WHERE compaction_id = 2 AND position = 0',
    'reference: compaction 2: 41 of its lines belong to blocks that are gone (the first to 3) [talk.jsonl]',
    'hole: compaction 2: source lines 1 to 41 are neither kept nor archived [talk.jsonl]',
  ],
  [
    'a run of kept lines',
    'DELETE FROM kept_runs WHERE compaction_id = 1 AND position = 1',
    `hole: compaction 1: source line 215 is neither kept nor archived ${TALK}`,
  ],
  [
    'a run of kept lines that is too long',
    'UPDATE kept_runs SET line_count = line_count + 1 WHERE compaction_id = 1 AND position = 1',
    'structure: the database: CHECK constraint failed in kept_runs []',
    `hole: compaction 1: source line 216 is there twice ${TALK}`,
  ],
  [
    'the count of source lines',
    'UPDATE compactions SET source_line_count = source_line_count + 2 WHERE id = 8',
    'hole: compaction 8: source lines 53 to 54 are neither kept nor archived [whole.jsonl]',
  ],
  [
    'a batch',
    'DELETE FROM batches WHERE id = 2',
    `reference: compaction 1: 1 of its batch_sources belongs to batches that are gone (the first to 2) ${TALK}`,
    `reference: compaction 1: 8 of its lines belong to batches that are gone (the first to 2) ${TALK}`,
    `wrong-count: compaction 1, its conversation: 28 batches are there of 29 that were made ${TALK}`,
    `wrong-count: compaction 1, its conversation: batch L counts 208 messages at depth 1, but its sources do not add up to that ${TALK}`,
    'search: the search index of batches: 1 of its rows leads to nothing (the first is 2) []',
  ],
  [
    'a cycle',
    'DELETE FROM cycles WHERE id = 8',
    'reference: table batches: 8 of its batches belong to cycles that are gone (the first to 8) []',
    'reference: table live_batches: 3 of its live_batches belong to cycles that are gone (the first to 8) []',
    'reference: compaction 8: a conversation of it is gone [whole.jsonl]',
  ],
  [
    'a row that names a compaction',
    'DELETE FROM compactions WHERE id = 8',
    'reference: compaction 8: 1 of its cycles belongs to compactions that are gone (the first to 8) []',
    'reference: compaction 8: 2 of its blocks belong to compactions that are gone (the first to 8) []',
    'reference: compaction 8: 1 of its inserted_lines belongs to compactions that are gone (the first to 8) []',
    'reference: compaction 8: 1 of its run_files belongs to compactions that are gone (the first to 8) []',
  ],
  [
    'rows of the search indexes',
    'DELETE FROM message_search WHERE rowid = 7; DELETE FROM batch_search WHERE rowid = 5',
    `search: compaction 1: source line 7 is not in the search index, and thus not found by its words ${TALK}`,
    `search: compaction 1, its conversation: batch L is not in the search index, so that search does not find it ${TALK}`,
  ],
  [
    'rows of the search indexes that are too many',
    "INSERT INTO message_search (rowid, text) VALUES (900000, 'x'); INSERT INTO batch_search (rowid, content) VALUES (900, 'x')",
    'search: the search index of messages: 1 of its rows leads to nothing (the first is 900000) []',
    'search: the search index of batches: 1 of its rows leads to nothing (the first is 900) []',
  ],
  [
    'the inside of a search index',
    'UPDATE message_search_data SET block = zeroblob(length(block)) WHERE length(block) = (SELECT max(length(block)) FROM message_search_data)',
    /^structure: the database: fts5: corruption found reading blob \d+ from table "message_search" \[\]$/,
  ],
  [
    'the count of the batches that were made',
    'UPDATE cycles SET made_count = made_count + 1 WHERE id = 5',
    /^wrong-count: compaction 5, its conversation: \d+ batches are there of \d+ that were made \[fork.jsonl\]$/,
  ],
  [
    'a row of what a clip-archive speaks of',
    'DELETE FROM live_batches WHERE cycle_id = 4 AND position = 1',
    'wrong-count: compaction 4, its conversation: its clip-archive speaks of 3 batches, 2 are known [talk.jsonl]',
    /^wrong-count: compaction 4, its conversation: its batches stand for \d+ messages, \d+ were compressed \[talk.jsonl\]$/,
  ],
  [
    'the count of compressed messages',
    'UPDATE cycles SET messages_compressed = messages_compressed - 1 WHERE id = 10',
    /^wrong-count: compaction 9, conversation b: its batches stand for \d+ messages, \d+ were compressed \[two.jsonl\]$/,
  ],
  [
    'a line that was carried along',
    'DELETE FROM carried_lines WHERE line_id = (SELECT min(line_id) FROM carried_lines)',
    /^wrong-count: compaction 7, .*: batch L counts \d+ messages, \d+ belong to it \[session.compact.jsonl\]$/,
  ],
  [
    'a source that is newer than what was made of it',
    'UPDATE batch_sources SET source_id = batch_id WHERE batch_id = (SELECT max(batch_id) FROM batch_sources) AND position = 0',
    /^wrong-count: compaction \d+, its conversation: batch L counts \d+ messages at depth \d, but its sources do not add up to that/,
    /^order: compaction \d+, its conversation: batch L was made from batches that are newer than it/,
  ],
  [
    'a cycle that continues a later one',
    'UPDATE cycles SET parent_cycle_id = 3 WHERE id = 2',
    'order: compaction 2, its conversation: its cycle 2 continues what is not the cycle before it [talk.jsonl]',
  ],
  [
    'lines with a batch of another compaction',
    'UPDATE lines SET batch_id = 1 WHERE id = (SELECT max(l.id) FROM lines AS l JOIN batches AS b ON b.id = l.batch_id WHERE b.cycle_id = 5)',
    /^reference: compaction 5: source line \d+ is not with a batch or conversation of its own \[fork.jsonl\]$/,
    'reference: compaction 5, its conversation: batch L has another range of lines than those that it summarizes [fork.jsonl]',
  ],
  [
    'where a line of the output stands',
    'UPDATE inserted_lines SET before_line = 0 WHERE compaction_id = 8',
    'order: compaction 8: a line of its output stands before source line 0 of 52 [whole.jsonl]',
  ],
];

for (const [what, sql, ...problems] of DAMAGE) {
  test(`damage is reported with the files that it affects: ${what}`, async (t) => {
    const report = await reportAfter(t, sql);
    const told = tell(report);
    assert.equal(report.result, 'damaged');
    assert.deepEqual(
      told,
      problems.map((problem, at) =>
        typeof problem === 'string' ? problem : problem.test(told[at] ?? '') ? told[at] : problem,
      ),
    );
  });
}

test('damage here does not hide damage there', async (t) => {
  const report = await reportAfter(
    t,
    `UPDATE packs SET data = x'00' WHERE id = 2; DELETE FROM lines WHERE id = (SELECT max(id) FROM lines);
    UPDATE batches SET content_sha256 = zeroblob(32) WHERE cycle_id = 5 AND position = 0`,
  );
  assert.deepEqual(
    tell(report).map((told) => told.replace(/:.*\[/, ' [')),
    [
      'block [talk.jsonl]',
      'unreadable [talk.jsonl]',
      'unreadable [talk.jsonl]',
      'wrong-hash [fork.jsonl]',
      // Its block and its batch also have a line less than their ranges.
      'block [prepared.jsonl]',
      'block [prepared.jsonl]',
      'hole [prepared.jsonl]',
      'reference [prepared.jsonl]',
      'search []',
    ],
  );
});

test('more than a hundred problems are counted, not listed', async (t) => {
  const { problems, moreProblems } = await reportAfter(
    t,
    'UPDATE batches SET content_sha256 = zeroblob(32); UPDATE lines SET sha256 = zeroblob(16); DELETE FROM batch_search',
  );
  assert.equal(problems.length, 100);
  assert.ok(moreProblems > 10);
});

test('a check that is interrupted says so, and leaves the archive free', async () => {
  const path = join(made.folder, 'archive.db');
  assert.deepEqual(await checked(path, AbortSignal.abort()), { ok: false, error: { kind: 'interrupted' } });
  assert.ok((await checked(path)).ok);
});

test('an archive that is not there cannot be checked', async () => {
  const result = await checkArchive({
    openArchive: async () => ({ ok: true, value: null }),
    archivePath: '/nowhere/archive.db',
    runtime: createNodeRuntime(),
    signal: new AbortController().signal,
    progress: { update: () => undefined, finish: () => undefined },
  });
  const failure = { kind: 'cannot-open', path: '/nowhere/archive.db', reason: 'there is none yet' };
  assert.deepEqual(result, { ok: false, error: { kind: 'archive', failure } });
});
