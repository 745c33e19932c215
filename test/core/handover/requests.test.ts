import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingOf } from '../../../src/core/handover/excerpt.ts';
import { writeRequests } from '../../../src/core/handover/handover.ts';
import { messages } from '../../support/messages.ts';

test('the opening of a text is its first sentence, however much follows or is blank before it', () => {
  for (const before of ['', '\n\n  ', '\n'.repeat(700), ' '.repeat(5_000)]) {
    for (const after of ['', ' And more.', ' And more.'.repeat(400)]) {
      assert.equal(openingOf(`${before}Look at this first.${after}`, 160), 'Look at this first.');
    }
  }
  const endless = 'one word after the other '.repeat(300);
  assert.equal(openingOf(endless, 30), 'one word after the other one…');
});

test('of more requests than fit, the first and the newest are listed', () => {
  const maxChars = 2_000;
  const said = Array.from({ length: 3_000 }, (_, at) => ({
    role: 'user' as const,
    content: `Do task ${at + 1}.`,
    typed: `Do task ${at + 1}.`,
  }));
  const lines = writeRequests(messages(...said), { maxChars }).map(({ text }) => text);
  assert.equal(lines[0], '1. Do task 1.');
  assert.deepEqual(
    lines.slice(1),
    Array.from({ length: lines.length - 1 }, (_, at) => {
      const number = 3_000 - (lines.length - 2) + at;
      return `${number}. Do task ${number}.`;
    }),
  );
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  assert.ok(chars <= maxChars && chars > maxChars - 30, String(chars));
});
