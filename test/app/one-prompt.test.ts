import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import type { CompactionConfig } from '../../src/core/policy.ts';
import type { Json } from '../../src/ports/codec.ts';
import { assistantRecord, record, userRecord } from '../adapters/transcript/claude-code/records.ts';
import {
  call,
  header,
  output,
  reasoning,
  said,
  tokenCount,
  turnContext,
} from '../adapters/transcript/codex/rollouts.ts';
import { prose } from '../support/chat.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';
import { toText } from '../adapters/transcript/reading.ts';

/** The recent part holds no more than it must. */
const SHORTEST: Partial<CompactionConfig> = { keepRecentTokens: 0 };

const PROMPT = 'Move every lamp to the new quay, and never touch the one at the chapel.';

type Fields = { readonly [key: string]: Json };

/** So many rounds of tool work, numbered from `from`: each is a call with its result, every fourth two calls at a time. */
type Work = (from: number, rounds: number) => readonly Fields[];

/** Answers split over two records, results that each hang on their own call, progress in the chain. */
const claudeWork: Work = (from, rounds) => {
  const records: Fields[] = [];
  let tip = from === 0 ? 'prompt' : `result-${from - 1}-a`;
  const add = (fields: Fields): void => {
    records.push({
      ...fields,
      timestamp: new Date(Date.UTC(2026, 2, 2, 9, 0, from * 10 + records.length)).toISOString(),
    });
  };
  for (let round = from; round < from + rounds; round += 1) {
    const names = round % 4 === 3 ? ['b', 'a'] : ['a'];
    for (const name of names) {
      const uuid = `call-${round}-${name}`;
      const block = {
        type: 'tool_use',
        id: `toolu_${round}${name}`,
        name: 'Bash',
        input: { command: `mv ${round}${name}` },
      };
      const message = { id: `msg_${round}`, role: 'assistant', content: [block] };
      add(assistantRecord([], { uuid, parentUuid: tip, requestId: `req_${round}`, message }));
      tip = uuid;
    }
    if (round % 4 === 1) {
      add(record('progress', { uuid: `progress-${round}`, parentUuid: tip }));
      tip = `progress-${round}`;
    }
    for (const name of names) {
      const content = [{ type: 'tool_result', tool_use_id: `toolu_${round}${name}`, content: prose(round, 60) }];
      const parentUuid = names.length === 1 ? tip : `call-${round}-${name}`;
      add(userRecord(content, { uuid: `result-${round}-${name}`, parentUuid }));
    }
    tip = `result-${round}-a`;
  }
  return records;
};

const codexWork: Work = (from, rounds) =>
  Array.from({ length: rounds }, (_, at): readonly Fields[] => {
    const round = from + at;
    const ids = round % 4 === 3 ? [`${round}b`, `${round}a`] : [`${round}a`];
    const outputs = ids.map((id) => output(id, prose(round, 60)));
    return [reasoning(), ...ids.map(call), ...outputs.toReversed(), tokenCount()];
  }).flat();

const FORMATS: readonly { readonly format: string; readonly begin: readonly Fields[]; readonly work: Work }[] = [
  { format: 'claude-code', begin: [userRecord(PROMPT, { uuid: 'prompt' })], work: claudeWork },
  { format: 'codex', begin: [header(), turnContext(), said('user', PROMPT)], work: codexWork },
];

/** The ids on one side of the pairs in a file, sorted. */
function idsIn(bench: Workbench, key: RegExp): readonly string[] {
  const text = bench.read('s.jsonl').toString();
  return [...text.matchAll(key)].map(([, id = '']) => id).toSorted();
}

for (const { format, begin, work } of FORMATS)
  suite(`P7: one prompt and hundreds of calls in ${format}`, () => {
    test('shrink to the recent work, the prompt word for word', async (t) => {
      const bench = benchWith(t, 's.jsonl', toText([...begin, ...work(0, 200)]));
      const {
        result,
        format: found,
        conversations,
      } = reportOf(await bench.compact('s.jsonl', { compaction: SHORTEST }));
      const { messages, tokens } = conversations[0] ?? {};
      assert.deepEqual([result, found, messages?.before], ['compacted', format, 501]);
      assert.ok((messages?.after ?? 501) <= 10, `${messages?.after} messages`);
      assert.ok((tokens?.after ?? 1) < (tokens?.before ?? 0) / 8, `${tokens?.before} to ${tokens?.after} tokens`);
      assert.ok(bench.read('s.jsonl').includes(PROMPT));
    });

    test('keep more of the recent work by default: whole rounds within 8,000 tokens', async (t) => {
      const bench = benchWith(t, 's.jsonl', toText([...begin, ...work(0, 320)]));
      bench.write('shortest.jsonl', bench.read('s.jsonl'));
      const shortest = reportOf(await bench.compact('shortest.jsonl', { compaction: SHORTEST }));
      const { result, conversations } = reportOf(await bench.compact('s.jsonl'));
      const least = shortest.conversations[0]?.tokens.after ?? 0;
      const grown = (conversations[0]?.tokens.after ?? 0) - least;
      assert.equal(result, 'compacted');
      assert.ok(grown > 6000 && grown <= 8000, `${grown} tokens more than ${least}`);
      assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
    });

    test('are cut between rounds, never inside one, wherever the cut is wanted', async (t) => {
      for (const keepRecent of [1, 2, 4, 7]) {
        const bench = benchFor(t);
        const records = [...begin, ...work(0, 24)];
        bench.write('s.jsonl', toText(records));
        reportOf(await bench.compact('s.jsonl', { compaction: { ...SHORTEST, keepRecent } }));
        const calls = idsIn(bench, /"(?:id":"toolu_|call_id":")([^"]+)"(?=,"name"|})/g);
        const results = idsIn(bench, /(?:"tool_use_id":"toolu_|_output","call_id":")([^"]+)"/g);
        assert.deepEqual(calls, results, `keepRecent ${keepRecent}`);
        assert.ok(results.length > 0 && results.length <= 9, `${results.length} pairs with keepRecent ${keepRecent}`);
      }
    });

    test('shrink again with each further hour of work, and come back whole', async (t) => {
      const bench = benchFor(t);
      const all = [...begin, ...work(0, 60)];
      bench.write('s.jsonl', toText(all));
      for (const hour of [1, 2, 3]) {
        const { result, conversations } = reportOf(await bench.compact('s.jsonl', { compaction: SHORTEST }));
        assert.deepEqual([result, conversations[0]?.cycles], ['compacted', hour]);
        assert.ok((conversations[0]?.messages.after ?? 99) <= 10);
        assert.ok(bench.read('s.jsonl').includes(PROMPT));
        assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
        const more = work(hour * 60, 60);
        all.push(...more);
        appendFileSync(bench.path('s.jsonl'), toText(more));
        assert.equal((await bench.restore('s.jsonl')).toString(), toText(all));
      }
    });
  });
