import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toFileFailure } from '../../src/system/files.ts';

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
