import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWorkingFolder } from '../../../../src/adapters/transcript/codex/working-folder.ts';

test('the folder that was worked in is that of the first record that names one', () => {
  assert.equal(
    readWorkingFolder([{ type: 'session_meta', payload: { id: 't', cwd: '/work/harbor' } }]),
    '/work/harbor',
  );
});

test('records that name no folder tell of none, whatever they are', () => {
  assert.equal(readWorkingFolder([{ type: 'session_meta', payload: {} }, null, { payload: { cwd: 3 } }]), null);
});
