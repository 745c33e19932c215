import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildAnthropicSystemParam, type Message } from '../../src/index.ts';

const messages: readonly Message[] = [
  { role: 'system', content: 'first' },
  { role: 'user', content: 'not this' },
  {
    role: 'system',
    content: [
      { type: 'text', text: 'second' },
      { type: 'text', text: 'third' },
    ],
  },
];

test('M1, M4: the system prompt and then the system messages, in order, parted by a blank line', () => {
  assert.equal(buildAnthropicSystemParam('prompt', messages), 'prompt\n\nfirst\n\nsecond\n\nthird');
});

test('M3: the system prompt alone is what it is, to the character', () => {
  assert.equal(buildAnthropicSystemParam(' prompt\n', []), ' prompt\n');
});

test('system messages without a system prompt', () => {
  assert.equal(buildAnthropicSystemParam(undefined, messages), 'first\n\nsecond\n\nthird');
});

test('where nothing is said there is no parameter', () => {
  assert.equal(buildAnthropicSystemParam(undefined, [{ role: 'user', content: 'hi' }]), undefined);
  assert.equal(buildAnthropicSystemParam(' ', [{ role: 'system', content: '\n' }]), undefined);
});
