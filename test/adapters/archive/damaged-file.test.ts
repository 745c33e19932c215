import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { ArchiveCheckReport } from '../../../src/app/search/check-archive.ts';
import { checked, copyOf, makeFullArchive } from '../../support/full-archive.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  openAt,
  sha256,
  tempFolder,
  utf8,
} from './drafts.ts';

const PAGE_BYTES = 4096;
const made: { folder: string; remove: () => void } = { folder: '', remove: () => undefined };

before(async () => {
  Object.assign(made, await makeFullArchive());
});
after(() => made.remove());

const archiveFor = (t: TestContext): string => join(copyOf(t, made.folder), 'archive.db');

/** Puts garbage in the place of the first page that holds rows of a table, or entries of an index. */
function overwriteLeaf(path: string, name: string): void {
  const db = new Database(path, { readonly: true });
  const page = db
    .prepare<[string], number>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1")
    .pluck()
    .get(name);
  db.close();
  assert.ok(page !== undefined);
  const bytes = readFileSync(path);
  bytes.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
  writeFileSync(path, bytes);
}

async function reportOn(path: string): Promise<ArchiveCheckReport> {
  const report = await checked(path);
  assert.ok(report.ok, JSON.stringify(report));
  return report.value;
}

for (const name of [
  'compactions',
  'cycles',
  'batches',
  'live_batches',
  'blocks',
  'lines',
  'inserted_lines',
  'kept_runs',
  'lines_by_cycle',
  'cycles_by_clip',
  'sqlite_sequence',
  'sqlite_autoindex_blocks_1',
  'message_search_data',
  'batch_search_docsize',
]) {
  test(`a page of ${name} that was overwritten is found`, async (t) => {
    const path = archiveFor(t);
    overwriteLeaf(path, name);
    const { result, problems } = await reportOn(path);
    const table = name.replace(/^sqlite_autoindex_|_by_.*|_1$/g, '');
    assert.equal(result, 'damaged');
    assert.ok(
      problems.some(({ message }) => message.startsWith(`table ${table}`)),
      JSON.stringify(problems),
    );
  });
}

for (const [name, files] of [
  ['lines', ['talk.jsonl', 'fork.jsonl']],
  ['packs', ['talk.jsonl', 'fork.jsonl']],
] as const) {
  test(`with a page of ${name} gone the transcripts whose lines were there are named, and no others`, async (t) => {
    const path = archiveFor(t);
    overwriteLeaf(path, name);
    const { problems } = await reportOn(path);
    const touched = new Set(problems.filter(({ kind }) => kind === 'hole').flatMap((one) => one.files));
    assert.deepEqual(
      [...touched],
      files.map((file) => join(made.folder, file)),
    );
  });
}

test('a batch page that is gone hides neither the lines nor the other compactions', async (t) => {
  const path = archiveFor(t);
  overwriteLeaf(path, 'batches');
  const { lines, compactions, problems } = await reportOn(path);
  const sound = await reportOn(join(made.folder, 'archive.db'));
  assert.deepEqual([lines, compactions], [sound.lines, sound.compactions]);
  assert.deepEqual(
    problems.filter(({ kind }) => kind === 'hole'),
    [],
  );
});

for (const { what, damage, failure } of [
  {
    what: 'a file that was cut off in half',
    damage: (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2 / PAGE_BYTES) * PAGE_BYTES),
    failure: { kind: 'damaged', reason: /^it is truncated: it has \d+ of its \d+ bytes$/ },
  },
  {
    what: 'a file that lost its last page',
    damage: (path: string): void => truncateSync(path, statSync(path).size - PAGE_BYTES),
    failure: { kind: 'damaged', reason: /^it is truncated: it has \d+ of its \d+ bytes$/ },
  },
  {
    what: 'a first page without the list of tables',
    damage: (path: string): void => writeFileSync(path, readFileSync(path).fill(0xa5, 100, PAGE_BYTES)),
    failure: { kind: 'damaged', reason: /^database disk image is malformed/ },
  },
  {
    what: 'a first page without its header',
    damage: (path: string): void => writeFileSync(path, readFileSync(path).fill(0xa5, 0, 100)),
    failure: { kind: 'not-ours', reason: /^it is not an SQLite database$/ },
  },
]) {
  test(`${what} cannot be opened, and it is said why`, async (t) => {
    const path = archiveFor(t);
    damage(path);
    const report = await checked(path);
    assert.ok(!report.ok && report.error.kind === 'archive');
    const { kind, ...rest } = report.error.failure;
    assert.equal(kind, failure.kind);
    assert.match('reason' in rest ? rest.reason : '', failure.reason);
  });
}

/** Stores a compaction that is whole: what the check looks at agrees. */
async function storeWhole(path: string, name: string, lineCount: number): Promise<void> {
  const archive = openAt(path);
  const lines = Array.from({ length: lineCount }, (_, at) =>
    lineDraft(at + 1, { bytes: utf8(`{"${name}":${Math.sin(at)}}\n`) }),
  );
  const source = Buffer.concat(lines.map(({ bytes }) => bytes));
  const clip = utf8(`{"clip":"${name}"}\n`);
  const cycle = cycleDraft({
    conversationId: name,
    clipSha256: sha256(clip.subarray(0, -1)),
    messagesCompressed: lineCount,
    newBatches: [batchDraft({ messageCount: lineCount })],
  });
  const draft = compactionDraft(lineCount, {
    sourcePath: `/logs/${name}.jsonl`,
    outputPath: `/logs/${name}.jsonl`,
    source: { sha256: sha256(source), sizeBytes: source.length, lineCount, hasBom: false },
    output: { sha256: sha256(clip), sizeBytes: clip.length },
    cycles: [cycle],
    inserted: [{ beforeLine: lineCount + 1, bytes: clip }],
  });
  await applied(archive, draft, lines);
  archive.close();
}

/** Stores into an archive as a writer would that was killed right after: the log is not taken in. Gives the path of that state. */
async function storeAndDie(t: TestContext, path: string, name: string): Promise<string> {
  const holder = new Database(path); // whoever closes last takes the log in, and that is not the writer then
  holder.prepare('SELECT 1 FROM sqlite_schema').get();
  await storeWhole(path, name, 2500);
  const killed = join(tempFolder(t), 'archive.db');
  for (const part of ['', '-wal', '-shm']) copyFileSync(path + part, killed + part);
  holder.close();
  return killed;
}

test('the log of a writer that was killed is part of the archive', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  await storeWhole(path, 'first', 50);
  const killed = await storeAndDie(t, path, 'second');
  const { result, compactions } = await reportOn(killed);
  assert.deepEqual([result, compactions], ['sound', 2]);
});

test('an archive whose log is gone whole is an earlier one, and sound', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  await storeWhole(path, 'first', 50);
  const killed = await storeAndDie(t, path, 'second');
  assert.ok(existsSync(`${killed}-wal`));
  for (const part of ['-wal', '-shm']) rmSync(killed + part);
  const { result, compactions } = await reportOn(killed);
  assert.deepEqual([result, compactions], ['sound', 1]);
});

test('an archive whose log is gone while it was being taken in is damaged', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  await storeWhole(path, 'first', 2500);
  const earlier = readFileSync(path);
  await storeWhole(path, 'second', 2500);
  const later = readFileSync(path);
  const mixed = Buffer.from(later);
  for (let at = PAGE_BYTES; at < earlier.length; at += PAGE_BYTES) earlier.copy(mixed, at, at, at + PAGE_BYTES);
  writeFileSync(path, mixed);
  assert.equal((await reportOn(path)).result, 'damaged');
});
