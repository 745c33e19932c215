import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRecord } from '../../../../src/adapters/transcript/codex/decode.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import { readEntries, readFixture } from '../reading.ts';

const countsOf = (name: string): Readonly<Record<string, number>> => {
  const { entries } = readEntries('codex', readFixture('codex', name));
  const said = entries.filter(({ kind }) => kind === 'message');
  return {
    prompts: said.filter(({ isPrompt }) => isPrompt === true).length,
    answers: said.filter(({ role }) => role === 'assistant').length,
    results: said.filter(({ role }) => role === 'tool').length,
    instructions: entries.filter(({ kind }) => kind === 'instruction').length,
  };
};

test('a rollout of several turns has prompts, answers, results and instructions', () => {
  assert.deepEqual(countsOf('rollout.jsonl'), { prompts: 6, answers: 34, results: 17, instructions: 2 });
});

test('every kind of call is one, and is answered where it has an output', () => {
  const { entries } = readEntries('codex', readFixture('codex', 'every-kind-of-call.jsonl'));
  const calls = entries.flatMap((entry) => entry.calls ?? []).filter((id) => !id.startsWith('call_'));
  const results = entries.flatMap((entry) => entry.results ?? []).filter((id) => !id.startsWith('call_'));
  assert.deepEqual(
    [calls, results],
    [
      ['sh_1', 'ts_1', 'ws_1', 'mcp_1'],
      ['sh_1', 'ts_1', 'mcp_1'],
    ],
  );
});

test('every mirror and every event of a call in the fixtures finds its message', () => {
  for (const name of ['rollout.jsonl', 'paginated.jsonl', 'every-kind-of-call.jsonl', 'crlf.jsonl']) {
    const records = readFixture('codex', name);
    const { entries, session } = readEntries('codex', records);
    const { anchorOf = () => null } = session.readContext(entries);
    const attached = ['call', 'words', 'answer', 'next', 'turn', 'last'];
    const isAttached = ({ line }: Entry): boolean => {
      const decoded = decodeRecord(records[line - 1] ?? {}, line);
      return 'note' in decoded && attached.includes(decoded.note?.kind ?? '');
    };
    assert.ok(entries.some(isAttached), name);
    const alone = entries.filter((entry) => isAttached(entry) && anchorOf(entry) === null);
    assert.deepEqual(
      alone.map(({ line }) => line),
      [],
      name,
    );
  }
});
