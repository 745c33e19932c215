import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginRun, thisMachine, thisUser } from '../../../src/adapters/runtime/node.ts';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { findRunToUndo } from '../../../src/app/restore/undo.ts';
import { runMark } from '../../support/run-mark.ts';

test('a machine has one name, which tells it from others and does not contain its id', () => {
  const id = '0123456789abcdef0123456789abcdef';
  const name = thisMachine({ host: 'db', id });
  assert.equal(name, thisMachine({ host: 'db', id }));
  assert.match(name, /^db [\da-f]{16}$/);
  assert.equal(name.includes(id.slice(0, 16)), false);
  const others = [
    { host: 'web', id },
    { host: 'db', id: id.toUpperCase() },
    { host: 'db', id: '' },
  ];
  assert.equal(new Set([name, ...others.map(thisMachine)]).size, 4);
  assert.equal(thisMachine(), thisMachine());
});

test('undo proposes a run of this user on this machine only, whatever was merged or imported later', async () => {
  const machine = 'db 1';
  const [own, other, elsewhere] = [
    { machine, user: 1 },
    { machine, user: 2 },
    { machine: 'web 1', user: 1 },
  ].map((who) => beginRun(null, () => thisUser(who)));
  assert.ok(own !== undefined && other !== undefined && elsewhere !== undefined);
  assert.notEqual(own.token, beginRun(null, () => thisUser({ machine, user: 1 })).token);
  const path = import.meta.filename;
  const file = { id: 1, compactionId: 1, sourcePath: path, outputPath: path, title: null, undoneAt: null };
  const files = [{ ...file, sizeBytes: { before: 2, after: 1 } }];
  const runs = [elsewhere, other, own].map(({ token }, id) => ({ ...runMark(token), id, undoneAt: null, files }));
  const run = beginRun(null, () => thisUser({ machine, user: 1 }));
  assert.equal((await findRunToUndo({ files: createFileStore(), run }, runs))?.id, 2);
  assert.equal(await findRunToUndo({ files: createFileStore(), run }, runs.slice(0, 2)), null);
});
