import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { capture } from '../support/captures.ts';
import { collect } from '../support/collect.ts';
import { chatTranscript } from '../support/chat.ts';
import { killWhereItStops, saidBy, startStopping } from '../support/stopping.ts';
import { benchFor, type Workbench } from '../support/workbench.ts';

const FIRST = chatTranscript(40);
const GROWN = FIRST + chatTranscript(300, 100);
const STEPS = ['after begin', 'after append', 'before commit', 'after commit'];

/** The sha256 of what every state of a file restores to, in an archive without damage. */
async function stored(bench: Workbench, path: string): Promise<readonly string[]> {
  const { captures, check } = bench.archive();
  const file = await captures.find(path);
  const states = await captures.listStates(file?.id ?? 0);
  const problems = (await collect(check())).filter(({ kind }) => kind === 'damage');
  assert.deepEqual(problems, []);
  const bytes = await Promise.all(states.map(async ({ id }) => Buffer.concat(await collect(captures.read(id)))));
  return bytes.map((one) => hash('sha256', one));
}

const hashesOf = (texts: readonly string[]): readonly string[] => texts.map((text) => hash('sha256', text));

for (const stopsAt of STEPS) {
  test(`a capture killed ${stopsAt} loses nothing, and the next one completes it`, async (t) => {
    const bench = benchFor(t);
    const path = bench.write('x.jsonl', FIRST);
    await capture(bench, 'x.jsonl');
    bench.write('x.jsonl', GROWN);
    await killWhereItStops(t, { work: 'capture', folder: bench.folder, named: 'x.jsonl', stopsAt });
    const isStored = stopsAt === 'after commit';
    assert.deepEqual(await stored(bench, path), hashesOf(isStored ? [FIRST, GROWN] : [FIRST]));
    await capture(bench, 'x.jsonl');
    assert.deepEqual(await stored(bench, path), hashesOf([FIRST, GROWN]));
  });
}

test('processes that capture the same new file at once store it once', async (t) => {
  const bench = benchFor(t);
  const path = bench.write('x.jsonl', GROWN);
  bench.archive();
  const work = { work: 'capture', folder: bench.folder, named: 'x.jsonl' } as const;
  const texts = await Promise.all([1, 2, 3].map(() => saidBy(startStopping(t, work))));
  assert.ok(
    texts.every((text) => text === 'done'),
    texts.join('\n'),
  );
  assert.deepEqual(await stored(bench, path), hashesOf([GROWN]));
});

test('files are captured while others are compacted into the same archive, and nothing is lost', async (t) => {
  const bench = benchFor(t);
  const talks = Array.from({ length: 3 }, (_, at) => chatTranscript(200, at * 1000));
  const paths = talks.map((talk, at) => bench.write(`${at}.jsonl`, talk));
  bench.archive();
  const ended = Promise.all(
    talks.map((_, at) => saidBy(startStopping(t, { work: 'capture', folder: bench.folder, named: `${at}.jsonl` }))),
  );
  for (const at of talks.keys()) {
    bench.write(`copy-${at}.jsonl`, talks[at] ?? '');
    assert.ok((await bench.compact(`copy-${at}.jsonl`)).ok);
  }
  assert.ok((await ended).every((text) => text === 'done'));
  for (const [at, path] of paths.entries()) {
    assert.deepEqual(await stored(bench, path), hashesOf([talks[at] ?? '']));
    assert.ok((await bench.restore(`copy-${at}.jsonl`)).equals(Buffer.from(talks[at] ?? '')));
  }
});
