import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  compaction,
  contextLines,
  entry,
  header,
  legalLines,
  readEntries,
  readFixture,
  thread,
  user,
} from './entries.ts';
import { replay } from './replay.ts';
import { sessions } from './sessions.ts';
import { type Fields, parseLines } from '../reading.ts';
import { runsOf } from '../../../support/runs.ts';

test('all messages are sent where nothing was compacted', () => {
  assert.deepEqual(contextLines([header(), ...thread('abcd')]), { prior: null, sent: [2, 3, 4, 5] });
});

test('a compaction stands for what is before the entry that it names', () => {
  const session = [header(), ...thread('abcd'), compaction('c', ['s', 'd']), ...thread('ef', 's')];
  assert.deepEqual(contextLines(session), { prior: 6, sent: [4, 5, 7, 8] });
});

test('a compaction that names nothing before it stands for all that is', () => {
  for (const keptFrom of ['gone', 's', 'e']) {
    const session = [header(), ...thread('abcd'), compaction(keptFrom, ['s', 'd']), ...thread('ef', 's')];
    assert.deepEqual(contextLines(session), { prior: 6, sent: [7, 8] }, keptFrom);
  }
});

test('of several compactions the newest counts, and older summaries are no longer sent', () => {
  const first = [header(), ...thread('ab'), compaction('b', ['s', 'b'])];
  const session = [...first, ...thread('cd', 's'), compaction('b', ['t', 'd']), ...thread('e', 't')];
  assert.deepEqual(contextLines(session), { prior: 7, sent: [3, 5, 6, 8] });
});

test('of all summaries only the newest is not stale', () => {
  const first = [header(), ...thread('ab'), compaction('b', ['s', 'b'])];
  const { session, entries } = readEntries([...first, ...thread('c', 's'), compaction('b', ['t', 'c'])]);
  const { isStale } = session.readContext(entries);
  assert.deepEqual(entries.filter(({ kind }) => kind === 'summary').map(isStale), [true, false]);
});

test('a compaction on a branch that was left does not count', () => {
  const session = [header(), ...thread('ab'), compaction('b', ['s', 'b']), ...thread('cd', 'b')];
  assert.deepEqual(contextLines(session), { prior: null, sent: [2, 3, 5, 6] });
});

test('what hangs on a branch that was left is not sent', () => {
  const session = [header(), ...thread('ab'), ...thread('xy', 'b'), ...thread('cd', 'b')];
  assert.deepEqual(contextLines(session), { prior: null, sent: [2, 3, 6, 7] });
});

test('the thread ends at the last entry, whatever it is', () => {
  const label = entry('label', 'l', 'b', { targetId: 'a', label: 'here' });
  assert.deepEqual(contextLines([header(), ...thread('abcd'), label]), { prior: null, sent: [2, 3] });
});

test('beyond a parent that is not in the file pi sends nothing', () => {
  assert.deepEqual(contextLines([header(), ...thread('ab'), ...thread('cd', 'gone')]).sent, [4, 5]);
});

test('of two entries with one id the last is meant', () => {
  const session = [header(), ...thread('ab'), user('again', ['a', null]), ...thread('cd', 'b')];
  assert.deepEqual(contextLines(session).sent, [3, 4, 5, 6]);
});

test('parents in a circle end the thread', () => {
  const [a, ...rest] = thread('abc');
  assert.deepEqual(contextLines([header(), { ...a, parentId: 'b' }, ...rest]).sent, [2, 3, 4]);
});

const unnamed = ({ id: _id, parentId: _parentId, firstKeptEntryId: _kept, ...rest }: Fields): Fields => rest;

test('in version 1 entries follow one another, and a compaction counts entries from the header on', () => {
  const numbered = { ...unnamed(compaction('', ['', null])), firstKeptEntryIndex: 3 };
  const session = [header(null), ...thread('abcd').map(unnamed), numbered, ...thread('ef').map(unnamed)];
  assert.deepEqual(contextLines(session), { prior: 6, sent: [4, 5, 7, 8] });
});

test('ids in a file of version 1 mean nothing', () => {
  assert.deepEqual(contextLines([header(1), ...thread('ab'), ...thread('cd', 'gone')]).sent, [2, 3, 4, 5]);
});

test('shell commands that the person kept to themselves are not sent', () => {
  const { sent } = contextLines(readFixture('shell-commands.jsonl'));
  const hidden = readFixture('shell-commands.jsonl').findIndex((value) => Object(value).message?.excludeFromContext);
  assert.deepEqual(
    [hidden > 0, sent.includes(hidden), sent.includes(hidden + 1), sent.includes(hidden + 2)],
    [true, true, false, true],
  );
});

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
    { numRuns: runsOf(1500) },
  );
});

function messageOf(value: unknown): unknown {
  const { message, content, summary } = Object(value);
  return message ?? content ?? summary;
}
