import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../../../src/ports/codec.ts';
import {
  answer,
  chain,
  compaction,
  compactionStart,
  contextLines,
  legalLines,
  meta,
  readEntries,
  result,
  session,
  user,
  uuidOf,
} from './events.ts';
import { replay } from './replay.ts';
import { sessions } from './sessions.ts';
import { runsOf } from '../../../support/runs.ts';

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
  const { anchorOf } = reading.readContext(entries);
  assert.deepEqual(
    entries.map((entry) => anchorOf?.(entry)),
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
    { numRuns: runsOf(1500) },
  );
});

test('every message that Copilot sends may begin the kept part', () => {
  assert.deepEqual(
    legalLines(session(user('a'), meta('hook.start'), answer('b', ['c']), result('c'), user('d'))),
    [2, 4, 5, 6],
  );
});

test('what subagents say is no place for a cut', () => {
  assert.deepEqual(legalLines(session(user('a'), { ...answer('b'), agentId: 'x' }, answer('c'))), [2, 4]);
});

test('what a compaction of Copilot left may be parted, what it summarized may not', () => {
  const events = session(user('a'), answer('b'), compactionStart, user('c'), compaction('s'), answer('d'));
  assert.deepEqual(legalLines(events), [5, 7]);
});

test('after any legal cut Copilot has the summary, then an end of what it had, and goes on with the same settings', () => {
  fc.assert(
    fc.property(sessions, (values) => {
      const { session: reading, entries } = readEntries(values);
      const { priorLine } = reading.readContext(entries);
      const problemAt = reading.legalCuts(entries);
      const before = replay(values);
      const pins = new Map(
        entries.flatMap(({ latestKey, line }) => (latestKey === undefined ? [] : [[latestKey, line] as const])),
      );
      const staying = new Set([1, ...pins.values()]);
      for (const { line } of entries.filter((one) => problemAt(one.line) === null)) {
        const rendered = reading.renderSummary({
          text: 'ours',
          conversationId: 'c',
          firstKept: values[line - 1] ?? null,
          lastDropped: null,
          lastKeptId: null,
          tokensBefore: 1,
          quotesTools: false,
          uuid: () => uuidOf(999),
        });
        const ours: readonly Json[] = rendered.map((text): Json => JSON.parse(text));
        const head = values.filter((_, index) => index + 1 < line && staying.has(index + 1));
        const kept = values.filter((_, index) => index + 1 >= line && index + 1 !== priorLine);
        const after = replay([...head, ...ours, ...kept]);
        const { summary, prompts, sent, settings } = after;
        assert.deepEqual({ summary, prompts, settings }, { summary: 'ours', prompts: [], settings: before.settings });
        assert.deepEqual(sent, before.sent.slice(before.sent.length - sent.length));
        assert.deepEqual(sent[0], values[line - 1]);
        const ids = [...head, ...ours, ...kept].map((value) => Object(value).id);
        assert.equal(new Set(ids).size, ids.length, 'no id stands twice');
      }
    }),
    { numRuns: runsOf(1500) },
  );
});
