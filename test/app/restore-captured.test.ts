import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { capture, damage, restored, tryRestore } from '../support/captures.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith } from '../support/workbench.ts';

const TALK = chatTranscript(40);
const OTHER = chatTranscript(300, 5000);

test('a file is restored in place where it is gone, and over content that was captured, and over nothing else', async (t) => {
  const bench = benchWith(t, 'x.jsonl', TALK);
  await capture(bench, 'x.jsonl');
  const inPlace = { output: { kind: 'in-place' } } as const;
  rmSync(bench.path('x.jsonl'));
  assert.ok((await tryRestore(bench, 'x.jsonl', inPlace)).ok);
  assert.equal(bench.read('x.jsonl').toString(), TALK);
  bench.write('x.jsonl', OTHER);
  assert.deepEqual(await tryRestore(bench, 'x.jsonl', inPlace), {
    ok: false,
    error: { kind: 'uncaptured', file: bench.path('x.jsonl'), isDamaged: false },
  });
  assert.equal(bench.read('x.jsonl').toString(), OTHER);
  await capture(bench, 'x.jsonl');
  assert.ok((await tryRestore(bench, 'x.jsonl', { ...inPlace, version: 1 })).ok);
  assert.equal(bench.read('x.jsonl').toString(), TALK);
  bench.write('taken', 'precious');
  const taken = await tryRestore(bench, 'x.jsonl', { output: { kind: 'file', path: bench.path('taken') } });
  assert.deepEqual([!taken.ok && taken.error.kind, bench.read('taken').toString()], ['output-exists', 'precious']);
});

test('a file comes back in place with the folders that are gone, and only then are folders made', async (t) => {
  const bench = benchFor(t);
  mkdirSync(bench.path('gone/deep'), { recursive: true });
  bench.write('gone/deep/x.jsonl', TALK);
  await capture(bench, 'gone/deep/x.jsonl');
  rmSync(bench.path('gone'), { recursive: true });
  const elsewhere = { output: { kind: 'file', path: bench.path('none/y.jsonl') } } as const;
  const refused = await tryRestore(bench, 'gone/deep/x.jsonl', elsewhere);
  assert.deepEqual([!refused.ok && refused.error.kind, existsSync(bench.path('none'))], ['file', false]);
  assert.ok((await tryRestore(bench, 'gone/deep/x.jsonl', { output: { kind: 'in-place' } })).ok);
  assert.equal(bench.read('gone/deep/x.jsonl').toString(), TALK);
  assert.equal(statSync(bench.path('gone/deep')).mode & 0o777, 0o700);
});

test('a captured file is found by the end of its path and by the beginning of the id in its name, and not by a doubtful one', async (t) => {
  const bench = benchFor(t);
  const [one, other] = ['6b6f4218-0000-4222-8333-444455556666', '6b6f4218-1111-4222-8333-444455556666'];
  const names = [`rollout-2026-05-05-${one}.jsonl`, `rollout-2026-05-05-${other}.jsonl`];
  for (const name of names) {
    bench.write(name, TALK);
    await capture(bench, name);
  }
  for (const file of [names[0] ?? '', '6B6F4218-0']) {
    const done = await tryRestore(bench, '', { file, output: { kind: 'stdout' } });
    assert.deepEqual(done.ok && done.value.file, bench.path(names[0] ?? ''));
  }
  const doubtful = await tryRestore(bench, '', { file: '6b6f4218' });
  assert.equal(!doubtful.ok && doubtful.error.kind, 'ambiguous');
  // As in other commands, an id is typed from its beginning.
  for (const file of ['other.jsonl', '44445555']) {
    const none = await tryRestore(bench, '', { file });
    assert.equal(!none.ok && none.error.kind, 'not-captured');
  }
});

test('damage is found before anything is written', async (t) => {
  const bench = benchWith(t, 'x.jsonl', TALK);
  await capture(bench, 'x.jsonl');
  damage(bench, 'UPDATE captured_lines SET sha256 = randomblob(16) WHERE id = 7');
  for (const output of [{ kind: 'stdout' } as const, { kind: 'file', path: bench.path('restored') } as const]) {
    const done = await tryRestore(bench, 'x.jsonl', { output });
    assert.equal(!done.ok && done.error.kind === 'archive' && done.error.failure.kind, 'damaged');
  }
  assert.deepEqual([existsSync(bench.path('restored')), bench.stdout().length], [false, 0]);
});

for (const [what, grows] of [
  ['has not changed', false],
  ['has grown', true],
] as const) {
  test(`a file that ${what} is captured whole again if what the archive has of it is damaged`, async (t) => {
    const bench = benchWith(t, 'x.jsonl', chatTranscript(40));
    await capture(bench, 'x.jsonl');
    damage(bench, 'UPDATE captured_blocks SET data = zeroblob(length(data))');
    if (grows) appendFileSync(bench.path('x.jsonl'), chatTranscript(10, 100));
    const content = readFileSync(bench.path('x.jsonl'), 'latin1');
    const { result, change, version } = await capture(bench, 'x.jsonl', { rereads: true });
    assert.deepEqual([result, change, version], ['captured', 'damaged', 2]);
    assert.equal(await restored(bench, 'x.jsonl'), content);
    assert.equal((await capture(bench, 'x.jsonl', { rereads: true })).result, 'unchanged');
  });
}

test('a file is not replaced while the archive cannot give its content back', async (t) => {
  const bench = benchFor(t);
  const [first, second] = [chatTranscript(40), chatTranscript(60, 500)];
  bench.write('x.jsonl', first);
  await capture(bench, 'x.jsonl');
  bench.write('x.jsonl', second);
  await capture(bench, 'x.jsonl');
  const restoreFirst = () => tryRestore(bench, 'x.jsonl', { version: 1, output: { kind: 'in-place' } });
  const last = '(SELECT max(id) FROM captured_lines)';
  damage(bench, `UPDATE captured_lines SET sha256 = randomblob(16) WHERE id = ${last}`);
  assert.deepEqual(await restoreFirst(), {
    ok: false,
    error: { kind: 'uncaptured', file: bench.path('x.jsonl'), isDamaged: true },
  });
  assert.equal(readFileSync(bench.path('x.jsonl'), 'utf8'), second);
  assert.equal((await capture(bench, 'x.jsonl', { rereads: true })).change, 'damaged');
  assert.ok((await restoreFirst()).ok);
  assert.equal(readFileSync(bench.path('x.jsonl'), 'utf8'), first);
  assert.equal(await restored(bench, 'x.jsonl'), second);
});
