import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { after, test } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { folderWith } from '../../support/folders.ts';
import { becomeOrdinaryUser } from '../../support/ordinary-user.ts';

// Loaded before: nobody may be able to read them afterwards.
await import('../../../src/adapters/fs/file-lock.ts');
await import('better-sqlite3');
const isRoot = getuid?.() === 0;
/** Root's file that everybody may write, in a folder of the user that this process becomes. */
const shared = mkdtempSync(join(tmpdir(), 'compact-test-'));
after(() => rmSync(shared, { recursive: true }));
writeFileSync(join(shared, 'a.jsonl'), 'old');
chmodSync(join(shared, 'a.jsonl'), 0o666);
if (isRoot) chownSync(shared, 65534, 65534);
becomeOrdinaryUser();
const store = createFileStore();

const NEEDS_ROOT = { skip: !isRoot && 'only root may make a file that is not its own' };

test('a file of somebody else is not replaced: they could not write to it any more', NEEDS_ROOT, async () => {
  const path = join(shared, 'a.jsonl');
  const lock = await store.lock(path);
  assert.ok(lock.ok);
  const begun = await lock.value.begin(path);
  lock.value.release();
  assert.deepEqual(begun, { ok: false, error: { kind: 'denied', path, what: 'write', reason: 'owner' } });
  assert.deepEqual([readdirSync(shared), readFileSync(path, 'utf8')], [['a.jsonl'], 'old']);
});

test('a new file that is made of somebody else’s belongs to who makes it, with its mode', NEEDS_ROOT, async () => {
  const path = join(shared, 'out.jsonl');
  const lock = await store.lock(path);
  assert.ok(lock.ok);
  const begun = await lock.value.begin(join(shared, 'a.jsonl'));
  assert.ok(begun.ok, JSON.stringify(begun));
  assert.equal((await begun.value.takePlace(null)).ok, true);
  begun.value.close();
  lock.value.release();
  const { uid, mode } = statSync(path);
  rmSync(path);
  assert.deepEqual([uid, mode & 0o777], [65534, 0o666]);
});

function lockNameOf(name: string): string {
  return `.compact-${createHash('sha256').update(name).digest('hex').slice(0, 12)}.lock`;
}

test('a lock that was taken is given back where its folder cannot be searched for what else was left', async (context) => {
  const folder = folderWith(context, { 'a.jsonl': 'x', [lockNameOf('a.jsonl')]: '' });
  const path = join(folder, 'a.jsonl');
  chmodSync(folder, 0o333);
  const first = await store.lock(path);
  chmodSync(folder, 0o755);
  assert.deepEqual(first, { ok: false, error: { kind: 'denied', path: folder, what: 'write' } });
  const second = await store.lock(path);
  assert.ok(second.ok);
  second.value.release();
});

for (const [what, mode] of [
  ['not be opened', 0],
  ['only be read', 0o444],
] as const) {
  test(`a lock file that may ${what} is denied, and nobody has the lock`, async (context) => {
    const folder = folderWith(context, { 'a.jsonl': 'x', [lockNameOf('a.jsonl')]: '' });
    const lock = join(folder, lockNameOf('a.jsonl'));
    chmodSync(lock, mode);
    const denied = { ok: false, error: { kind: 'denied', path: lock, what: 'write' } };
    assert.deepEqual(await store.lock(join(folder, 'a.jsonl')), denied);
    assert.deepEqual(await store.lock(join(folder, 'a.jsonl')), denied);
  });
}
