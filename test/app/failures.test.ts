import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf } from '../support/workbench.ts';

const original = chatTranscript(30);

const onlyFiles = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => !name.startsWith('archive.db'));

test('an output that holds something else is not replaced', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  for (const [name, content] of [
    ['notes.txt', 'my notes\n'],
    ['other.jsonl', chatTranscript(3)],
  ] as const) {
    bench.write(name, content);
    const done = await bench.compact('talk.jsonl', { output: { kind: 'file', path: bench.path(name) } });
    assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
    assert.equal(bench.read(name).toString(), content);
  }
});

test('an output of ours is replaced', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  const output = { kind: 'default', path: bench.path('talk.compact.jsonl') } as const;
  reportOf(await bench.compact('talk.jsonl', { output }));
  bench.write('talk.jsonl', chatTranscript(40));
  assert.equal(reportOf(await bench.compact('talk.jsonl', { output })).result, 'compacted');
  assert.equal((await bench.restore('talk.compact.jsonl')).toString(), chatTranscript(40));
});

test('nothing to do: the default output is not made, an explicit one gets the input’s bytes', async (t) => {
  const bench = benchWith(t, 'short.jsonl', chatTranscript(1));
  for (const kind of ['default', 'file'] as const) {
    const report = reportOf(
      await bench.compact('short.jsonl', { output: { kind, path: bench.path(`${kind}.jsonl`) } }),
    );
    assert.deepEqual([report.result, report.reason], ['skipped', 'too-short']);
  }
  assert.deepEqual(onlyFiles(bench.folder).toSorted(), ['file.jsonl', 'short.jsonl']);
  assert.equal(bench.read('file.jsonl').toString(), chatTranscript(1));
});

test('a dry run writes nothing, not even an archive, and names what would be done', async (t) => {
  const bench = benchFor(t, {
    openArchive: async (mode) =>
      mode === 'existing' ? { ok: true, value: null } : assert.fail('it asked for an archive'),
  });
  bench.write('talk.jsonl', original);
  const report = reportOf(await bench.compact('talk.jsonl', { output: { kind: 'none' } }));
  assert.equal(report.result, 'planned');
  assert.equal(report.plan?.requests, 1);
  assert.deepEqual(readdirSync(bench.folder), ['talk.jsonl']);
  assert.equal(bench.read('talk.jsonl').toString(), original);
});

test('a transcript under the limit is skipped', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  assert.deepEqual(reportOf(await bench.compact('talk.jsonl', { ifOverTokens: 1_000_000 })).reason, 'under-limit');
  assert.equal(bench.read('talk.jsonl').toString(), original);
});

test('in place, a symbolic link stays one, and mode stays', async (t) => {
  const bench = benchWith(t, 'real.jsonl', original);
  chmodSync(bench.path('real.jsonl'), 0o640);
  symlinkSync('real.jsonl', bench.path('link.jsonl'));
  reportOf(await bench.compact('link.jsonl'));
  assert.ok(lstatSync(bench.path('link.jsonl')).isSymbolicLink());
  assert.equal(statSync(bench.path('real.jsonl')).mode & 0o777, 0o640);
  assert.equal((await bench.restore('real.jsonl')).toString(), original);
});

test('the remarks of a run stand in the report of the same run again', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  const settings = { targetTokens: 100, output: { kind: 'file', path: bench.path('out.jsonl') } } as const;
  const first = reportOf(await bench.compact('talk.jsonl', settings));
  const second = reportOf(await bench.compact('talk.jsonl', settings));
  assert.match(first.notes.join(), /target of 100 tokens was missed by/);
  assert.deepEqual(second.notes.slice(0, -1), first.notes);
});

test('a dry run of a file that was just compacted says what the run would say', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await bench.compact('talk.jsonl'));
  assert.equal(reportOf(await bench.compact('talk.jsonl', { output: { kind: 'none' } })).reason, 'nothing-new');
});

test('a file without any JSON line gets no advice to carry its lines along', async (t) => {
  const bench = benchWith(t, 'glued.jsonl', '{"role":"user","content":"x"}{"role":"user","content":"y"}\n');
  const done = await bench.compact('glued.jsonl', { keepInvalid: true });
  assert.deepEqual(done.ok ? null : done.error, {
    kind: 'bad-line',
    file: 'glued.jsonl',
    line: 1,
    column: 30,
    problem: 'not valid JSON (two records on one line)',
    canCarry: false,
  });
});

test('a file without messages is reported with what it contains', async (t) => {
  const bench = benchFor(t);
  const records = ['mode', 'mode', 'custom-title', 'last-prompt'].map((type) => ({ type, sessionId: 's1' }));
  bench.write('opened.jsonl', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const done = await bench.compact('opened.jsonl');
  assert.deepEqual(done.ok ? null : done.error, {
    kind: 'no-messages',
    file: 'opened.jsonl',
    contains: '2 mode, 1 custom-title and 1 last-prompt records',
  });
});
