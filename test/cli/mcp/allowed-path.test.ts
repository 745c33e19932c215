import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  type AllowedFolder,
  leadsOutside,
  openAllowed,
  resolveAllowed,
  resolveFolder,
} from '../../../src/cli/mcp/compact-context.ts';
import { folderWith } from '../../support/folders.ts';

type Place = { readonly root: string; readonly folders: readonly AllowedFolder[] };

function allow(root: string, ...names: readonly string[]): readonly AllowedFolder[] {
  return names.map((name) => {
    const folder = resolveFolder(name, root);
    assert.ok(folder.ok, JSON.stringify(folder));
    return folder.value;
  });
}

/** A folder that is allowed, and one beside it, whose name begins alike, that is not. */
function place(t: TestContext): Place {
  const files = { 'logs/a.jsonl': 'a', 'logs/deep/b.jsonl': 'b', 'logs-private/secret.jsonl': 's' };
  const root = realpathSync(folderWith(t, files));
  return { root, folders: allow(root, 'logs') };
}

function assertRefused({ folders }: Place, path: string, why: RegExp): void {
  const resolved = resolveAllowed(path, folders);
  assert.ok(!resolved.ok, JSON.stringify(resolved));
  assert.match(resolved.error, why);
}

const OUTSIDE = /: outside the allowed folders \(/;

test('a file in the folder is found by its absolute path and from the folder, however it is written', (t) => {
  const { root, folders } = place(t);
  for (const path of ['a.jsonl', './deep/../a.jsonl', join(root, 'logs/a.jsonl'), `${root}/logs/../logs//a.jsonl`]) {
    assert.deepEqual(resolveAllowed(path, folders), { ok: true, value: join(root, 'logs/a.jsonl') }, path);
  }
});

test('what is outside is refused, there or not', (t) => {
  const scene = place(t);
  for (const path of [
    '/etc/passwd',
    '/etc/no-such-file',
    '../logs-private/secret.jsonl',
    'deep/../../logs-private/secret.jsonl',
    '../logs-private/no-such-file',
    join(scene.root, 'logs-private/secret.jsonl'),
    '..',
    '/',
  ]) {
    assertRefused(scene, path, OUTSIDE);
  }
});

test('a link that leads outside is refused, and one that stays inside is followed', (t) => {
  const scene = place(t);
  const { root, folders } = scene;
  symlinkSync(join(root, 'logs-private/secret.jsonl'), join(root, 'logs/link.jsonl'));
  symlinkSync(join(root, 'logs-private'), join(root, 'logs/way'));
  symlinkSync('../a.jsonl', join(root, 'logs/deep/inside.jsonl'));
  symlinkSync(join(root, 'logs-private/none'), join(root, 'logs/dangling.jsonl'));
  assertRefused(scene, 'link.jsonl', OUTSIDE);
  assertRefused(scene, 'way/secret.jsonl', OUTSIDE);
  assertRefused(scene, 'dangling.jsonl', /no such file or folder/);
  assert.deepEqual(resolveAllowed('deep/inside.jsonl', folders), { ok: true, value: join(root, 'logs/a.jsonl') });
});

test('a folder that is named by a link is where the link leads', (t) => {
  const { root } = place(t);
  symlinkSync(join(root, 'logs'), join(root, 'current'));
  const folders = allow(root, 'current');
  for (const path of ['a.jsonl', join(root, 'current/a.jsonl'), join(root, 'logs/a.jsonl')]) {
    assert.deepEqual(resolveAllowed(path, folders), { ok: true, value: join(root, 'logs/a.jsonl') }, path);
  }
});

test('of several folders each is looked into', (t) => {
  const { root } = place(t);
  const folders = allow(root, 'logs/deep', 'logs-private');
  const secret = join(root, 'logs-private/secret.jsonl');
  assert.deepEqual(resolveAllowed('secret.jsonl', folders), { ok: true, value: secret });
  assertRefused({ root, folders }, join(root, 'logs/a.jsonl'), OUTSIDE);
});

test('what is no file is refused without being opened', (t) => {
  const scene = place(t);
  assert.equal(spawnSync('mkfifo', [join(scene.root, 'logs/pipe.jsonl')]).status, 0);
  assertRefused(scene, 'deep', /^deep: not a file: it is a folder\./);
  assertRefused(scene, '.', /^\.: not a file: it is a folder\./);
  assertRefused(scene, 'pipe.jsonl', /^pipe\.jsonl: not a file: it is neither a file nor a folder\./);
  assertRefused(scene, 'none.jsonl', /^none\.jsonl: no such file or folder\./);
  assertRefused(scene, 'a.jsonl/x', /^a\.jsonl\/x: no such file or folder\./);
  assertRefused(scene, 'a.jsonl\0', /^The path is empty or contains a NUL\./);
  assertRefused(scene, '', /^The path is empty or contains a NUL\./);
  assertRefused(scene, 'x'.repeat(5000), /ENAMETOOLONG/);
});

test('an output may be new, a file, or a link that stays inside', (t) => {
  const { root, folders } = place(t);
  symlinkSync('a.jsonl', join(root, 'logs/inside.jsonl'));
  symlinkSync('../logs-private/secret.jsonl', join(root, 'logs/out.jsonl'));
  symlinkSync('../logs-private/new.jsonl', join(root, 'logs/nowhere.jsonl'));
  const found = ['new', 'a', 'inside', 'out', 'nowhere'].map((name) =>
    leadsOutside(join(root, `logs/${name}.jsonl`), folders),
  );
  assert.deepEqual(found, [false, false, false, true, true]);
});

test('a file, or nothing, is no folder to work in', (t) => {
  const { root } = place(t);
  const kinds = ['logs/a.jsonl', 'none', 'logs/a.jsonl/x'].map((name) => {
    const folder = resolveFolder(name, root);
    return folder.ok ? 'ok' : folder.error.kind;
  });
  assert.deepEqual(kinds, ['not-a-file', 'not-found', 'not-a-file']);
});

/** Swaps a folder for a link that leads outside, and back, and again. */
const SWAPPER = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [deep, hold, outside] = process.argv.slice(1);
process.stdout.write('.');
for (;;) {
  renameSync(deep, hold);
  symlinkSync(outside, deep);
  unlinkSync(deep);
  renameSync(hold, deep);
}`;

test('of 10,000 calls that race with swapped folders, none opens what is outside', async (t) => {
  const files = { 'logs/deep/b.jsonl': 'b', 'private/b.jsonl': 's' };
  const root = realpathSync(folderWith(t, files));
  const folders = allow(root, 'logs');
  const inside = statSync(join(root, 'logs/deep/b.jsonl'), { bigint: true }).ino;
  const paths = ['logs/deep', 'hold', 'private'].map((name) => join(root, name));
  const swapper = spawn(process.execPath, ['-e', SWAPPER, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(swapper, 'exit');
  await once(swapper.stdout, 'data');
  const counts = { opened: 0, refused: 0, outside: 0 };
  // On a busy machine the other process may rest for longer than these calls take.
  const isOneSided = (): boolean => counts.opened === 0 || counts.refused === 0;
  for (let call = 0; call < 10_000 || (isOneSided() && call < 1_000_000); call += 1) {
    const file = openAllowed('deep/b.jsonl', folders);
    if (file.ok) {
      counts.opened += 1;
      if (file.value.identity.inode !== inside) counts.outside += 1;
      file.value.close();
    } else {
      counts.refused += 1;
    }
  }
  swapper.kill('SIGKILL');
  await ended;
  assert.equal(counts.outside, 0);
  assert.ok(counts.opened > 0 && counts.refused > 0, JSON.stringify(counts));
});
