import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWorkingFolder } from '../../../src/adapters/transcript/working-folder.ts';

test('the folder that was worked in is that of the first record that names one', () => {
  assert.equal(
    readWorkingFolder([
      { type: 'summary', leafUuid: 'u' },
      { type: 'user', cwd: '/work/harbor', parentUuid: null },
    ]),
    '/work/harbor',
  );
});

test('records that name no folder tell of none, whatever they are', () => {
  assert.equal(readWorkingFolder([{ type: 'summary' }, null, 7, { cwd: 3 }]), null);
});
