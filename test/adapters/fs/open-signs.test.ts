import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { execPath, pid, platform, ppid } from 'node:process';
import { test } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { claudeCode } from '../../../src/adapters/transcript/claude-code/codec.ts';
import { copilot } from '../../../src/adapters/transcript/copilot/codec.ts';
import { folderWith } from '../../support/folders.ts';

const { findSessionUser } = createFileStore();
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
