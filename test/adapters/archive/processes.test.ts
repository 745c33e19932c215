import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applied, compactionDraft, lineDraft, openAt, tempFolder } from './drafts.ts';

const WRITER = join(import.meta.dirname, 'writer-process.ts');

function startWriter(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [WRITER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  const [code] = await once(child, 'exit');
  return code;
}

test('a process killed while it stores leaves the archive usable and without the compaction', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const child = startWriter(path, 'hang');
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout);
  const exited = exitCode(child);
  const told = await Promise.race([once(child.stdout, 'data'), exited]);
  assert.equal(String(told), 'in the middle\n');
  assert.ok(statSync(`${path}-wal`).size > 1_000_000, 'rows of the transaction had reached the disk');
  child.kill('SIGKILL');
  await exited;
  const archive = openAt(path);
  t.after(() => archive.close());
  assert.deepEqual([await archive.port.loadCompaction(1), await archive.port.listPrepared()], [null, []]);
  const id = await applied(archive, compactionDraft(1), [lineDraft(1)]);
  assert.equal((await archive.readLines(id)).length, 1);
});
