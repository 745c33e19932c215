import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { totalTokens } from '../../src/app/compact/report.ts';
import { scoreFile } from '../../src/app/survey/score-file.ts';
import { assistantRecord, userRecord } from '../adapters/transcript/claude-code/records.ts';
import { chatLine, prose } from '../support/chat.ts';
import { benchFor, benchWith, type BenchSettings, createWorkbench, policyOf, reportOf } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

const TARGET = 4000;
/** One summary of everything, as the program makes it offline. */
const settings: BenchSettings = { targetTokens: TARGET, compaction: { summaryTokens: 4096 } };
const WITHIN = 1.1;

/** What a person typed, and nothing else says. */
const request = (turn: number): string => `Request ${turn}: move the lamps of quay ${turn} before the tide.`;

/** A session of requests, each with rounds of tool work behind it, as chat lines. */
function chatSession(turns: number, rounds: number): string {
  const lines = Array.from({ length: turns }, (_, turn) => [
    chatLine({ role: 'user', content: request(turn) }),
    ...Array.from({ length: rounds }, (_round, at) => {
      const id = `c${turn}-${at}`;
      const call = { id, type: 'function', function: { name: 'move', arguments: '{}' } };
      return [
        chatLine({ role: 'assistant', content: '', tool_calls: [call] }),
        chatLine({ role: 'tool', tool_call_id: id, content: prose(turn * rounds + at, 80) }),
      ];
    }).flat(),
  ]);
  return `${lines.flat().join('\n')}\n`;
}

/** The same as a session of Claude Code, whose lines name their parents. */
function claudeSession(turns: number, rounds: number): string {
  const lines: string[] = [];
  const add = (fields: ReturnType<typeof userRecord>): void => {
    const parentUuid = lines.length === 0 ? null : `u${lines.length - 1}`;
    const timestamp = new Date(Date.UTC(2026, 2, 2, 9, 0, lines.length)).toISOString();
    lines.push(JSON.stringify({ ...fields, uuid: `u${lines.length}`, parentUuid, timestamp }));
  };
  for (let turn = 0; turn < turns; turn += 1) {
    add(userRecord(request(turn)));
    for (let round = 0; round < rounds; round += 1) {
      const id = `toolu_${turn}_${round}`;
      add(assistantRecord([{ type: 'tool_use', id, name: 'Bash', input: { command: 'mv' } }]));
      add(userRecord([{ type: 'tool_result', tool_use_id: id, content: prose(turn * rounds + round, 80) }]));
    }
  }
  return `${lines.join('\n')}\n`;
}

const SESSIONS: readonly { readonly what: string; readonly text: string }[] = [
  { what: 'many requests in chat lines', text: chatSession(20, 6) },
  { what: 'one request and hours of work in chat lines', text: chatSession(1, 150) },
  { what: 'many requests in a session of Claude Code', text: claudeSession(20, 6) },
  { what: 'one request and hours of work in a session of Claude Code', text: claudeSession(1, 150) },
];

for (const { what, text } of SESSIONS)
  suite(`a target is met: ${what}`, () => {
    test('within 10 percent, and most of it is used', async (t) => {
      const bench = benchWith(t, 's.jsonl', text);
      const { result, conversations, notes } = reportOf(await bench.compact('s.jsonl', settings));
      const { before = 0, after = 0 } = conversations[0]?.tokens ?? {};
      assert.equal(result, 'compacted');
      assert.ok(before > 2 * TARGET && after <= TARGET * WITHIN && after > 0.7 * TARGET, `${before} to ${after}`);
      if (after <= TARGET) assert.deepEqual(notes, []);
      assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
      assert.equal((await bench.restore('s.jsonl')).toString(), text);
    });

    test('all requests stand in the result word for word', async (t) => {
      const bench = benchWith(t, 's.jsonl', text);
      reportOf(await bench.compact('s.jsonl', settings));
      const result = bench.read('s.jsonl').toString();
      const asked = Array.from({ length: 20 }, (_, turn) => request(turn)).filter((one) => text.includes(one));
      assert.deepEqual(
        asked.filter((one) => !result.includes(one)),
        [],
      );
    });

    test('messages that the scores mark as staying are in the result', async (t) => {
      const bench = benchWith(t, 's.jsonl', text);
      const input = { path: bench.path('s.jsonl'), name: 's.jsonl', format: null };
      const scored = await scoreFile(bench.deps, { input, policy: policyOf(settings) });
      assert.ok(scored.ok);
      reportOf(await bench.compact('s.jsonl', settings));
      const result = bench.read('s.jsonl').toString();
      const lines = text.split('\n');
      const staying = scored.value.messages.filter(({ outcome }) => outcome !== 'summarized');
      assert.ok(staying.some(({ outcome }) => outcome === 'quoted'));
      for (const { line, outcome } of staying) {
        const words = /quay \d+ before|[a-z]+\d+ [a-z. ]+/.exec(lines[line - 1] ?? '')?.[0] ?? '';
        assert.ok(result.includes(outcome === 'kept' ? (lines[line - 1] ?? '?') : words), `line ${line}, ${outcome}`);
      }
    });
  });

test('a target that the recent messages alone exceed: the report says by how much, and why', async (t) => {
  const bench = benchFor(t);
  const last = Array.from({ length: 5 }, (_, at) => chatLine({ role: 'assistant', content: prose(at, 1000) }));
  bench.write('s.jsonl', `${chatSession(20, 6)}${last.join('\n')}\n`);
  const { notes, conversations } = reportOf(await bench.compact('s.jsonl', settings));
  const over = (conversations[0]?.tokens.after ?? 0) - TARGET;
  assert.equal(notes.length, 1);
  assert.match(
    notes[0] ?? '',
    new RegExp(`^the target of 4000 tokens was missed by ${over}: the last 5 messages, which stay, have \\d+$`),
  );
});

test('a target that a group of calls exceeds: the report says that they stay together', async (t) => {
  const bench = benchFor(t);
  const calls = Array.from({ length: 8 }, (_, at) => ({
    id: `x${at}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }));
  const results = calls.map(({ id }, at) => chatLine({ role: 'tool', tool_call_id: id, content: prose(at, 500) }));
  const group = [chatLine({ role: 'assistant', content: '', tool_calls: calls }), ...results].join('\n');
  bench.write('s.jsonl', `${chatSession(20, 6)}${group}\n`);
  const { notes } = reportOf(await bench.compact('s.jsonl', settings));
  assert.match(
    notes.join(),
    /the last 9 messages, which stay, because tool calls and their results stay together, have \d+$/,
  );
});

test('a target that the instructions exceed: the report says so', async (t) => {
  const bench = benchFor(t);
  bench.write('s.jsonl', `${chatLine({ role: 'system', content: prose(1, 5000) })}\n${chatSession(20, 6)}`);
  const { notes } = reportOf(await bench.compact('s.jsonl', settings));
  assert.match(notes.join(), /missed by \d+: the instructions, which stay, have \d+$/);
});

test('a plan never promises less than the run makes of a random session with a random target', async () => {
  const drawn = fc.record({
    turns: fc.integer({ min: 1, max: 12 }),
    rounds: fc.nat({ max: 6 }),
    write: fc.constantFrom(chatSession, claudeSession),
    share: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
    compaction: fc.constantFrom(
      { summaryTokens: 4096 },
      { summaryTokens: 4096, keepRecent: 1, keepRecentTokens: 300 },
      { chunkSize: 5, keepRecent: 2 },
    ),
  });
  const property = fc.asyncProperty(drawn, async ({ turns, rounds, write, share, compaction }) => {
    const bench = createWorkbench();
    try {
      const text = write(turns, rounds);
      bench.write('s.jsonl', text);
      const how = { targetTokens: Math.ceil((share * text.length) / 4), compaction };
      const planned = reportOf(await bench.compact('s.jsonl', { ...how, output: { kind: 'none' } }));
      const made = reportOf(await bench.compact('s.jsonl', how));
      if (planned.result !== 'planned' || made.result !== 'compacted') return;
      const [most, after] = [planned, made].map(({ conversations }) => totalTokens(conversations).after);
      assert.ok(after !== undefined && most !== undefined && after <= most, `at most ${most} became ${after}`);
    } finally {
      bench.remove();
    }
  });
  await fc.assert(property, { numRuns: runsOf(30) });
});
