import assert from 'node:assert/strict';
import { storeLines } from '../../src/app/compact/archive-lines.ts';
import { chmodSync, chownSync, copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { after, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { archiveExists } from '../../src/adapters/archive/sqlite/file.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/adapters/archive/sqlite/schema.ts';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { listRuns, undoFile } from '../../src/app/restore/undo.ts';
import { verifyFile } from '../../src/app/restore/verify-file.ts';
import { openSettled } from '../../src/app/write/settle.ts';
import type { Archive, ArchiveFailure } from '../../src/ports/archive.ts';
import { compactionDraft, lineDraft, rejectedFailure, sha256 } from '../adapters/archive/drafts.ts';
import { change, checked, makeFullArchive } from '../support/full-archive.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { createWorkbench, type Workbench } from '../support/workbench.ts';
import { collect } from '../support/collect.ts';

const NOBODY = 65534;

const made = await makeFullArchive();
if (getuid?.() === 0) {
  for (const name of ['', ...readdirSync(made.folder)]) chownSync(join(made.folder, name), NOBODY, NOBODY);
}
becomeOrdinaryUser();
after(() => made.remove());

/** A copy of the full archive with its transcripts. */
function copyFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'compact-readonly-'));
  t.after(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  cpSync(made.folder, folder, { recursive: true });
  return folder;
}

const PLACES = [
  { what: 'folder', protect: (folder: string): void => chmodSync(folder, 0o555) },
  { what: 'file', protect: (folder: string): void => chmodSync(join(folder, 'archive.db'), 0o444) },
] as const;

/** Every file of a folder, by the sha256 of its bytes. */
function contents(folder: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((name) => [name, sha256(readFileSync(join(folder, name)))]));
}

async function opened(t: TestContext, folder: string): Promise<Archive> {
  const archive = await openArchive({ path: join(folder, 'archive.db'), create: false });
  assert.ok(archive.ok, JSON.stringify(archive));
  t.after(() => archive.value.close());
  return archive.value;
}

async function refusal(folder: string, create: boolean): Promise<ArchiveFailure> {
  const path = join(folder, 'archive.db');
  const archive = await openArchive({ path, create });
  assert.ok(!archive.ok);
  return { ...archive.error, path: archive.error.path.replace(`${folder}/`, '') };
}

function benchOn(folder: string): Workbench {
  const path = join(folder, 'archive.db');
  return createWorkbench({ openArchive: async () => openArchive({ path, create: false }), archivePath: path }, folder);
}

for (const { what, protect } of PLACES) {
  test(`in a read-only ${what} an archive is read, checked, and left as it was, with nothing beside it`, async (t) => {
    const folder = copyFor(t);
    protect(folder);
    const before = contents(folder);
    const archive = await opened(t, folder);
    assert.deepEqual([archive.isReadOnly, (await archive.loadCompaction(1))?.status], [true, 'applied']);
    assert.ok((await collect(archive.readLines(1))).flat().length > 100);
    await archive.close();
    const report = await checked(join(folder, 'archive.db'));
    assert.ok(report.ok);
    assert.deepEqual([report.value.result, report.value.prepared.length], ['sound', 1]);
    assert.deepEqual(contents(folder), before);
  });

  test(`a transcript verifies with an archive in a read-only ${what}, and what is not settled stays so`, async (t) => {
    const folder = copyFor(t);
    protect(folder);
    const { deps } = benchOn(folder);
    const input = { path: join(folder, 'talk.jsonl'), name: 'talk.jsonl', format: null };
    const report = await verifyFile(deps, { input });
    assert.ok(report.ok, JSON.stringify(report));
    assert.equal(report.value.result, 'verified');
    assert.equal((await (await opened(t, folder)).listPrepared()).length, 1);
  });

  test(`nothing is stored in an archive in a read-only ${what}, which is said before any work`, async (t) => {
    const folder = copyFor(t);
    protect(folder);
    const reason = 'it or its folder is read-only, so nothing can be stored in it';
    const failure = { kind: 'cannot-open', path: 'archive.db', reason };
    assert.deepEqual(await refusal(folder, true), failure);
    await assert.rejects(openSettled(benchOn(folder).deps, 'create'), {
      stopped: { kind: 'archive', failure: { ...failure, path: join(folder, 'archive.db') } },
    });
    const archive = await opened(t, folder);
    const storing = await rejectedFailure(() => storeLines(archive, compactionDraft(1), [lineDraft(1)]));
    assert.equal(storing.kind, 'cannot-open');
    assert.equal((await rejectedFailure(() => archive.markApplied(11))).kind, 'cannot-open');
  });

  test(`an older archive without a log in a read-only ${what} is read as one of today, and stays as it was`, async (t) => {
    const folder = copyFor(t);
    rmSync(join(folder, 'archive.db'));
    change(join(folder, 'archive.db'), `PRAGMA application_id = ${APPLICATION_ID}`);
    protect(folder);
    const before = contents(folder);
    const archive = await opened(t, folder);
    assert.deepEqual(await archive.listPrepared(), []);
    await archive.close();
    assert.deepEqual(contents(folder), before);
  });
}

/** Puts the state of a writer that was killed in the place of the archive: the second half of it is in the log alone. */
function killWriter(folder: string): void {
  const path = join(folder, 'archive.db');
  const holder = new Database(path);
  holder.exec("UPDATE compactions SET format = 'in the log' WHERE id = 1");
  for (const part of ['', '-wal', '-shm']) copyFileSync(path + part, `${path}.killed${part}`);
  holder.close();
  for (const part of ['', '-wal', '-shm']) {
    copyFileSync(`${path}.killed${part}`, path + part);
    rmSync(`${path}.killed${part}`);
  }
}

for (const { what, remove } of [
  { what: 'its log and its index', remove: [] },
  { what: 'its log alone', remove: ['-shm'] },
] as const) {
  test(`what a killed writer left as ${what} is read in a read-only folder`, async (t) => {
    const folder = copyFor(t);
    killWriter(folder);
    for (const part of remove) rmSync(join(folder, `archive.db${part}`));
    chmodSync(folder, 0o555);
    assert.equal((await (await opened(t, folder)).loadCompaction(1))?.format, 'in the log');
  });
}

test('an older archive that somebody has open cannot be brought up to date where it is read-only', async (t) => {
  const folder = copyFor(t);
  const path = join(folder, 'archive.db');
  rmSync(path);
  change(path, `PRAGMA journal_mode = WAL; PRAGMA application_id = ${APPLICATION_ID}`);
  const holder = new Database(path);
  t.after(() => holder.close());
  holder.prepare('SELECT 1 FROM sqlite_schema').get();
  chmodSync(folder, 0o555);
  assert.deepEqual(await refusal(folder, false), {
    kind: 'cannot-open',
    path: 'archive.db',
    reason: `it is of version 0, and read-only, so that it cannot be brought to version ${SCHEMA_VERSION}; copy it to where it can`,
  });
});

test('an archive that may not be read is said to be so', async (t) => {
  const folder = copyFor(t);
  chmodSync(join(folder, 'archive.db'), 0);
  assert.deepEqual(await refusal(folder, false), {
    kind: 'cannot-open',
    path: 'archive.db',
    reason: 'permission denied (EACCES)',
  });
});

test('an archive in a folder that may not be entered is there, and cannot be opened', async (t) => {
  const folder = copyFor(t);
  chmodSync(folder, 0);
  assert.equal(archiveExists(join(folder, 'archive.db')), true);
  assert.deepEqual(await refusal(folder, false), {
    kind: 'cannot-open',
    path: 'archive.db',
    reason: 'permission denied (EACCES)',
  });
});

test('no copy is left in the folder for temporary files', async (t) => {
  const folder = copyFor(t);
  chmodSync(folder, 0o555);
  const temporary = mkdtempSync(join(tmpdir(), 'compact-readonly-tmp-'));
  t.after(() => rmSync(temporary, { recursive: true, force: true }));
  const { TMPDIR } = process.env;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  process.env['TMPDIR'] = temporary;
  const archive = await opened(t, folder);
  // Not even while it is open: however the process ends, nothing stays.
  assert.deepEqual(readdirSync(temporary), []);
  assert.ok((await collect(archive.readLines(1))).flat().length > 100);
});

test('nothing is undone that a read-only archive could not record', async (t) => {
  const folder = copyFor(t);
  const bench = benchOn(folder);
  const stored = await listRuns(bench.deps);
  const file = stored.ok ? stored.value.runs[0]?.files[0] : undefined;
  assert.ok(file !== undefined);
  chmodSync(join(folder, 'archive.db'), 0o444);
  const before = contents(folder);
  const path = file.outputPath ?? '';
  const undone = await undoFile(bench.deps, {
    file,
    input: { path, name: path, format: null },
    output: { kind: 'in-place' },
  });
  assert.ok(!undone.ok && undone.error.kind === 'archive' && undone.error.failure.kind === 'cannot-open');
  assert.match(undone.error.failure.reason, /read-only, so nothing can be stored in it/);
  assert.deepEqual(contents(folder), before);
});
