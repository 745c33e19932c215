import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codexExec } from '../../../../src/adapters/transcript/agent-streams/codex.ts';
import { geminiStream } from '../../../../src/adapters/transcript/agent-streams/gemini.ts';
import type { Codec } from '../../../../src/ports/codec.ts';
import { benchWith, compactLog, decodeAll, type Fields, FIXTURES, NAME, readFixture } from './logs.ts';

type Case = { readonly codec: Codec; readonly start: (id: string) => Fields; readonly say: (text: string) => Fields };

const CASES: readonly Case[] = [
  {
    codec: codexExec,
    start: (id) => ({ type: 'thread.started', thread_id: id }),
    say: (text) => ({ type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text } }),
  },
  {
    codec: geminiStream,
    start: (id) => ({ type: 'init', timestamp: '2026-01-01T00:00:00Z', session_id: id, model: 'gemini-3' }),
    say: (text) => ({ type: 'message', timestamp: '2026-01-01T00:00:01Z', role: 'assistant', content: text }),
  },
];

/** The runs of two conversations in turn; the third run was killed during a call. */
const RUNS = 'alternating-and-killed-runs.jsonl';

/** What is said in each conversation, by its id; without summaries. */
function saidIn(codec: Codec, records: readonly Fields[]): ReadonlyMap<string, readonly string[]> {
  const said = decodeAll(codec, records).flatMap(({ kind, message }) => (kind === 'message' ? [message] : []));
  const groups = Map.groupBy(said, (message) => message?.conversation_id ?? '');
  return new Map([...groups].map(([id, messages]) => [id, messages.map((message) => message?.content ?? '')]));
}

for (const { codec, start, say } of CASES) {
  test(`${codec.format.name}: runs that alternate keep their conversations, cycle after cycle`, async (t) => {
    const records = Array.from({ length: 6 }, (_, run) => {
      const id = run % 2 === 0 ? 'alpha' : 'beta';
      const sayings = Array.from({ length: 6 }, (_unused, index) =>
        say(`${id} ${run}.${index}: ${'The reader drops the last buoy of each chart. '.repeat(3)}`),
      );
      return [start(id), ...sayings];
    }).flat();
    const bench = benchWith(t, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    for (const keepRecent of [9, 4, 1]) {
      for (const [id, texts] of saidIn(codec, await compactLog(bench, keepRecent))) {
        assert.equal(texts.length, keepRecent, id);
        assert.ok(
          texts.every((text) => text.startsWith(id)),
          `${id} has messages of another conversation`,
        );
      }
    }
  });
}

for (const { codec } of CASES) {
  const { name } = codec.format;

  test(`${name}: a killed run leaves one call without a result, and the next runs theirs`, () => {
    const read = decodeAll(codec, readFixture(name, RUNS));
    const results = new Set(read.flatMap((record) => record.results ?? []));
    const calls = read.flatMap((record) => record.calls ?? []);
    assert.equal(new Set(calls).size, calls.length);
    assert.equal(calls.filter((id) => !results.has(id)).length, 1);
    assert.equal(results.size, calls.length - 1);
  });

  test(`${name}: runs around a killed one stay in their conversations when the log is compacted`, async (t) => {
    const before = saidIn(codec, readFixture(name, RUNS));
    assert.equal(before.size, 2);
    const bench = benchWith(t, readFileSync(join(FIXTURES, name, RUNS)));
    for (const keepRecent of [9, 6, 1]) {
      const after = saidIn(codec, await compactLog(bench, keepRecent));
      assert.equal(after.size, 2);
      for (const [id, texts] of after)
        assert.deepEqual(
          texts.filter((text) => before.get(id)?.includes(text) !== true),
          [],
          `${id} has messages of another conversation`,
        );
    }
  });
}

test('a log of Claude Code with a session of it behind is refused as mixed', async (t) => {
  const [log, session] = [
    ['claude-stream', 'run.jsonl'],
    ['claude-code', 'session.jsonl'],
  ].map(([format = '', name = '']) => readFileSync(join(FIXTURES, format, name), 'utf8'));
  const bench = benchWith(t, `${log}${session}`);
  const done = await bench.compact(NAME, { compaction: { keepRecent: 1, maxSummaryTokens: 150 } });
  assert.equal(done.ok ? done.value.result : done.error.kind, 'mixed-formats');
  assert.equal(bench.read(NAME).toString('utf8'), `${log}${session}`);
});
