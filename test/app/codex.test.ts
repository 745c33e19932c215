import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../src/ports/codec.ts';
import { replay } from '../adapters/transcript/codex/replay.ts';
import {
  call,
  compacted,
  event,
  header,
  message,
  output,
  reasoning,
  record,
  rolledBack,
  said,
  taskStarted,
  textOf,
  tokenCount,
  turn,
  turnContext,
} from '../adapters/transcript/codex/rollouts.ts';
import { prose } from '../support/chat.ts';
import {
  benchFor,
  benchWith,
  type BenchSettings,
  createWorkbench,
  reportOf,
  type Workbench,
} from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';
import { FIXTURES, type Fields as JsonObject, parseLines, toText } from '../adapters/transcript/reading.ts';

const RULES = said('developer', '<permissions instructions>\nread only\n</permissions instructions>');
const GUIDE = said('user', '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>');

/** So many turns, each with enough to say that leaving it out gains something. */
function turns(count: number, from = 0): readonly JsonObject[] {
  return Array.from({ length: count }, (_, at) => {
    const n = from + at;
    return turn(`${n}`, prose(n, 40), prose(n + 500, 60));
  }).flat();
}

const typeOf = ({ type, payload }: JsonObject): string => [type, Object(payload).type].filter(Boolean).join(' ');

async function compactRecords(
  bench: Workbench,
  records: readonly Json[],
  settings: BenchSettings = {},
): Promise<readonly JsonObject[]> {
  bench.write('r.jsonl', toText(records));
  assert.equal(reportOf(await bench.compact('r.jsonl', settings)).result, 'compacted');
  assert.deepEqual((await bench.verify('r.jsonl')).problems, []);
  assert.equal((await bench.restore('r.jsonl')).toString(), toText(records));
  return parseLines(bench.read('r.jsonl').toString());
}

const keep = (keepRecent: number): BenchSettings => ({ compaction: { keepRecent, maxSummaryTokens: 200 } });
const promptText = ({ payload }: JsonObject): string => textOf(Object(payload));
const textsSent = (records: readonly Json[]): readonly string[] => replay(records).map(({ item }) => textOf(item));

suite('a compacted rollout', () => {
  test('begins with its header, then its title and the summary, then instructions, then the turn that stays with all its records', async (t) => {
    const records = [header(), taskStarted(), RULES, GUIDE, turnContext(), ...turns(8)];
    const result = await compactRecords(benchFor(t), records, keep(4));
    const last = turn('7').map(typeOf);
    assert.deepEqual(
      [result.map(typeOf), result.at(3), result.at(4)],
      [
        [
          'session_meta',
          'event_msg user_message',
          'compacted',
          'response_item message',
          'response_item message',
          ...last.filter((type) => type !== 'event_msg token_count'),
        ],
        RULES,
        GUIDE,
      ],
    );
  });

  test('keeps the latest turn_context where the turn that it began is cut', async (t) => {
    const work = Array.from({ length: 12 }, (_, at) => [reasoning(), call(`c${at}`), output(`c${at}`, prose(at))]);
    const old = [turnContext('old'), said('user', prose(7)), said('assistant', prose(8))];
    const records = [header(), ...old, turnContext('new'), said('user', 'do it'), ...work.flat()];
    const result = await compactRecords(benchFor(t), records, keep(4));
    const [, , kept, prompt, thought] = result;
    assert.deepEqual([kept, prompt, thought], [turnContext('new'), said('user', 'do it'), reasoning()]);
  });

  test('without anything kept is header, title, summary, instructions and the latest turn_context', async (t) => {
    const result = await compactRecords(benchFor(t), [header(), RULES, ...turns(6)], keep(0));
    assert.deepEqual(result.map(typeOf), [
      'session_meta',
      'event_msg user_message',
      'compacted',
      'response_item message',
      'turn_context',
    ]);
  });

  test('of one id is one conversation, whatever threads its lines came from', async (t) => {
    const bench = benchFor(t);
    const parent = header({ id: 'parent' });
    bench.write('r.jsonl', toText([header(), parent, ...turns(3), parent, ...turns(3, 3)]));
    const { conversations } = reportOf(await bench.compact('r.jsonl', keep(3)));
    assert.deepEqual(
      conversations.map(({ id }) => id),
      ['thread-1'],
    );
    const result = parseLines(bench.read('r.jsonl').toString());
    assert.deepEqual(
      result.filter(({ type }) => type === 'session_meta'),
      [header()],
    );
  });

  test('stays as it is where its thread begins in another file', async (t) => {
    const bench = benchWith(t, 'r.jsonl', readFileSync(join(FIXTURES, 'codex/history-in-another-file.jsonl')));
    for (const keepRecent of [0, 3]) {
      const { result, reason } = reportOf(await bench.compact('r.jsonl', keep(keepRecent)));
      assert.deepEqual([result, reason], ['skipped', 'no-legal-cut']);
    }
  });
});

suite('numbers of records', () => {
  test('rise from line to line', async (t) => {
    const bench = benchWith(t, 'r.jsonl', readFileSync(join(FIXTURES, 'codex/paginated.jsonl')));
    reportOf(await bench.compact('r.jsonl', keep(3)));
    const ordinals = parseLines(bench.read('r.jsonl').toString()).map(({ ordinal }) => Number(ordinal));
    assert.deepEqual(
      ordinals,
      [...new Set(ordinals)].toSorted((a, b) => a - b),
    );
    assert.equal(ordinals.includes(Number.NaN), false);
  });
});

suite('survivors', () => {
  test('keep the records that go with them, and only those', async (t) => {
    const important = `Decided: the constraint is an error to fix? ${prose(3, 100)}`;
    const records = [header(), ...turns(6), ...turn('kept', important, prose(9, 30)), ...turns(6, 7)];
    const result = await compactRecords(benchFor(t), records, {
      targetTokens: 900,
      compaction: { keepRecent: 4, maxSummaryTokens: 200 },
    });
    const prompts = result.filter((one) => Object(one['payload']).role === 'user').map(promptText);
    assert.ok(prompts.includes(important), 'it survived');
    assert.ok(prompts.length < 13, 'others did not');
    const [title, ...mirrors] = result
      .filter((one) => typeOf(one) === 'event_msg user_message')
      .map(({ payload }) => Object(payload).message);
    assert.deepEqual([title, mirrors], [prose(0, 40), prompts]);
  });
});

suite('turns that were taken back', () => {
  const back = turn('back', 'a secret detour', 'gone');

  test('leave with the event, from the part that stays as well, and come back with restore', async (t) => {
    const records = [header(), ...turns(6), ...back, rolledBack(1), ...turns(1, 6)];
    const result = await compactRecords(benchFor(t), records, keep(8));
    assert.equal(toText(result).includes('detour'), false);
    assert.equal(toText(result).includes('thread_rolled_back'), false);
    assert.deepEqual(textsSent(result).slice(-8), textsSent(records).slice(-8));
  });
});

suite("Codex's own compactions", () => {
  const old = [header(), RULES, ...turns(3)];

  test('become a batch of ours, and their instructions are kept', async (t) => {
    const rules = message('developer', `be brief, and ${prose(1, 2000)}`);
    const own = compacted([rules, message('user', 'the state of things: flamingo 4711')]);
    const result = await compactRecords(benchFor(t), [...old, own, ...turns(8, 3)], keep(4));
    const [first, summary = '', ...rest] = textsSent(result);
    assert.deepEqual([first, rest.length], [textOf(rules), 5]);
    assert.match(summary, /^\[Context Summary — .* across 2 compaction cycles\]/);
    assert.match(summary, /flamingo 4711/);
  });

  test('that leave what was typed in the context have it summarized', async (t) => {
    const typed = said('user', 'Never touch the flamingo lock file.');
    const records = [header(), RULES, typed, said('assistant', 'yes'), compacted(null, 'all is well'), ...turns(8)];
    const result = await compactRecords(benchFor(t), records, keep(4));
    const [summary = '', rules] = textsSent(result);
    assert.match(summary, /flamingo lock file/);
    assert.match(summary, /all is well/);
    assert.equal(rules, textOf(Object(RULES['payload'])));
  });

  test('that leave the latest prompt in the context have it stay, word for word', async (t) => {
    const work = Array.from({ length: 12 }, (_, at) => [reasoning(), call(`c${at}`), output(`c${at}`, prose(at))]);
    const typed = said('user', 'Never touch the flamingo lock file.');
    const records = [header(), typed, said('assistant', 'yes'), compacted(null, 'all is well'), ...work.flat()];
    const result = await compactRecords(benchFor(t), records, keep(4));
    assert.deepEqual([result[1]?.['type'], result[2]], ['compacted', typed]);
  });

  test('that were made after ours are compacted again, and restore goes back through all of them', async (t) => {
    const bench = benchFor(t);
    const records = [header(), RULES, ...turns(8)];
    bench.write('r.jsonl', toText(records));
    reportOf(await bench.compact('r.jsonl', keep(4)));
    const later = [compacted([message('user', 'they went on: pelican 99')]), ...turns(8, 20)];
    appendFileSync(bench.path('r.jsonl'), toText(later));
    reportOf(await bench.compact('r.jsonl', keep(4)));
    assert.match(textsSent(parseLines(bench.read('r.jsonl').toString()))[0] ?? '', /pelican 99/);
    assert.deepEqual((await bench.verify('r.jsonl')).problems, []);
    assert.equal((await bench.restore('r.jsonl')).toString(), toText([...records, ...later]));
  });
});

test("the summary of Codex's own compaction stands for the messages before it, not for rules and what was taken back", async (t) => {
  const bench = benchFor(t);
  const greeting = [RULES, RULES, GUIDE, said('user', 'hello'), said('assistant', 'hi')];
  const taken = [said('user', 'wrong'), said('assistant', 'ok'), rolledBack(1)];
  const own = compacted([message('user', 'it was a greeting')]);
  bench.write('r.jsonl', toText([header(), ...taken, ...greeting, own, ...taken, ...turns(12)]));
  const { conversations } = reportOf(await bench.compact('r.jsonl', keep(5)));
  assert.equal(conversations[0]?.batches[0]?.count, 2);
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('turn', 'prompt', 'lookalike', 'answer', 'work', 'parallel') },
  { weight: 3, arbitrary: fc.constantFrom('settings', 'guide', 'aborted', 'orphan', 'tokens', 'start', 'context') },
  { weight: 1, arbitrary: fc.constantFrom('compaction', 'meta') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }) },
);

function records(of: string | number, n: number): readonly JsonObject[] {
  if (typeof of === 'number') return [rolledBack(of)];
  const kinds: Readonly<Record<string, readonly JsonObject[]>> = {
    turn: turn(`${n}`, prose(n, 30), prose(n + 50, 30)),
    prompt: [said('user', prose(n, 20)), event('user_message', { message: prose(n, 20) })],
    lookalike: [said('user', `<environment_context>${n}</environment_context>? ${prose(n, 20)}`)],
    answer: [event('agent_message', { message: prose(n, 25) }), said('assistant', prose(n, 25))],
    work: [reasoning(), call(`w${n}`), output(`w${n}`, prose(n, 50))],
    parallel: [call(`p${n}`), call(`q${n}`), output(`q${n}`, prose(n)), output(`p${n}`, prose(n))],
    settings: [said('developer', `<permissions instructions>${n}`)],
    guide: [said('user', `<environment_context>${n}</environment_context>`)],
    aborted: [event('turn_aborted', { turn_id: 'x' }), said('user', '<turn_aborted>x</turn_aborted>')],
    orphan: [n % 2 === 0 ? call(`o${n}`) : output(`o${n}`)],
    tokens: [tokenCount()],
    start: [taskStarted(`${n}`)],
    context: [turnContext(`${n}`)],
    compaction: [compacted([message('user', prose(n, 30))])],
    meta: [record('novelty', { n })],
  };
  return kinds[of] ?? [];
}

test('any rollout, compacted twice: it verifies and restores, and Codex gets the summary and then an end of what it got before', async () => {
  const bench = createWorkbench();
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat({ max: 4 }), async (steps, keepRecent) => {
        const original = [header(), ...steps.flatMap(records)];
        bench.write('r.jsonl', toText(original));
        for (const kept of [keepRecent + 4, keepRecent]) {
          const before = parseLines(bench.read('r.jsonl').toString());
          const done = await bench.compact('r.jsonl', {
            format: 'codex',
            compaction: { keepRecent: kept, maxSummaryTokens: 80 },
          });
          if (!done.ok) return assert.equal(done.error.kind, 'no-messages');
          if (done.value.result !== 'compacted') continue;
          assert.deepEqual((await bench.verify('r.jsonl')).problems, []);
          assert.equal((await bench.restore('r.jsonl')).toString(), toText(original));
          const after = parseLines(bench.read('r.jsonl').toString());
          assert.equal(after[0]?.['type'], 'session_meta');
          holdsInContext(before, after);
        }
      }),
      { numRuns: runsOf(150) },
    );
  } finally {
    bench.remove();
  }
});

/** One summary, first; whatever else is sent was sent before, in the same order; no call was parted from its output. */
function holdsInContext(before: readonly JsonObject[], after: readonly JsonObject[]): void {
  const sentBefore = replay(before).map(({ item }) => JSON.stringify(item));
  const [summary, ...rest] = replay(after).map(({ item }) => item);
  assert.match(textOf(summary ?? {}), /^\[Context Summary — /);
  let at = -1;
  for (const one of rest.map((item) => JSON.stringify(item))) {
    const found = sentBefore.indexOf(one, at + 1);
    assert.ok(found > at, `not sent before, or in another order: ${one.slice(0, 80)}`);
    at = found;
  }
  const ids = (items: readonly JsonObject[], ending: string): ReadonlySet<Json> =>
    new Set(
      items.flatMap(({ type, call_id: id = null }) => (typeof type === 'string' && type.endsWith(ending) ? [id] : [])),
    );
  const all = replay(before).map(({ item }) => item);
  const answered = ids(all, '_output');
  for (const id of ids(all, '_call'))
    if (answered.has(id)) assert.equal(ids(rest, '_call').has(id), ids(rest, '_output').has(id), JSON.stringify(id));
}
