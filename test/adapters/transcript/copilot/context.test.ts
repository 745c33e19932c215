import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  answer,
  chain,
  compaction,
  compactionStart,
  contextLines,
  meta,
  readEntries,
  result,
  session,
  user,
} from './events.ts';
import { replay } from './replay.ts';
import { sessions } from './sessions.ts';

test('all messages are sent where nothing was compacted', () => {
  const events = session(user('a'), answer('b', ['c']), result('c'), answer('d'));
  assert.deepEqual(contextLines(events), { prior: null, sent: [2, 3, 4, 5] });
});

test('a compaction stands for all before it but what persons typed', () => {
  const events = session(
    user('a'),
    answer('b'),
    user('skill', { source: 'skill-x' }),
    compactionStart,
    compaction('s'),
    user('e'),
  );
  assert.deepEqual(contextLines(events), { prior: 6, sent: [2, 7] });
});

test('what was said while it was made is sent after it', () => {
  const events = session(user('a'), answer('b'), compactionStart, answer('c'), user('d'), compaction('s'), answer('e'));
  assert.deepEqual(contextLines(events), { prior: 7, sent: [2, 5, 6, 8] });
});

test('calls that were at work when it began are sent with their results', () => {
  const calls = answer('b', ['c', 'd']);
  const events = session(user('a'), calls, result('d'), compactionStart, result('c'), compaction('s'));
  assert.deepEqual(contextLines(events), { prior: 7, sent: [2, 3, 4, 6] });
});

test('one that failed changes nothing, and its start counts no more', () => {
  const failed = meta('session.compaction_complete', { success: false, error: 'x' });
  const events = session(user('a'), compactionStart, answer('b'), failed, answer('c'));
  assert.deepEqual(contextLines(events), { prior: null, sent: [2, 4, 6] });
  assert.deepEqual(contextLines([...events, ...session(compaction('s')).slice(1)]), { prior: 7, sent: [2] });
});

test('of several the newest counts, and older summaries are no longer sent', () => {
  const values = session(user('a'), compaction('s'), answer('b'), compaction('t'), answer('c'));
  const { session: reading, entries } = readEntries(values);
  const { priorLine, isStale } = reading.readContext(entries);
  assert.deepEqual([priorLine, entries.filter(({ kind }) => kind === 'summary').map(isStale)], [5, [true, false]]);
});

test('what subagents say is not sent', () => {
  const events = session(user('a'), answer('b', ['c']), answer('x', [], { parentToolCallId: 'c' }), result('c'));
  assert.deepEqual(contextLines(events).sent, [2, 3, 5]);
});

test('parents do not count: Copilot goes by the order of lines', () => {
  const events = chain([meta('session.start'), user('a'), answer('b'), user('c')]);
  const loose = events.map((event) => ({ ...event, parentId: null }));
  assert.deepEqual(contextLines(loose.toReversed()).sent, [1, 2, 3]);
});

test('events of a call go with its result, where there is none with the call', () => {
  const run = (id: string) => meta('tool.execution_start', { toolCallId: id });
  const values = session(answer('b', ['c', 'd']), run('c'), run('d'), run('nobody'), result('c'));
  const { session: reading, entries } = readEntries(values);
  const { companionOf } = reading.readContext(entries);
  assert.deepEqual(
    entries.map((entry) => companionOf?.(entry)),
    [null, null, 6, 2, null, null],
  );
});

test('what is sent, and the summary before it, are what Copilot has when it has read the file', () => {
  fc.assert(
    fc.property(sessions, (values) => {
      const { summary, prompts, sent } = replay(values);
      const view = contextLines(values);
      const prior = view.prior === null ? null : Object(values[view.prior - 1]).data.summaryContent;
      assert.equal(prior, summary);
      const told = new Set(view.sent.map((line) => Object(values[line - 1]).id));
      const texts = new Set(view.sent.map((line) => Object(values[line - 1]).data.content));
      assert.deepEqual(
        sent.filter((event) => !told.has(Object(event).id)),
        [],
      );
      assert.deepEqual(
        prompts.filter((text) => !texts.has(text)),
        [],
      );
      const known = new Set(sent.map((event) => Object(event).id));
      const more = view.sent.filter((line) => !known.has(Object(values[line - 1]).id));
      assert.deepEqual(
        more.filter((line) => !prompts.includes(Object(values[line - 1]).data.content)),
        [],
      );
    }),
    { numRuns: 1500 },
  );
});
