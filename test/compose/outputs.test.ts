import assert from 'node:assert/strict';
import { existsSync, linkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type InputPath, makeFolderFor, type OutputChoice, planOutputs } from '../../src/compose/outputs.ts';
import { folderWith } from '../support/folders.ts';

function file(path: string, pathInFolder = path.slice(path.lastIndexOf('/') + 1)): InputPath {
  return { path, pathInFolder };
}

function plan(files: readonly InputPath[], choice: OutputChoice, isSeveral = files.length > 1) {
  return planOutputs({ files, choice, isSeveral });
}

test('the default output is beside the input', () => {
  assert.deepEqual(plan([file('d/x.jsonl')], { kind: 'default' }), {
    ok: true,
    value: [{ kind: 'default', path: 'd/x.compact.jsonl' }],
  });
});

test('for one input the output is a file, and an existing folder takes it in', (t) => {
  const folder = folderWith(t, { 'out/': '' });
  const one = plan([file('x.jsonl')], { kind: 'path', path: join(folder, 'y.jsonl') });
  assert.deepEqual(one.ok && one.value, [{ kind: 'file', path: join(folder, 'y.jsonl') }]);
  const within = plan([file('x.jsonl')], { kind: 'path', path: join(folder, 'out') });
  assert.deepEqual(within.ok && within.value, [{ kind: 'file', path: join(folder, 'out/x.compact.jsonl') }]);
});

test('for several inputs the output is a folder that repeats their paths', (t) => {
  const out = join(folderWith(t, {}), 'out');
  const planned = plan([file('d/a/x.jsonl', 'a/x.jsonl'), file('y.jsonl')], { kind: 'path', path: out });
  assert.deepEqual(planned.ok && planned.value, [
    { kind: 'file', path: join(out, 'a/x.compact.jsonl') },
    { kind: 'file', path: join(out, 'y.compact.jsonl') },
  ]);
});

test('several inputs cannot go into one file, whether it exists or is only named like one', (t) => {
  const folder = folderWith(t, { taken: '' });
  const taken = join(folder, 'taken');
  const named = join(folder, 'new.jsonl');
  const files = [file('x.jsonl'), file('y.jsonl')];
  assert.deepEqual(plan(files, { kind: 'path', path: taken }), {
    ok: false,
    error: { kind: 'needs-folder', path: taken, exists: true },
  });
  assert.deepEqual(plan(files, { kind: 'path', path: named }), {
    ok: false,
    error: { kind: 'needs-folder', path: named, exists: false },
  });
});

test('a folder is any number of inputs, even with one transcript in it', (t) => {
  const out = join(folderWith(t, {}), 'out');
  const planned = plan([file('d/x.jsonl')], { kind: 'path', path: out }, true);
  assert.deepEqual(planned.ok && planned.value, [{ kind: 'file', path: join(out, 'x.compact.jsonl') }]);
  assert.deepEqual(plan([file('d/x.jsonl')], { kind: 'stdout' }, true), {
    ok: false,
    error: { kind: 'several-on-stdout' },
  });
});

test('an output that is the input under another name is refused', (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  linkSync(join(folder, 'x.jsonl'), join(folder, 'y.jsonl'));
  const input = join(folder, 'x.jsonl');
  const output = join(folder, 'y.jsonl');
  assert.deepEqual(plan([file(input)], { kind: 'path', path: output }), {
    ok: false,
    error: { kind: 'equals-input', output, input },
  });
});

test('a default output that is another input is refused', (t) => {
  const folder = folderWith(t, { 'x.jsonl': '', 'x.compact.jsonl': '' });
  const ours = join(folder, 'x.compact.jsonl');
  assert.deepEqual(plan([file(join(folder, 'x.jsonl')), file(ours)], { kind: 'default' }), {
    ok: false,
    error: { kind: 'equals-input', output: ours, input: ours },
  });
});

test('two inputs with one output are refused', (t) => {
  const out = join(folderWith(t, {}), 'out');
  assert.deepEqual(plan([file('a/x.jsonl'), file('b/x.jsonl')], { kind: 'path', path: out }), {
    ok: false,
    error: { kind: 'same-output', output: join(out, 'x.compact.jsonl'), inputs: ['a/x.jsonl', 'b/x.jsonl'] },
  });
});

test('planning writes nothing, and making the folder makes it with its parents', (t) => {
  const folder = folderWith(t, { taken: '' });
  const path = join(folder, 'a/b/x.jsonl');
  plan([file('x.jsonl')], { kind: 'path', path: join(folder, 'a/') });
  assert.equal(existsSync(join(folder, 'a')), false);
  assert.deepEqual(makeFolderFor({ kind: 'file', path }), { ok: true, value: undefined });
  assert.equal(existsSync(join(folder, 'a/b')), true);
  const through = makeFolderFor({ kind: 'file', path: join(folder, 'taken/d/x.jsonl') });
  assert.deepEqual(through.ok || through.error.kind, 'not-a-file');
});

test(
  'an output folder where the system makes none is refused at once',
  { skip: process.platform !== 'linux' },
  async () => {
    const path = '/proc/foo/bar/a.jsonl';
    assert.deepEqual(makeFolderFor({ kind: 'file', path }), {
      ok: false,
      error: { kind: 'not-found', path: '/proc/foo/bar' },
    });
  },
);
