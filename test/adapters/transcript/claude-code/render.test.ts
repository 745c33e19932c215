import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { claudeCode } from '../../../../src/adapters/transcript/claude-code/codec.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json, SummaryInput } from '../../../../src/ports/codec.ts';
import { readRecords, SESSION_ID, userRecord } from './records.ts';
import { sessions } from './sessions.ts';
import { runsOf } from '../../../support/runs.ts';

const nothing: SummaryInput = {
  text: '[Context Summary — 2 messages compressed across 1 compaction cycle]',
  conversationId: SESSION_ID,
  firstKept: null,
  lastDropped: null,
  lastKeptId: null,
  tokensBefore: 4321,
  quotesTools: false,
  uuid: (label) => `made-${label}`,
};

function render(session: CodecSession, input: Partial<SummaryInput>): readonly Json[] {
  return session.renderSummary({ ...nothing, ...input }).map((line) => JSON.parse(line));
}

const firstKept = userRecord('And then?', {
  uuid: 'head',
  parentUuid: 'dropped',
  userType: 'external',
  cwd: '/home/kim',
  version: '2.1.150',
  gitBranch: 'main',
  slug: 'not-copied',
  timestamp: '2026-03-02T10:05:00.000Z',
});

test('a boundary and a summary are written, and the summary takes the id that the kept part hangs on', () => {
  const lastDropped = userRecord('x', { timestamp: '2026-03-02T10:04:00.000Z' });
  const session = {
    isSidechain: false,
    userType: 'external',
    cwd: '/home/kim',
    sessionId: SESSION_ID,
    version: '2.1.150',
    gitBranch: 'main',
    timestamp: '2026-03-02T10:04:00.000Z',
  };
  assert.deepEqual(render(claudeCode.open(), { firstKept, lastDropped, lastKeptId: 'tail' }), [
    {
      ...session,
      parentUuid: null,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      isMeta: false,
      uuid: 'made-boundary',
      level: 'info',
      compactMetadata: {
        trigger: 'manual',
        preTokens: 4321,
        preservedSegment: { headUuid: 'head', anchorUuid: 'dropped', tailUuid: 'tail' },
      },
    },
    {
      ...session,
      parentUuid: 'made-boundary',
      type: 'user',
      message: { role: 'user', content: nothing.text },
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
      uuid: 'dropped',
    },
  ]);
});

test('without a time of the last message that left, the first kept one gives it; without either there is none', () => {
  const { timestamp: _, ...untimed } = firstKept;
  const times = [firstKept, untimed].map((record) => {
    const [, summary] = render(claudeCode.open(), {
      firstKept: record,
      lastDropped: userRecord('x', { timestamp: 7 }),
    });
    return Object(summary).timestamp;
  });
  assert.deepEqual(times, ['2026-03-02T10:05:00.000Z', undefined]);
});

test('where nothing is kept, the summary has an id of its own', () => {
  const [boundary, summary] = render(claudeCode.open(), { lastDropped: firstKept });
  assert.deepEqual(
    [Object(boundary).compactMetadata, Object(summary).uuid, Object(summary).sessionId],
    [{ trigger: 'manual', preTokens: 4321 }, 'made-summary', SESSION_ID],
  );
});

test('each line is one line, whatever the text holds', () => {
  const text = 'a\nb\r\nc\u2028d\ud800"\\';
  const lines = claudeCode.open().renderSummary({ ...nothing, firstKept, text });
  assert.equal(lines.length, 2);
  assert.ok(lines.every((line) => !/[\r\n]/.test(line)));
  assert.equal(JSON.parse(lines[1] ?? '').message.content, text);
});

test("in a subagent's own file both lines belong to the subagent", () => {
  const lines = render(claudeCode.open(), { firstKept: { ...firstKept, isSidechain: true, agentId: 'a1' } });
  assert.deepEqual(
    lines.map((line) => [Object(line).isSidechain, Object(line).agentId]),
    [
      [true, 'a1'],
      [true, 'a1'],
    ],
  );
});

test('after any legal cut the walk from the last message meets every kept record of the thread, the summary and the boundary', () => {
  fc.assert(
    fc.property(sessions, (values) => {
      const { session, entries } = readRecords(values);
      const problemAt = session.legalCuts(entries);
      for (const { line } of entries.filter((entry) => problemAt(entry.line) === null)) {
        const kept = values.slice(line - 1);
        const lines = render(session, { firstKept: kept[0] ?? null, lastKeptId: tipOf(entries) });
        const before = threadOf(values);
        const after = threadOf([...lines, ...kept]);
        assert.deepEqual(after.slice(-2), lines.toReversed());
        assert.deepEqual(after.slice(0, -2), before.slice(0, after.length - 2));
        assert.equal(after.at(-3), kept[0]);
        const { headUuid, tailUuid } = Object(lines[0]).compactMetadata.preservedSegment;
        assert.deepEqual([tailUuid, headUuid], [Object(after[0]).uuid, Object(after.at(-3)).uuid]);
      }
    }),
    { numRuns: runsOf(1000) },
  );
});

/** Where the thread ends: the main one, or where there is none, the subagent's. */
function tipOf(entries: readonly Entry[]): string | null {
  const said = entries.filter(({ kind }) => kind === 'message' || kind === 'summary');
  const main = said.filter(({ isSide }) => isSide !== true);
  return (main.length > 0 ? main : said).findLast(({ kind }) => kind === 'message')?.recordId ?? null;
}

type Record_ = { readonly type: string; readonly isSidechain: boolean; readonly isCompactSummary?: boolean };

/** As the client walks: from the last message of the thread along the parents; of several records with one id, the last. */
function threadOf(values: readonly Json[]): readonly Json[] {
  const records = values.map((value) => Object(value));
  const byId = new Map(records.map((record) => [record.uuid, record]));
  const isSaid = ({ type }: Record_): boolean => type === 'user' || type === 'assistant';
  const hasMain = records.some((record) => isSaid(record) && !record.isSidechain);
  const isMessage = (record: Record_): boolean =>
    isSaid(record) && record.isCompactSummary !== true && !(hasMain && record.isSidechain);
  const thread: Json[] = [];
  let record = records.findLast(isMessage);
  while (record !== undefined && !thread.includes(record)) {
    thread.push(record);
    record = record.parentUuid === null ? undefined : byId.get(record.parentUuid);
  }
  return thread;
}
