import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, linkSync, openSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { execPath, pid, platform, ppid } from 'node:process';
import { test, type TestContext } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { findWriter } from '../../../src/adapters/fs/open-elsewhere.ts';
import { claudeCode } from '../../../src/adapters/transcript/claude-code/codec.ts';
import { copilot } from '../../../src/adapters/transcript/copilot/codec.ts';
import type { FileWriter } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';

const store = createFileStore();

/** Enough that a search which trusts a descriptor's number finds a wrong writer. */
const LOOKS = 100;

async function writerOf(path: string, maxMs = Number.POSITIVE_INFINITY): Promise<ReturnType<typeof findWriter>> {
  const stamp = await store.stamp(path);
  assert.ok(stamp.ok);
  return findWriter(stamp.value, maxMs);
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

test('a search that has no time left says so', { skip: platform !== 'linux' }, async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  assert.equal(await writerOf(path, -1), 'unknown');
});

test('this process does not count', async (context) => {
  const path = join(folderWith(context, { 'a.jsonl': 'x' }), 'a.jsonl');
  const fd = openSync(path, 'a');
  context.after(() => closeSync(fd));
  assert.equal(await writerOf(path), null);
});

test('a reader whose descriptor number goes to a file opened for writing is not a writer of the first', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x', 'b.jsonl': 'x' });
  const script = `
    const { closeSync, openSync, writeSync } = require('node:fs');
    writeSync(1, 'open\\n');
    const open = (path, flags) => Array.from({ length: 12 }, () => openSync(path, flags));
    for (;;) {
      open(process.argv[1], 'r').forEach((fd) => closeSync(fd));
      open(process.argv[2], 'a').forEach((fd) => closeSync(fd));
    }`;
  const paths = [join(folder, 'a.jsonl'), join(folder, 'b.jsonl')];
  const child = spawn(execPath, ['-e', script, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  assert.equal(String((await once(child.stdout, 'data'))[0]), 'open\n');
  const found = new Set<ReturnType<typeof findWriter>>();
  for (let look = 0; look < LOOKS; look += 1) found.add(await writerOf(join(folder, 'a.jsonl')));
  // Before the folder goes: the loop would create its file again.
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual([...found], [null]);
});

const { findSessionUser } = store;
const ID = '0e0e0e0e-1111-4222-8333-444444444444';
/** A process that has ended. */
const ended = spawnSync(execPath, ['-e', '']).pid;

test('a session of Copilot CLI is open while the process in the name of a lock beside it lives', async (t) => {
  for (const [locks, processId] of [
    [[`inuse.${ppid}.lock`], ppid],
    [[`inuse.${ended}.lock`, `inuse.${ppid}.lock`], ppid],
    [[`inuse.${ended}.lock`], null],
    [[`inuse.${pid}.lock`], null],
    [['inuse.0.lock', 'inuse.-1.lock', 'inuse.x.lock', `inuse.${ppid}.lock.bak`, 'inuse.99999999999.lock'], null],
    [[], null],
  ] as const) {
    const files = Object.fromEntries(locks.map((lock) => [`${ID}/${lock}`, '']));
    const folder = folderWith(t, { [`${ID}/events.jsonl`]: '', 'other/events.jsonl': '', ...files });
    const found = await findSessionUser(join(folder, ID, 'events.jsonl'), copilot.format.openSigns ?? []);
    assert.deepEqual(found, processId === null ? null : { processId, name: 'Copilot CLI' }, locks.join());
    assert.equal(await findSessionUser(join(folder, 'other/events.jsonl'), copilot.format.openSigns ?? []), null);
  }
});

test('a session of Claude Code is open, with its subagents, while a live process notes its id', async (t) => {
  const sign = (sessionId: unknown): string => JSON.stringify({ pid: ppid, sessionId, cwd: '/w' });
  for (const [content, isOpen] of [
    [sign(ID), true],
    [sign('another'), false],
    [sign(null), false],
    [sign(ID).slice(0, -9), false],
    ['null', false],
  ] as const) {
    const folder = folderWith(t, { [`sessions/${ppid}.json`]: content, [`sessions/${ended}.json`]: sign(ID) });
    for (const path of [`projects/-w/${ID}.jsonl`, `projects/-w/${ID}/subagents/agent-1.jsonl`]) {
      const found = await findSessionUser(join(folder, path), claudeCode.format.openSigns ?? []);
      assert.deepEqual(found, isOpen ? { processId: ppid, name: 'Claude Code' } : null, content);
    }
  }
});

test('a link is no sign, and neither is one that is older than the process with its number', async (t) => {
  const folder = folderWith(t, { [`${ID}/inuse.${ppid}.lock`]: '', 'sign.json': JSON.stringify({ sessionId: ID }) });
  utimesSync(join(folder, ID, `inuse.${ppid}.lock`), 1, 1);
  const found = await findSessionUser(join(folder, ID, 'events.jsonl'), copilot.format.openSigns ?? []);
  assert.equal(found === null, platform === 'linux');
  const sessions = folderWith(t, { 'sessions/': '' });
  symlinkSync(join(folder, 'sign.json'), join(sessions, `sessions/${ppid}.json`));
  const path = join(sessions, `projects/-w/${ID}.jsonl`);
  assert.equal(await findSessionUser(path, claudeCode.format.openSigns ?? []), null);
});
