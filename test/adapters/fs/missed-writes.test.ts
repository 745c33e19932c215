import assert from 'node:assert/strict';
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import type { BackupLink } from '../../../src/adapters/fs/leftovers.ts';
import { appendMissedWrites, missingFrom } from '../../../src/adapters/fs/missed-writes.ts';
import { folderWith } from '../../support/folders.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

suite('which missed bytes are not in the target yet', () => {
  for (const [what, late, since, missing] of [
    ['all of them where nothing came since', 'a\nb\n', '', 'a\nb\n'],
    ['nothing where they came first', 'a\nb\n', 'a\nb\nc\n', ''],
    ['nothing where they came after another line', 'a\nb\n', 'c\na\nb\n', ''],
    ['the rest where a write ended in the middle', 'aa\nbb\n', 'aa\nb', 'b\n'],
    ['the lines that are not whole where something came after that', 'aa\nbb\n', 'aa\nb{}\n', 'bb\n'],
    ['all of them where others begin alike', '{"a":1}\n', '{"a":2}\n', '{"a":1}\n'],
    ['all of them where they only end a line of somebody else', '1}\n', '{"a":1}\n', '1}\n'],
  ] as const) {
    test(`is ${what}`, () => {
      assert.equal(missingFrom(bytes(late), bytes(since)).toString(), missing);
    });
  }

  test('is what was not written yet, wherever the writing ended', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b') }), { minLength: 1 });
    fc.assert(
      fc.property(lines, fc.nat(), (texts, cut) => {
        const late = bytes(texts.map((text) => `${text}\n`).join(''));
        const done = late.subarray(0, cut % (late.length + 1));
        assert.deepEqual(Buffer.concat([done, missingFrom(late, done)]), late);
      }),
    );
  });
});

type Scene = { readonly target: string; readonly old: BackupLink };

/** A target whose replaced file has another name still. */
function sceneWith(context: TestContext, { before, late, target, since = '' }: { [name: string]: string }): Scene {
  const folder = folderWith(context, { 'a.jsonl': `${target}${since}`, 'a.old': `${before}${late}` });
  const path = join(folder, 'a.old');
  const { ino: inode } = statSync(path, { bigint: true });
  const facts = { fromBytes: before?.length ?? 0, atBytes: target?.length ?? 0, inode };
  return { target: join(folder, 'a.jsonl'), old: { path, ...facts } };
}

suite('what came to a file while it was replaced', () => {
  for (const [what, scene, expected] of [
    ['stands at the end of what replaced it', { before: '1\n2\n', late: '3\n', target: 's\n' }, 's\n3\n'],
    ['comes after what came since', { before: '1\n', late: '3\n', target: 's\n', since: '4\n' }, 's\n4\n3\n'],
    ['begins a line where the target does not end one', { before: '1\n', late: '3\n', target: 's' }, 's\n3\n'],
    ['goes on with the line that is half there', { before: '1\n2', late: '3\n', target: 's\n2' }, 's\n23\n'],
    ['is not brought over twice', { before: '1\n', late: '3\n', target: 's\n', since: '3\n4\n' }, 's\n3\n4\n'],
    // The first bytes are those of zstd's skippable frames, which are text.
    ['stands as it is behind what is packed', { before: 'P*M\x18\n', late: '3', target: 'P*M\x18s' }, 'P*M\x18s3'],
    ['may be nothing', { before: '1\n', late: '', target: 's' }, 's'],
  ] as const) {
    test(what, (context) => {
      const { target, old } = sceneWith(context, scene);
      assert.equal(appendMissedWrites(target, old), true);
      assert.deepEqual([readFileSync(target, 'utf8'), existsSync(old.path)], [expected, false]);
    });
  }

  test('is in the file already where it was not replaced', (context) => {
    const { target, old } = sceneWith(context, { before: '1\n', late: '', target: '1\n' });
    rmSync(old.path);
    writeFileSync(target, '1\n2\n');
    linkSync(target, old.path);
    const { ino: inode } = statSync(target, { bigint: true });
    assert.equal(appendMissedWrites(target, { ...old, inode }), true);
    assert.deepEqual([readFileSync(target, 'utf8'), existsSync(old.path)], ['1\n2\n', false]);
  });

  test('stays where it is while the target is gone', (context) => {
    const { target, old } = sceneWith(context, { before: '1\n', late: '3\n', target: 's\n' });
    rmSync(target);
    assert.equal(appendMissedWrites(target, old), false);
    assert.deepEqual([readFileSync(old.path, 'utf8'), existsSync(target)], ['1\n3\n', false]);
  });

  for (const [what, late, hasOtherName] of [
    ['there is none of it', '', false],
    ['it stands under another name too', '3\n', true],
  ] as const) {
    test(`is not waited for where the target is gone and ${what}`, (context) => {
      const { target, old } = sceneWith(context, { before: '1\n', late, target: 's\n' });
      rmSync(target);
      if (hasOtherName) linkSync(old.path, `${target}.moved`);
      assert.equal(appendMissedWrites(target, old), true);
      assert.deepEqual([existsSync(old.path), existsSync(target)], [false, false]);
    });
  }
});
