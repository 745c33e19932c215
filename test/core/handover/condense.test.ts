import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condenseMessages } from '../../../src/core/handover/condense.ts';
import { messages } from '../../support/messages.ts';

test('condensed messages keep short texts whole and the head and tail of long ones', () => {
  const said = messages({ content: 'Keep this.' }, { content: `start ${'x'.repeat(5_000)} end` });
  const condensed = condenseMessages(said, 400);
  assert.equal(condensed[0], said[0]);
  assert.match(condensed[1]?.content ?? '', /^start x+\nx+ end$/);
  assert.ok(condensed.reduce((sum, { content }) => sum + content.length, 0) <= 401);
});

test('messages that fit are not condensed', () => {
  const said = messages({ content: 'Keep this.' });
  assert.equal(condenseMessages(said, 400), said);
});
