import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { benchFor, type Workbench } from '../../../support/workbench.ts';

import { checkpoint, header, model, rewindTo, user } from './sessions.ts';
import { FIXTURES, type Fields as JsonObject, parseLines, toText } from '../reading.ts';

const NAME = 'session.jsonl';

/** The messages that Gemini CLI has after reading a log, told once more in the plainest way. */
function load(bench: Workbench): readonly JsonObject[] {
  const messages = new Map<string, JsonObject>();
  for (const record of parseLines(bench.read(NAME).toString('utf8'))) {
    const { id, $rewindTo, $set } = Object(record);
    if (typeof id === 'string') messages.set(id, record);
    if ($rewindTo !== undefined) for (const known of idsFrom([...messages.keys()], $rewindTo)) messages.delete(known);
    if (Array.isArray($set?.messages)) {
      messages.clear();
      for (const message of $set.messages) messages.set(message.id, message);
    }
  }
  return [...messages.values()];
}

const idsFrom = (ids: readonly string[], id: string): readonly string[] => ids.slice(Math.max(0, ids.indexOf(id)));
const idsOf = (messages: readonly JsonObject[]): readonly unknown[] => messages.map(({ id }) => id);
const isSummary = (message: JsonObject | undefined): boolean =>
  JSON.stringify(message?.['content']).includes('[Context Summary —');

async function compact(bench: Workbench, keepRecent: number): Promise<string | undefined> {
  const done = await bench.compact(NAME, {
    compaction: { keepRecent, keepRecentTokens: 0, maxSummaryTokens: 120, chunkSize: 20 },
  });
  assert.ok(done.ok, JSON.stringify(done));
  if (done.value.result === 'compacted') assert.deepEqual((await bench.verify(NAME)).problems, []);
  return done.value.result;
}

function benchWith(t: TestContext, name: string): Workbench {
  const bench = benchFor(t);
  bench.write(NAME, readFileSync(join(FIXTURES, 'gemini', name)));
  return bench;
}

function append(bench: Workbench, ...records: readonly JsonObject[]): void {
  appendFileSync(bench.path(NAME), toText(records));
}

const FIXTURE_NAMES = [
  'session.jsonl',
  'resumed.jsonl',
  'resumed-within-the-minute.jsonl',
  'rewound.jsonl',
  'rewound-to-a-message-that-is-not-there.jsonl',
  'rewound-and-said-again-under-one-id.jsonl',
  'request-that-was-aborted.jsonl',
  'update-of-an-older-message.jsonl',
  'notices-and-commands.jsonl',
];
for (const name of FIXTURE_NAMES) {
  test(`of ${name} Gemini CLI has the metadata, the summary, then messages that it had, in their order`, async (t) => {
    const bench = benchWith(t, name);
    const before = idsOf(load(bench));
    assert.equal(await compact(bench, 4), 'compacted');
    const [summary, ...kept] = load(bench);
    assert.ok(isSummary(summary));
    const places = idsOf(kept).map((id) => before.indexOf(id));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(!places.includes(-1));
    assert.ok(kept.length >= 4);
    const [first] = parseLines(bench.read(NAME).toString('utf8'));
    assert.ok('projectHash' in (first ?? {}));
  });
}

test('a session that Gemini CLI compressed keeps what it had left as it was, and its summary, without the checkpoint', async (t) => {
  const bench = benchWith(t, 'own-compression.jsonl');
  assert.equal(await compact(bench, 6), 'compacted');
  const [summary, ...kept] = load(bench);
  assert.match(
    JSON.stringify(summary),
    /The barometer, the rain gauge, the wind vane and the upload queue were repaired/,
  );
  assert.deepEqual(kept.map(({ type }) => type).slice(0, 4), ['user', 'gemini', 'user', 'gemini']);
  assert.equal(bench.read(NAME).includes('$set":{"messages'), false);
});

suite('a compacted session', () => {
  test('keeps its summary when Gemini CLI takes back what was said since', async (t) => {
    const bench = benchWith(t, 'session.jsonl');
    await compact(bench, 4);
    const before = idsOf(load(bench));
    append(bench, user('new-1', 'one more'), model('new-2', 'an answer'), rewindTo('new-1'));
    assert.deepEqual(idsOf(load(bench)), before);
    for (const n of [3, 4, 5, 6, 7, 8])
      append(bench, user(`new-${n}`, `question ${n} `.repeat(40)), model(`a-${n}`, `answer ${n}`));
    assert.equal(await compact(bench, 4), 'compacted');
    const messages = load(bench);
    assert.ok(isSummary(messages[0]));
    assert.match(JSON.stringify(messages[0]), /across 2 compaction cycles/);
  });

  test('keeps its summary, its lineage and its messages when Gemini CLI notes them all anew', async (t) => {
    const bench = benchWith(t, 'resumed.jsonl');
    const original = bench.read(NAME);
    await compact(bench, 4);
    const again = checkpoint(user('environment-context', '<session_context>'), ...load(bench));
    const later = [4, 5, 6, 7].flatMap((n) => [
      user(`new-${n}`, `question ${n} `.repeat(40)),
      model(`a-${n}`, `answer ${n}`),
    ]);
    append(bench, again, ...later);
    assert.equal(await compact(bench, 4), 'compacted');
    const messages = load(bench);
    assert.match(JSON.stringify(messages[0]), /across 2 compaction cycles/);
    assert.deepEqual(idsOf(messages.slice(1)), ['new-6', 'a-6', 'new-7', 'a-7']);
    assert.deepEqual(await bench.restore(NAME), Buffer.concat([original, Buffer.from(toText([again, ...later]))]));
  });

  test('is compacted again where Gemini CLI had it in memory and noted everything anew', async (t) => {
    const bench = benchWith(t, 'session.jsonl');
    const before = load(bench);
    await compact(bench, 4);
    append(bench, checkpoint(...before));
    assert.equal(await compact(bench, 4), 'skipped');
    const later = [1, 2, 3].flatMap((n) => [user(`new-${n}`, `question ${n}`), model(`a-${n}`, `answer ${n}`)]);
    append(bench, ...later);
    assert.equal(await compact(bench, 4), 'compacted');
    const [summary, ...kept] = load(bench);
    assert.ok(isSummary(summary));
    assert.deepEqual(idsOf(kept), ['new-2', 'a-2', 'new-3', 'a-3']);
  });

  test('keeps no checkpoint among what survives a target', async (t) => {
    const bench = benchWith(t, 'messages-only-in-a-checkpoint.jsonl');
    const done = await bench.compact(NAME, {
      targetTokens: 1_200,
      compaction: { keepRecent: 2, maxSummaryTokens: 60 },
    });
    assert.ok(done.ok && done.value.result === 'compacted');
    const [summary, ...kept] = load(bench);
    assert.ok(isSummary(summary));
    assert.ok(kept.length > 3);
  });

  test('that Gemini CLI compressed in turn is compacted with its summary', async (t) => {
    const bench = benchWith(t, 'session.jsonl');
    await compact(bench, 4);
    append(bench, checkpoint(user('n-1', '<state_snapshot>The vane stands north twice.</state_snapshot>')));
    for (const n of [1, 2, 3, 4])
      append(bench, user(`new-${n}`, `question ${n} `.repeat(60)), model(`a-${n}`, `answer ${n}`));
    assert.equal(await compact(bench, 2), 'compacted');
    assert.match(JSON.stringify(load(bench)[0]), /The vane stands north twice\./);
  });
});

test('the summary stands before the first record of a message that was put anew at the end', async (t) => {
  const bench = benchFor(t);
  const said = Array.from({ length: 12 }, (_, n) => user(`u-${n}`, `question ${n} `.repeat(30)));
  bench.write(NAME, toText([header(), ...said, user('u-3', 'question 3, rather')]));
  assert.equal(await compact(bench, 2), 'compacted');
  const [summary, ...kept] = load(bench);
  assert.ok(isSummary(summary));
  assert.deepEqual(idsOf(kept), ['u-3', 'u-11']);
});

test('a session whose metadata holds messages is left as it is, and why is said', async (t) => {
  const bench = benchFor(t);
  const said = Array.from({ length: 12 }, (_, n) => user(`u-${n}`, `question ${n} `.repeat(30)));
  bench.write(NAME, toText([header({ messages: [user('a', 'old')] }), ...said]));
  const done = await bench.compact(NAME, { compaction: { keepRecent: 2 } });
  assert.equal(done.ok && done.value.reason, 'no-legal-cut');
});
