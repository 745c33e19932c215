import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import { searchArchive } from '../../src/app/search/search-archive.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import type { StoredBatch } from '../../src/ports/archive-lookup.ts';
import { chatTranscript, prose } from '../support/chat.ts';
import { benchFor, benchWith, type BenchSettings, reportOf, type Workbench } from '../support/workbench.ts';
import { collect } from '../support/collect.ts';

test('offline everything that goes becomes one batch of the size that was asked for', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(120));
  const { conversations } = reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 } }));
  const batches = conversations[0]?.batches ?? [];
  assert.deepEqual(
    batches.map(({ depth, count }) => [depth, count]),
    [[0, 244]],
  );
  const tokens = estimateTokens((await bench.archive().loadCompaction(1))?.cycles[0]?.live[0]?.content ?? '');
  assert.ok(tokens > 600 && tokens <= 900, `${tokens} tokens`);
});

test('a dry run counts one request and one summary', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(120));
  const settings = { compaction: { summaryTokens: 900 }, output: { kind: 'none' } } as const;
  const { plan, conversations } = reportOf(await bench.compact('talk.jsonl', settings));
  assert.deepEqual([plan?.chunks, plan?.requests, plan?.tokensOut], [1, 1, 900]);
  const expected = conversations[0]?.tokens.after ?? 0;
  const done = reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 } }));
  assert.ok((done.conversations[0]?.tokens.after ?? 0) <= expected);
});

test('another size of the summary is another result', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(60));
  const output = (name: string) => ({ kind: 'file', path: bench.path(name) }) as const;
  const small = reportOf(
    await bench.compact('talk.jsonl', { compaction: { summaryTokens: 300 }, output: output('small.jsonl') }),
  );
  const large = reportOf(
    await bench.compact('talk.jsonl', { compaction: { summaryTokens: 900 }, output: output('large.jsonl') }),
  );
  assert.notEqual(small.sha256.after, large.sha256.after);
  assert.doesNotMatch(large.notes.join('\n'), /stored summaries were used/);
});

const TURNS = 12;
/** Compacts after every few turns of one talk, as a user does. */
async function compactInSteps(bench: Workbench, steps: number, settings: BenchSettings): Promise<void> {
  bench.write('talk.jsonl', '');
  for (let step = 0; step < steps; step += 1) {
    appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, step * TURNS));
    reportOf(await bench.compact('talk.jsonl', settings));
  }
}

const liveOf = async (bench: Workbench, compaction: number): Promise<readonly StoredBatch[]> =>
  (await bench.archive().loadCompaction(compaction))?.cycles[0]?.live ?? [];

test('ten compactions leave the summary that a single one would have made', async (t) => {
  const settings = { compaction: { summaryTokens: 700, keepRecentTokens: 2_000 } };
  const many = benchFor(t);
  await compactInSteps(many, 10, settings);
  const once = benchFor(t);
  once.write('talk.jsonl', chatTranscript(10 * TURNS));
  reportOf(await once.compact('talk.jsonl', settings));
  const [whole, ...others] = await liveOf(many, 10);
  assert.equal(others.length, 0);
  assert.equal(whole?.depth, 9);
  assert.equal(whole.messageCount, (await liveOf(once, 1))[0]?.messageCount);
  assert.equal(whole.content, (await liveOf(once, 1))[0]?.content);
  assert.deepEqual((await many.verify('talk.jsonl')).problems, []);
  assert.deepEqual(await many.restore('talk.jsonl'), await once.restore('talk.jsonl'));
});

test('batches of earlier cycles stay in the archive as they were', async (t) => {
  const bench = benchFor(t);
  await compactInSteps(bench, 1, { compaction: { summaryTokens: 300 } });
  const [first] = await liveOf(bench, 1);
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, TURNS));
  reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 300 } }));
  const archive = bench.archive();
  assert.deepEqual((await archive.loadCompaction(1))?.cycles[0]?.made[0]?.content, first?.content);
  const [whole] = await liveOf(bench, 2);
  assert.deepEqual(
    (await archive.loadSources(whole?.id ?? 0)).map(({ label }) => label),
    [first?.label],
  );
  assert.equal((await collect(archive.readOriginals(whole?.id ?? 0))).flat().length, whole?.messageCount);
  assert.deepEqual(
    (await collect(archive.check())).flatMap((step) => (step.kind === 'damage' ? [step] : [])),
    [],
  );
});

test('chunks of earlier cycles give way to one batch, and come back when they are asked for', async (t) => {
  const bench = benchFor(t);
  await compactInSteps(bench, 1, { compaction: { chunkSize: 8 } });
  assert.ok((await liveOf(bench, 1)).length > 2);
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, TURNS));
  reportOf(await bench.compact('talk.jsonl', { compaction: { summaryTokens: 500 } }));
  assert.deepEqual(
    (await liveOf(bench, 2)).map(({ depth }) => depth),
    [1],
  );
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, 2 * TURNS));
  reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 20 } }));
  assert.deepEqual(
    (await liveOf(bench, 3)).map(({ depth }) => depth),
    [1, 0, 0],
  );
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
});

test('a summary whose archive is elsewhere stays whole beside the new one, through later compactions', async (t) => {
  const settings = { compaction: { summaryTokens: 400 }, isFresh: true };
  const elsewhere = benchFor(t);
  await compactInSteps(elsewhere, 1, settings);
  const bench = benchWith(t, 'talk.jsonl', elsewhere.read('talk.jsonl'));
  for (const from of [1, 2]) {
    appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, from * TURNS));
    reportOf(await bench.compact('talk.jsonl', settings));
  }
  const [foreign, whole, ...others] = await liveOf(bench, 2);
  const lines = (await liveOf(elsewhere, 1))[0]?.content.split('\n') ?? [];
  assert.deepEqual(
    lines.filter((line) => foreign?.content.includes(line) !== true),
    [],
  );
  assert.deepEqual([whole?.depth, others.length], [1, 0]);
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
});

/** A session that its program compacted twice itself; each summary has a word that stands nowhere else. */
function twiceCompacted(): string {
  const base = { isSidechain: false, userType: 'external', cwd: '/w', sessionId: 's1', version: '2.1.197' };
  const lines: string[] = [];
  let tip: string | null = null;
  const add = (record: object): void => {
    const uuid = `u-${lines.length}`;
    const timestamp = new Date(Date.UTC(2026, 0, 2, 3, 0, lines.length)).toISOString();
    lines.push(JSON.stringify({ ...base, parentUuid: tip, uuid, timestamp, ...record }));
    tip = uuid;
  };
  const say = (n: number): void => {
    add({ type: 'user', message: { role: 'user', content: prose(n) } });
    const content = [{ type: 'text', text: prose(n + 50) }];
    add({ type: 'assistant', message: { id: `m${n}`, model: 'm', role: 'assistant', type: 'message', content } });
  };
  for (const [at, word] of ['quokka', 'wombat'].entries()) {
    for (let n = 0; n < 8; n += 1) say(at * 100 + n);
    const logical = tip;
    tip = null;
    add({
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      logicalParentUuid: logical,
      compactMetadata: { trigger: 'auto', preTokens: 90_000 },
    });
    const text = `This session is being continued from a previous conversation.\nThe ${word} was chosen. ${prose(at + 900, 2500)}`;
    add({ type: 'user', isCompactSummary: true, message: { role: 'user', content: text } });
  }
  for (let n = 300; n < 320; n += 1) say(n);
  return `${lines.join('\n')}\n`;
}

test('summaries that the program of a session wrote itself are found by their words, the replaced one too', async (t) => {
  const bench = benchWith(t, 'session.jsonl', twiceCompacted());
  const report = reportOf(await bench.compact('session.jsonl', { compaction: { summaryTokens: 300 } }));
  assert.equal(report.conversations[0]?.batches.length, 1);
  for (const word of ['quokka', 'wombat']) {
    const found = await searchArchive(bench.deps, {
      query: word,
      kinds: 'all',
      order: 'best',
      limit: 10,
      conversation: null,
      role: null,
      since: null,
      until: null,
      source: null,
    });
    assert.ok(found.ok && found.value.hits.length > 0, `${word}: ${JSON.stringify(found)}`);
  }
  assert.deepEqual((await bench.verify('session.jsonl')).problems, []);
});
