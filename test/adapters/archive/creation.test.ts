import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { createExportFolders } from '../../../src/adapters/archive/exchange/folder.ts';
import { createArchiveFile } from '../../../src/adapters/archive/sqlite/create.ts';
import { archiveExists } from '../../../src/adapters/archive/sqlite/file.ts';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { renderFailure } from '../../../src/messages/failure.ts';
import type { ArchiveError } from '../../../src/ports/archive.ts';
import { tempFolder } from './drafts.ts';

const WRITER = join(import.meta.dirname, 'writer-process.ts');
const ARCHIVES = 60;

test('who opens an archive while another process makes it finds it whole or not at all', async (t) => {
  const folder = tempFolder(t);
  const maker = spawn(process.execPath, [WRITER, folder, 'make', `${ARCHIVES}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(maker, 'exit');
  const refused: unknown[] = [];
  let opened = 0;
  for (let at = 0; at < ARCHIVES; at += 1) {
    const path = join(folder, `${at}.db`);
    while (!archiveExists(path)) {
      assert.equal(maker.exitCode, null, `archive ${at} was never made`);
      await new Promise(setImmediate);
    }
    const archive = openSqliteArchive({ path, create: false });
    if (archive.ok) archive.value.close();
    else refused.push(archive.error);
    opened += 1;
  }
  const [code] = await exited;
  assert.deepEqual([code, opened, refused], [0, ARCHIVES, []]);
});

test('without hard links an archive is created too, and nothing that stands there is replaced', (t) => {
  const folder = tempFolder(t);
  const unsupported = (): never => {
    throw Object.assign(new Error('no links here'), { code: 'EPERM', syscall: 'link' });
  };
  const path = join(folder, 'archive.db');
  assert.equal(createArchiveFile(path, unsupported), null);
  const opened = openSqliteArchive({ path, create: false });
  assert.ok(opened.ok);
  opened.value.close();
  const taken = join(folder, 'notes.txt');
  writeFileSync(taken, 'mine');
  for (const link of [undefined, unsupported]) createArchiveFile(taken, link);
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
  assert.deepEqual(readdirSync(folder).toSorted(), ['archive.db', 'notes.txt']);
});

test('what a killed process left of an archive is removed when the archive is created, and nothing else', (t) => {
  const folder = tempFolder(t);
  const dead = spawnSync(process.execPath, ['-e', '0']).pid;
  const token = '0f0e0d0c-0000-4000-8000-000000000000';
  const left = `archive.db.${dead}-${token}.new`;
  const kept = [`archive.db.${process.pid}-${token}.new`, `other.db.${dead}-${token}.new`, 'archive.db.mine.new'];
  for (const name of [left, ...kept]) {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), 0, 0);
  }
  createArchiveFile(join(folder, 'archive.db'));
  assert.deepEqual(readdirSync(folder).toSorted(), ['archive.db', ...kept].toSorted());
});

test('what a killed import left in the folder for temporary files is removed by the next one', async (t) => {
  const folder = tempFolder(t);
  const dead = spawnSync(process.execPath, ['-e', '0']).pid;
  const left = join(folder, `compact-import.${dead}-0f0e0d0c-0000-4000-8000-000000000000.new`);
  mkdirSync(left);
  writeFileSync(join(left, 'archive.db'), 'x');
  const openAndRemove = async (place = folder): Promise<void> => {
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = place;
    const scratch = await createExportFolders(null)
      .openScratch()
      .finally(() => {
        if (TMPDIR === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = TMPDIR;
      });
    await scratch.close();
    scratch.remove();
  };
  await openAndRemove();
  assert.deepEqual(readdirSync(folder), [basename(left)], 'a process of another container may be at work there');
  utimesSync(left, 0, 0);
  await openAndRemove();
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(openAndRemove(join(folder, 'gone')), (error: ArchiveError) =>
    /gone\S+: it cannot be created \(ENOENT\)\. Name another folder with TMPDIR\./.test(
      renderFailure({ kind: 'archive', failure: error.failure }),
    ),
  );
});
