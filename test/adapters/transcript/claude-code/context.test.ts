import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '../../../../src/ports/codec.ts';
import { assistantRecord, readFixture, readRecords, record, userRecord } from './records.ts';

/** The prior summary's line and the stale lines. */
function contextOf(values: readonly Json[]): { readonly prior: number | null; readonly stale: readonly number[] } {
  const { session, entries } = readRecords(values);
  const view = session.readContext(entries);
  return { prior: view.priorLine, stale: entries.filter(view.isStale).map(({ line }) => line) };
}

const boundary = (metadata: Json = {}): Json =>
  record('system', { subtype: 'compact_boundary', uuid: 'b', compactMetadata: metadata });
const summary = (text: string): Json => userRecord(text, { isCompactSummary: true });
const said = (uuid: string): Json => userRecord(uuid, { uuid });

test('a session that was never compacted is in context, whole', () => {
  assert.deepEqual(contextOf(readFixture('session.jsonl')), { prior: null, stale: [] });
});

test('what stands before the last boundary is stale, the summary after it is the prior one', () => {
  assert.deepEqual(contextOf(readFixture('producer-compaction.jsonl')), { prior: 6, stale: [1, 2, 3, 4] });
});

test('the preserved segment stays in context though it stands before the boundary', () => {
  assert.deepEqual(contextOf(readFixture('preserved-segment.jsonl')), { prior: 6, stale: [1, 2] });
});

test('messages of a side thread are stale wherever they stand', () => {
  assert.deepEqual(contextOf(readFixture('side-thread-inline.jsonl')), { prior: null, stale: [3, 4] });
});

test('of two compactions the last decides, and the older summary is stale', () => {
  assert.deepEqual(
    contextOf([said('1'), boundary(), summary('one'), said('4'), boundary(), summary('two'), said('7')]),
    {
      prior: 6,
      stale: [1, 3, 4],
    },
  );
});

test('of three compactions, one without metadata, the last decides, and the messages that it lists stay in context', () => {
  // Lines 14 and 15 are listed; a microcompact boundary stands at line 13.
  assert.deepEqual(contextOf(readFixture('three-compactions.jsonl')), {
    prior: 17,
    stale: [3, 4, 6, 7, 8, 10, 11, 12],
  });
});

test('messages between a boundary and its summary are in context', () => {
  assert.deepEqual(contextOf([said('1'), boundary(), said('3'), summary('one')]), { prior: 4, stale: [1] });
});

test('a summary that lost its boundary ends the context before it all the same', () => {
  assert.deepEqual(contextOf([said('1'), summary('one'), said('3')]), { prior: 2, stale: [1] });
  assert.deepEqual(contextOf([boundary(), summary('one'), said('3'), summary('two')]), { prior: 4, stale: [2, 3] });
});

test('a boundary that lost its summary leaves the older one as the prior summary', () => {
  assert.deepEqual(contextOf([boundary(), summary('one'), said('3'), boundary(), said('5')]), { prior: 2, stale: [3] });
});

test('a preserved segment that is not in the file, or runs backwards, preserves nothing', () => {
  const kept = (headUuid: string, tailUuid: string): Json =>
    boundary({ preservedSegment: { headUuid, anchorUuid: 's', tailUuid } });
  assert.deepEqual(contextOf([said('1'), said('2'), kept('1', 'gone'), summary('s')]).stale, [1, 2]);
  assert.deepEqual(contextOf([said('1'), said('2'), kept('2', '1'), summary('s')]).stale, [1, 2]);
  assert.deepEqual(contextOf([said('1'), said('2'), kept('2', '2'), summary('s')]).stale, [1]);
});

test('records that are no messages are never stale', () => {
  assert.deepEqual(contextOf([record('system', { uuid: 'x' }), { type: 'mode' }, boundary(), summary('s')]).stale, []);
});

test("a subagent's own compaction leaves the conversation in context", () => {
  const side = { isSidechain: true };
  const records = [
    said('1'),
    record('system', { subtype: 'compact_boundary', uuid: 'b', ...side }),
    userRecord('continued', { isCompactSummary: true, ...side }),
    assistantRecord('done', { uuid: '4' }),
  ];
  assert.deepEqual(contextOf(records), { prior: null, stale: [3] });
});

test("in a subagent's own file its thread is the conversation, and its compaction counts", () => {
  const side = { isSidechain: true };
  const records = [
    userRecord('1', { uuid: '1', ...side }),
    record('system', { subtype: 'compact_boundary', uuid: 'b', ...side }),
    userRecord('continued', { isCompactSummary: true, uuid: 's', parentUuid: 'b', ...side }),
    assistantRecord('done', { uuid: '4', parentUuid: 's', ...side }),
  ];
  assert.deepEqual(contextOf(records), { prior: 3, stale: [1] });
  assert.deepEqual(contextOf(readFixture('subagent-file.jsonl')), { prior: null, stale: [] });
});
