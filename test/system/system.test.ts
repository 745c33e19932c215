import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { findRemedy } from '../../src/core/result.ts';
import { moveFile, toFileFailure } from '../../src/system/files.ts';

const systemError = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'open' });
const of = (code: string, what: 'read' | 'write' = 'read') => toFileFailure(systemError(code), { path: 'x', what });

suite('what the system says no to', () => {
  test('a full disk and a used-up quota are both no space', () => {
    assert.deepEqual(of('ENOSPC', 'write'), { kind: 'no-space', path: 'x' });
    assert.deepEqual(of('EDQUOT', 'write'), { kind: 'no-space', path: 'x' });
  });

  test('a lack of permission says for what', () => {
    assert.deepEqual(of('EACCES'), { kind: 'denied', path: 'x', what: 'read' });
    assert.deepEqual(of('EPERM', 'write'), { kind: 'denied', path: 'x', what: 'write' });
    assert.deepEqual(of('EROFS', 'write'), { kind: 'denied', path: 'x', what: 'write' });
  });

  test('a code that is not known is passed on, as is one that has a sentence of its own', () => {
    assert.deepEqual(of('ENAMETOOLONG'), { kind: 'io', path: 'x', code: 'ENAMETOOLONG' });
    assert.deepEqual(of('EIO'), { kind: 'io', path: 'x', code: 'EIO' });
  });

  test('an error of the program is thrown on', () => {
    const bug = new TypeError('not a function');
    assert.throws(() => toFileFailure(bug, { path: 'x', what: 'read' }), bug);
  });
});

suite('renaming while another program has the file open, as Windows refuses it', () => {
  /** A system that refuses the first renames with a code. */
  function refusing(times: number, code: string, isWindows: boolean) {
    const seen = { renames: 0, waitedMs: 0 };
    const rename = (): void => {
      seen.renames += 1;
      if (seen.renames <= times) throw systemError(code);
    };
    const wait = (ms: number): void => void (seen.waitedMs += ms);
    return { seen, run: () => moveFile('a', 'b', { isWindows, rename, wait }) };
  }

  test('a scanner that has it open for a moment is waited for', () => {
    for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
      const { seen, run } = refusing(3, code, true);
      run();
      assert.deepEqual(seen, { renames: 4, waitedMs: 61 }, code);
    }
  });

  test('a program that keeps it open is named as the reason, within a second', () => {
    const { seen, run } = refusing(Infinity, 'EPERM', true);
    assert.throws(run, { code: 'EBUSY' });
    assert.ok(seen.renames > 3 && seen.waitedMs < 1000);
    assert.deepEqual(of('EBUSY', 'write'), { kind: 'io', path: 'x', code: 'EBUSY' });
    assert.equal(findRemedy('EBUSY')?.reason, 'another program has it open');
  });

  test('another error is thrown at once, and elsewhere a lack of permission is one', () => {
    for (const [code, isWindows] of [
      ['ENOENT', true],
      ['EPERM', false],
    ] as const) {
      const { seen, run } = refusing(Infinity, code, isWindows);
      assert.throws(run, { code });
      assert.deepEqual(seen, { renames: 1, waitedMs: 0 });
    }
  });
});
