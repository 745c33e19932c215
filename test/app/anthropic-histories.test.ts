import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { TOOL_DIALECTS, type ToolDialect } from '../support/tool-dialects.ts';
import { benchFor, reportOf } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

const LONG = 'The sheet came in by forty centimetres and the sail filled. '.repeat(10);
const history = z.array(z.looseObject({ role: z.string(), content: z.unknown() }));

/** What Roo and Cline keep as `api_conversation_history.json`, with calls in every other turn. */
function write({ say, call, answer }: ToolDialect, turns: number): readonly object[] {
  return Array.from({ length: turns }, (_, turn) => [
    say('user', `Trim the jib, ${turn}. ${LONG}`),
    ...(turn % 2 === 0 ? [] : [call([`c${turn}`]), answer([`c${turn}`], LONG)]),
    say('assistant', `It is trimmed, ${turn}. ${LONG}`),
  ]).flat();
}

const DIALECTS = TOOL_DIALECTS.filter(({ name }) => ['Anthropic', 'Bedrock', 'Goose', 'Amp'].includes(name));

suite('a history of Anthropic’s kind', () => {
  for (const dialect of DIALECTS) {
    test(`of ${dialect.name} gets its summary as a user’s message with a list of blocks, and roles take turns`, async (t) => {
      const bench = benchFor(t);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 5, max: 12 }), fc.nat({ max: 12 }), async (turns, keepRecent) => {
          const original = JSON.stringify(write(dialect, turns), null, 2);
          bench.write('api_conversation_history.json', original);
          const compaction = { keepRecent, maxSummaryTokens: 60 };
          const report = reportOf(await bench.compact('api_conversation_history.json', { compaction }));
          if (report.result !== 'compacted') return;
          const after = history.parse(JSON.parse(bench.read('api_conversation_history.json').toString()));
          assert.deepEqual(
            after.map(({ role }) => role),
            after.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
          );
          assert.match(JSON.stringify(after[0]?.content), /^\[\{("type":"text",)?"text":"\[Context Summary/);
          assert.equal(JSON.stringify(after[0]?.content).includes('"type"'), dialect.name !== 'Bedrock');
          assert.deepEqual((await bench.verify('api_conversation_history.json')).problems, []);
          assert.equal((await bench.restore('api_conversation_history.json')).toString(), original);
        }),
        { numRuns: runsOf(6) },
      );
    });
  }

  test('without any call is known by its lists of blocks', async (t) => {
    const bench = benchFor(t);
    const [{ say } = { say: () => ({}) }] = DIALECTS;
    const messages = Array.from({ length: 24 }, (_, at) => say(at % 2 === 0 ? 'user' : 'assistant', `${at} ${LONG}`));
    bench.write('h.json', JSON.stringify(messages));
    reportOf(await bench.compact('h.json'));
    const [summary, next] = history.parse(JSON.parse(bench.read('h.json').toString()));
    assert.deepEqual([summary?.role, next?.role], ['user', 'assistant']);
    assert.ok(Array.isArray(summary?.content));
    assert.equal(reportOf(await bench.compact('h.json', { compaction: { keepRecent: 2 } })).result, 'compacted');
    assert.equal((await bench.restore('h.json')).toString(), JSON.stringify(messages));
  });
});
