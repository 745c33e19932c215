import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { compaction, entry, header, legalLines, parseLines, readEntries, thread } from './entries.ts';
import { replay } from './replay.ts';
import { sessions } from './sessions.ts';

test('every message of a thread may begin the kept part, but the first, which hangs on nothing', () => {
  assert.deepEqual(legalLines([header(), ...thread('abcd')]), [3, 4, 5]);
});

test('entries that say nothing, and branches that were left, are no place for a cut', () => {
  const label = entry('label', 'l', 'b', { targetId: 'a' });
  assert.deepEqual(
    legalLines([header(), ...thread('ab'), label, ...thread('xy', 'b'), ...thread('cd', 'l')]),
    [3, 7, 8],
  );
});

test('what a compaction of pi kept may be parted, what it summarized may not', () => {
  const session = [header(), ...thread('abcd'), compaction('c', ['s', 'd']), ...thread('ef', 's')];
  assert.deepEqual(legalLines(session), [4, 5, 7, 8]);
});

test('a session may end with a compaction', () => {
  assert.deepEqual(legalLines([header(), ...thread('abcd'), compaction('b', ['s', 'd'])]), [3, 4, 5]);
});

test('no cut stands where the file would end on another branch without its last compaction', () => {
  const session = [header(), ...thread('abcd'), ...thread('xy', 'a'), compaction('b', ['s', 'd'])];
  assert.deepEqual(legalLines(session), []);
});

test('a compaction that another one replaced is not kept', () => {
  const older = [header(), ...thread('ab'), compaction('b', ['s', 'b']), ...thread('cd', 's')];
  assert.deepEqual(legalLines([...older, compaction('b', ['t', 'd']), ...thread('e', 't')]), [5, 6, 8]);
});

test('no cut stands between an entry and a parent that comes later in the file', () => {
  const [a = {}, b = {}, c = {}, d = {}] = thread('abcd');
  assert.deepEqual(legalLines([header(), a, c, b, d]), [5]);
});

test('after any legal cut pi has the summary, then an end of what it had, and goes on with the same settings', () => {
  fc.assert(
    fc.property(sessions, (values) => {
      const { session, entries } = readEntries(values);
      const { priorLine } = session.readContext(entries);
      const problemAt = session.legalCuts(entries);
      const before = replay(values);
      for (const { line } of entries.filter((one) => problemAt(one.line) === null)) {
        const kept = values.filter((_, index) => index + 1 >= line && index + 1 !== priorLine);
        const rendered = session.renderSummary({
          text: 'ours',
          conversationId: 'c',
          firstKept: values[line - 1] ?? null,
          lastDropped: null,
          prior: priorLine === null ? null : (values[priorLine - 1] ?? null),
          lastKeptId: null,
          tokensBefore: 1,
          quotesTools: false,
          uuid: (label) => `made-${line}-${label}`,
        });
        const after = replay([...values.slice(0, 1), ...parseLines(rendered.join('\n')), ...kept]);
        const { summary, sent, ...settings } = before;
        assert.notEqual(summary, 'ours');
        assert.deepEqual(after, { summary: 'ours', sent: sent.slice(sent.length - after.sent.length), ...settings });
        assert.deepEqual(after.sent[0], messageOf(values[line - 1] ?? null));
      }
    }),
    { numRuns: 1500 },
  );
});

function messageOf(value: unknown): unknown {
  const { message, content, summary } = Object(value);
  return message ?? content ?? summary;
}
