import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../../../src/ports/codec.ts';
import {
  answer,
  compaction,
  compactionStart,
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
      const pins = new Map(entries.flatMap(({ pin, line }) => (pin === undefined ? [] : [[pin, line] as const])));
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
    { numRuns: 1500 },
  );
});
