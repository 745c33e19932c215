import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { capture } from '../support/captures.ts';
import { collect } from '../support/collect.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, type Workbench } from '../support/workbench.ts';

const CHILD = join(import.meta.dirname, '../adapters/archive/capture-process.ts');
const FIRST = chatTranscript(40);
const GROWN = FIRST + chatTranscript(900, 100);
const STEPS = ['after begin', 'after append', 'before commit', 'after commit'];

function startCapture(t: TestContext, { folder }: Workbench, file: string, stopsAt = ''): ChildProcess {
  const child = spawn(process.execPath, [CHILD, folder, file, stopsAt], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function said(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [text] = await once(child.stdout, 'data');
  return String(text).trim();
}

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
    const child = startCapture(t, bench, path, stopsAt);
    assert.equal(await said(child), 'stopped');
    child.kill('SIGKILL');
    await once(child, 'close');
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
  const children = [1, 2, 3].map(() => startCapture(t, bench, path));
  const texts = await Promise.all(children.map(said));
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
  const children = paths.map((path) => startCapture(t, bench, path));
  const ended = Promise.all(children.map(said));
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
