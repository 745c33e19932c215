import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCodec } from '../../../src/adapters/transcript/registry.ts';
import { findWorkingFolder } from '../../../src/adapters/transcript/working-folder.ts';

test('the folder that was worked in is that of the first record that names one', () => {
  assert.equal(
    findWorkingFolder()([
      { type: 'summary', leafUuid: 'u' },
      { type: 'user', cwd: '/work/harbor', parentUuid: null },
      { type: 'user', cwd: '/work/pier' },
    ]),
    '/work/harbor',
  );
});

test('it is looked for where the format has it, and nowhere else', () => {
  const find = findWorkingFolder('data', 'context');
  assert.equal(find([{ cwd: '/a', data: { cwd: '/b', context: { cwd: '/work/harbor' } } }]), '/work/harbor');
  assert.equal(find([{ cwd: '/a', data: { cwd: '/b', context: {} } }]), null);
});

test('records that name no folder tell of none, whatever they are', () => {
  assert.equal(findWorkingFolder()([{ type: 'summary' }, null, 7, { cwd: 3 }]), null);
  assert.equal(findWorkingFolder('payload')([{ payload: [] }, null, { payload: { cwd: 3 } }]), null);
});

for (const [format, record] of [
  ['claude-code', { type: 'user', cwd: '/work/harbor' }],
  ['codex', { type: 'session_meta', payload: { cwd: '/work/harbor' } }],
  ['pi', { type: 'session', cwd: '/work/harbor' }],
  ['copilot', { type: 'session.start', data: { context: { cwd: '/work/harbor' } } }],
] as const) {
  test(`${format} has it where its producer writes it`, () => {
    assert.equal(findCodec(format)?.readProject?.([{}, record]), '/work/harbor');
  });
}
