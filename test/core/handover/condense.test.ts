import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condenseMessages, createCondenser } from '../../../src/core/handover/condense.ts';
import type { ConversationMessage } from '../../../src/core/message.ts';
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

test('messages that are dropped are the oldest results, and the others keep their order', () => {
  const said = Array.from({ length: 60 }, (_, at): Partial<ConversationMessage> =>
    at % 3 === 0
      ? { role: 'user', content: `Request ${at}.`, typed: `Request ${at}.` }
      : { role: 'tool', content: `result ${at} ${'x'.repeat(300)}` },
  );
  const all = messages(...said);
  const left = condenseMessages(all, 6_000);
  const order = left.map(({ id }) => all.findIndex((message) => message.id === id));
  assert.deepEqual(
    order,
    [...new Set(order)].sort((a, b) => a - b),
  );
  assert.equal(left.filter(({ typed }) => typed !== undefined).length, 20);
  assert.deepEqual(
    left.filter(({ role }) => role === 'tool').map(({ id }) => id),
    all
      .filter(({ role }) => role === 'tool')
      .slice(-left.filter(({ role }) => role === 'tool').length)
      .map(({ id }) => id),
  );
  assert.ok(left.reduce((sum, { content }) => sum + content.length, 0) <= 6_000);
});

test('a condenser stays within its bounds, and keeps requests whole and both ends of results', () => {
  const maxChars = 100_000;
  const condenser = createCondenser(maxChars);
  for (let at = 0; at < 200; at += 1) {
    const [request, result] = messages(
      { id: `r${at}`, role: 'user', content: `Request ${at}.`, typed: `Request ${at}.` },
      { id: `t${at}`, role: 'tool', content: `first ${at} ${'x'.repeat(at * 40)} last ${at}` },
    );
    for (const message of [request, result]) if (message !== undefined) condenser.add(message);
    assert.ok(condenser.messages().reduce((sum, { content }) => sum + content.length, 0) <= maxChars);
  }
  const left = condenser.messages();
  assert.deepEqual(
    left.flatMap(({ typed }) => typed ?? []),
    Array.from({ length: 200 }, (_, at) => `Request ${at}.`),
  );
  const results = left.filter(({ role }) => role === 'tool');
  assert.equal(results.length, 200);
  for (const [at, { content }] of results.entries()) {
    assert.ok(content.startsWith(`first ${at} `) && content.endsWith(` last ${at}`), content);
  }
});

test('a condenser that never has too much keeps what it gets', () => {
  const said = messages({ content: 'Keep this.' }, { role: 'tool', content: 'x'.repeat(900) });
  const condenser = createCondenser(1_000);
  for (const message of said) condenser.add(message);
  assert.deepEqual(condenser.messages(), said);
});
