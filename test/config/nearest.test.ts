import assert from 'node:assert/strict';
import { test } from 'node:test';
import { likelyName, nearestName } from '../../src/config/nearest.ts';

test('a typo is resolved to the intended name', () => {
  assert.equal(likelyName('scroe', ['run', 'score', 'restore']), 'score');
  assert.equal(likelyName('--jsno', ['--json', '--quiet']), '--json');
});

test('the beginning of a name is the name', () => {
  assert.equal(likelyName('claude', ['chat', 'claude-code']), 'claude-code');
  assert.equal(likelyName('--keep', ['--json', '--keep-recent']), '--keep-recent');
});

test('a word that is like no name is not taken for one', () => {
  assert.equal(likelyName('session', ['run', 'score', 'verify']), null);
  assert.equal(likelyName('anything', []), null);
});

test('dashes, underscores and case do not count', () => {
  assert.equal(nearestName('KEEP-RECENT', ['keep_system', 'keep_recent']), 'keep_recent');
});

test('the nearest name is returned, however far it is', () => {
  assert.equal(nearestName('zzzz', ['alpha', 'beta']), 'beta');
});
