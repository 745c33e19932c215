import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runProcess, startWaiting } from '../support/program.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const original = chatTranscript(80);
const LATE = `{"role":"user","content":"${'late '.repeat(8000)}"}\n`;

test('a line that comes while the file is replaced, on a disk that is full then, costs nothing: the file stays as it is', async (t) => {
  const disk = await mountSmallDisk(t, { sizeBytes: 2 * 1024 * 1024 });
  const archive = join(folderWith(t, {}), 'archive.db');
  const file = join(disk.seen, 'talk.jsonl');
  const names = (): readonly string[] => readdirSync(disk.seen).filter((name) => name !== 'filler.bin');
  writeFileSync(file, original);
  const args = ['-i', '--archive', archive, join(disk.path, 'talk.jsonl')];
  const waiting = await startWaiting(t, 'looked', { args, wrapper: disk.wrapper });
  appendFileSync(file, LATE);
  disk.leave(0);
  const ended = await waiting.goOn();
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /talk\.jsonl: no space is left there\./);
  assert.deepEqual(names(), ['talk.jsonl']);
  assert.equal(readFileSync(file, 'utf8'), original + LATE);
  disk.leave(1024 * 1024);
  const next = await runProcess(args, { wrapper: disk.wrapper });
  assert.equal(next.code, 0, next.stderr);
  assert.deepEqual(names(), ['talk.jsonl']);
  const restored = await runProcess(['restore', '--all', ...args.slice(1)], { wrapper: disk.wrapper });
  assert.equal(restored.stdout, original + LATE);
});
