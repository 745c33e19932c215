import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { readOutsideStream } from '../../src/system/outside-file.ts';
import { folderWith } from '../support/folders.ts';

type Context = Parameters<typeof folderWith>[0];

function pipeIn(t: Context): string {
  const path = join(folderWith(t, {}), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

const UNBOUND = { maxBytes: 1000, signal: new AbortController().signal };

test('a named pipe is read to its end, also where its writer comes late and writes in parts', async (t) => {
  const path = pipeIn(t);
  const reading = readOutsideStream(path, { name: 'list', ...UNBOUND, patienceMs: 600_000 });
  spawn('sh', ['-c', 'exec > "$0"; echo a; echo b', path]);
  const read = await reading;
  assert.equal(read.ok && read.value.toString(), 'a\nb\n');
});

test('a pipe that nobody writes to is refused, and not waited for without an end', async (t) => {
  const path = pipeIn(t);
  const read = await readOutsideStream(path, { name: path, ...UNBOUND, patienceMs: 20 });
  const error = { kind: 'not-a-file', path, is: 'a pipe that nobody writes to' };
  assert.deepEqual(read, { ok: false, error });
});

test('waiting for a writer ends when it is aborted, and leaves nothing that keeps the program alive', async (t) => {
  const interruption = new AbortController();
  const reading = readOutsideStream(pipeIn(t), { name: 'list', maxBytes: 1000, signal: interruption.signal });
  interruption.abort();
  await assert.rejects(reading);
});

test('a device without an end is read up to the limit', async () => {
  const read = await readOutsideStream('/dev/zero', { name: 'list', ...UNBOUND });
  assert.deepEqual(read, { ok: false, error: { kind: 'too-large', path: 'list', limitBytes: 1000 } });
});
