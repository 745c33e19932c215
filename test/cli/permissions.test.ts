import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { findInputs } from '../../src/cli/inputs/inputs.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { jsonLines, runHere } from '../support/program.ts';

const TALK = chatTranscript(9);

before(async () => {
  // What a run loads is loaded while it may be read.
  const folder = mkdtempSync(join(tmpdir(), 'compact-test-'));
  writeFileSync(join(folder, 'talk.jsonl'), TALK);
  await runHere(['-i', '--archive', join(folder, 'archive.db'), folder]);
  await runHere(['-i', '--archive', join(folder, 'archive.db'), join(folder, 'nothing.jsonl')]);
  await runHere(['archive', 'backup', join(folder, 'copy.db'), '--archive', join(folder, 'archive.db')]);
  rmSync(folder, { recursive: true });
  becomeOrdinaryUser();
});

test('a folder that may not be read is a problem, and the others are done', async (t) => {
  const folder = folderWith(t, { 'a/x.jsonl': '', 'b/y.jsonl': '' });
  chmodSync(join(folder, 'a'), 0);
  const set = await findInputs([folder], { skipsCompacted: true });
  chmodSync(join(folder, 'a'), 0o700);
  assert.deepEqual(set.problems, [
    { kind: 'file', failure: { kind: 'denied', path: join(folder, 'a'), what: 'read' } },
  ]);
  assert.deepEqual(
    set.files.map(({ path }) => path),
    [join(folder, 'b/y.jsonl')],
  );
});

test('a backup into a folder that may not be entered says so', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': TALK, 'closed/': '' });
  const [archive, copy] = [join(folder, 'archive.db'), join(folder, 'closed/copy.db')];
  await runHere(['-i', '--archive', archive, join(folder, 'talk.jsonl')]);
  chmodSync(join(folder, 'closed'), 0);
  const { code, stderr } = await runHere(['archive', 'backup', copy, '--archive', archive]);
  chmodSync(join(folder, 'closed'), 0o700);
  assert.deepEqual(
    [code, stderr],
    [1, `${copy}: no file can be created there. Check the folder and its permissions.\n`],
  );
});

test('an archive that still contains erased bytes, and may not be changed, is not copied', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': TALK, 'archive/': '' });
  const [archive, copy] = [join(folder, 'archive/a.db'), join(folder, 'copy.db')];
  await runHere(['-i', '--archive', archive, join(folder, 'talk.jsonl')]);
  const db = new Database(archive);
  db.exec("INSERT INTO erasures (receipt, at_ms, report, is_purged) VALUES ('x', 0, '{}', 0)");
  db.close();
  chmodSync(archive, 0o400);
  chmodSync(join(folder, 'archive'), 0o500);
  const { code, stderr } = await runHere(['archive', 'backup', copy, '--archive', archive]);
  chmodSync(join(folder, 'archive'), 0o700);
  assert.deepEqual([code, readdirSync(folder).includes('copy.db')], [1, false]);
  assert.match(stderr, /^\S+a\.db: it still contains erased bytes, which the copy would have too\. Close what uses it/);
});

/** Compacts a folder whose `b.jsonl` was made so that it cannot be done. */
async function compactWith(t: TestContext, change: (folder: string) => void, flags = ['-i']) {
  const folder = folderWith(t, { 'logs/a.jsonl': TALK, 'logs/b/b.jsonl': TALK, 'logs/c.jsonl': chatTranscript(9, 70) });
  change(folder);
  const args = [...flags, '--json', '--archive', join(folder, 'archive.db'), join(folder, 'logs')];
  const { code, stdout, stderr } = await runHere(args);
  chmodSync(join(folder, 'logs/b'), 0o700);
  chmodSync(join(folder, 'logs/b/b.jsonl'), 0o600);
  // Nothing of what could not be written is left in the archive.
  assert.deepEqual(new Set(readArchiveRows(join(folder, 'archive.db'))?.statuses), new Set(['applied']));
  return {
    code,
    stderr: stderr.split('\n')[0]?.replaceAll(`${folder}/`, ''),
    results: jsonLines(stdout).map(({ result, error }) => error?.kind ?? result),
    isAsItWas: readFileSync(join(folder, 'logs/b/b.jsonl'), 'utf8') === TALK,
    stands: readdirSync(join(folder, 'logs/b')),
  };
}

const OTHERS_DONE = { code: 1, results: ['compacted', 'denied', 'compacted'], isAsItWas: true, stands: ['b.jsonl'] };

test('a file that may not be read fails alone', async (t) => {
  const done = await compactWith(t, (folder) => chmodSync(join(folder, 'logs/b/b.jsonl'), 0));
  const stderr = 'logs/b/b.jsonl: no permission to read it. Check the permissions of the file and its folder.';
  assert.deepEqual(done, { ...OTHERS_DONE, stderr });
});

test('a read-only file fails alone, and is unchanged', async (t) => {
  const done = await compactWith(t, (folder) => chmodSync(join(folder, 'logs/b/b.jsonl'), 0o444));
  const stderr = 'logs/b/b.jsonl: no permission to write it. Check the permissions of the file and its folder.';
  assert.deepEqual(done, { ...OTHERS_DONE, stderr });
});

test('a file in a read-only folder fails alone, and is unchanged', async (t) => {
  const done = await compactWith(t, (folder) => chmodSync(join(folder, 'logs/b'), 0o555));
  const stderr = 'logs/b/b.jsonl: logs/b: no permission to write it. Check the permissions of the file and its folder.';
  assert.deepEqual(done, { ...OTHERS_DONE, stderr });
});

test('nothing is written beside a file in a read-only folder', async (t) => {
  const { stderr, ...done } = await compactWith(t, (folder) => chmodSync(join(folder, 'logs/b'), 0o555), []);
  assert.deepEqual(done, OTHERS_DONE);
  assert.match(stderr ?? '', /^logs\/b\/b\.jsonl: .*no permission to write it\./);
});

test('a file in a read-only folder is not restored in place', async (t) => {
  const folder = folderWith(t, { 'logs/a.jsonl': TALK });
  const args = ['-i', '--archive', join(folder, 'archive.db'), join(folder, 'logs/a.jsonl')];
  assert.equal((await runHere(args)).code, 0);
  const compacted = readFileSync(join(folder, 'logs/a.jsonl'), 'utf8');
  chmodSync(join(folder, 'logs'), 0o555);
  const { code } = await runHere(['restore', ...args]);
  chmodSync(join(folder, 'logs'), 0o700);
  assert.deepEqual([code, readFileSync(join(folder, 'logs/a.jsonl'), 'utf8')], [1, compacted]);
});

test('a folder that may not be listed has a line of its own, and the rest is done', async (t) => {
  const { isAsItWas, ...done } = await compactWith(t, (folder) => chmodSync(join(folder, 'logs/b'), 0));
  const stderr = 'logs/b: no permission to read it. Check the permissions of the file and its folder.';
  assert.deepEqual(done, { code: 1, results: ['denied', 'compacted', 'compacted'], stands: ['b.jsonl'], stderr });
  assert.equal(isAsItWas, true);
});
