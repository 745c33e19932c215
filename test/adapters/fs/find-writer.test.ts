import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, linkSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';
import { test, type TestContext } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import type { FileWriter } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();

async function writerOf(path: string): Promise<FileWriter | null> {
  const stamp = await store.stamp(path);
  assert.ok(stamp.ok);
  return store.findWriter(stamp.value);
}

/** A process that has a file open until the test ends. */
async function opener(context: TestContext, path: string, redirection: '<' | '>>' | '<>'): Promise<ChildProcess> {
  const script = `exec 5${redirection}"$1" && echo open && read -r line`;
  const child = spawn('sh', ['-c', script, 'sh', path], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  assert.equal(String((await once(child.stdout, 'data'))[0]), 'open\n');
  return child;
}

/** What can be seen of a process only Linux shows. */
const seen = (child: ChildProcess): FileWriter | null =>
  platform === 'linux' ? { processId: child.pid ?? 0, name: 'sh' } : null;

for (const [how, redirection] of [
  ['to append', '>>'],
  ['to read and write', '<>'],
] as const) {
  test(`a process that has a file open ${how} is found, under any name of the file`, async (context) => {
    const folder = folderWith(context, { 'a.jsonl': 'x' });
    linkSync(join(folder, 'a.jsonl'), join(folder, 'b.jsonl'));
    const child = await opener(context, join(folder, 'a.jsonl'), redirection);
    assert.deepEqual(await writerOf(join(folder, 'b.jsonl')), seen(child));
  });
}

test('who only reads a file is no writer', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  await opener(context, path, '<');
  assert.equal(await writerOf(path), null);
});

test('who writes another file is no writer of this one', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x', 'b.jsonl': 'x' });
  await opener(context, join(folder, 'b.jsonl'), '>>');
  assert.equal(await writerOf(join(folder, 'a.jsonl')), null);
});

test('this process does not count', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  const fd = openSync(path, 'a');
  context.after(() => closeSync(fd));
  assert.equal(await writerOf(path), null);
});
