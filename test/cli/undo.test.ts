import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { thisCaller } from '../../src/adapters/runtime/node.ts';
import { describeCommand } from '../../src/cli/session.ts';
import { chatTranscript } from '../support/chat.ts';
import { type Ended, jsonLines, runProcess } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';
import { placeWith, type Place } from '../support/place.ts';

const A = chatTranscript(9);
const B = chatTranscript(12, 50);

const readReports = ({ stdout }: Ended): readonly Record<string, unknown>[] => jsonLines(stdout);

test('each undo undoes one run more, all its files at once', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact('-i', path('a.jsonl'), path('b.jsonl'));
  const afterFirst = text('a.jsonl');
  const more = chatTranscript(8, 100);
  appendFileSync(path('a.jsonl'), more);
  await compact('-i', path('a.jsonl'));
  const last = await compact('undo');
  assert.deepEqual([last.code, text('a.jsonl')], [0, afterFirst + more]);
  assert.match(last.stdout, /^1 file: 1 restored$/m);
  const first = await compact('undo');
  assert.deepEqual([first.code, text('a.jsonl'), text('b.jsonl')], [0, A + more, B]);
  const none = await compact('undo');
  assert.deepEqual([none.code, text('b.jsonl')], [0, B]);
  assert.match(none.stderr, /every run in it was undone; nothing to undo/);
});

for (const [what, change, message, isPassing] of [
  [
    'edited',
    ({ path, text }: Place) => writeFileSync(path('a.jsonl'), text('a.jsonl').replace(/retry/g, 'again')),
    /edited since/,
    false,
  ],
  ['replaced', ({ path }: Place) => writeFileSync(path('a.jsonl'), B), /edited since/, false],
  [
    'moved',
    ({ path }: Place) => renameSync(path('a.jsonl'), path('c.jsonl')),
    /moved or deleted since.*where it is now/,
    true,
  ],
  ['deleted', ({ path }: Place) => rmSync(path('a.jsonl')), /moved or deleted since/, true],
  [
    'erased from the archive',
    ({ path, compact }: Place) => compact('archive', 'erase', '--source', path('a.jsonl'), '--yes'),
    /erased by policy on/,
    false,
  ],
] as const) {
  test(`a file that was ${what} is left alone and named, and the others are undone`, async (t) => {
    const place = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
    await place.compact('-i', place.path('a.jsonl'), place.path('b.jsonl'));
    await change(place);
    const before = existsSync(place.path('a.jsonl')) ? place.text('a.jsonl') : null;
    const { code, stdout, stderr } = await place.compact('undo');
    const after = existsSync(place.path('a.jsonl')) ? place.text('a.jsonl') : null;
    assert.deepEqual([code, place.text('b.jsonl'), after], [1, B, before]);
    assert.ok(stderr.startsWith(place.path('a.jsonl')));
    assert.match(stderr, message);
    assert.match(stdout, /^2 files: 1 restored, 1 left alone\n'compact undo 1' tries/m);
    const again = await place.compact('undo');
    if (isPassing) assert.match(again.stdout, /^1 file: 1 left alone\n'compact undo 1' tries/m);
    else assert.match(again.stderr, /nothing to undo/);
    if (what !== 'moved') return;
    renameSync(place.path('c.jsonl'), place.path('a.jsonl'));
    assert.deepEqual([(await place.compact('undo')).code, place.text('a.jsonl')], [0, A]);
  });
}

for (const [how, options] of [
  ['replaced', ['-i']],
  ['written beside its original', []],
] as const) {
  test(`a file that was ${how} on a disk that is not mounted stays the last run until it is`, async (t) => {
    const { path, text, compact } = placeWith(t, { 'a.jsonl': A });
    await compact('-i', path('a.jsonl'));
    mkdirSync(path('disk'));
    writeFileSync(path('disk/b.jsonl'), B);
    await compact(...options, path('disk/b.jsonl'));
    renameSync(path('disk'), path('.unmounted'));
    const compacted = text('a.jsonl');
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await compact('undo');
      assert.deepEqual([code, text('a.jsonl')], [1, compacted]);
      assert.match(stderr, /its folder does not exist\. If it is on an unmounted disk, mount the disk/);
      assert.match(stdout, /^To undo the run before it instead, use 'compact undo 1' \(.*; 1 in place, /m);
    }
    renameSync(path('.unmounted'), path('disk'));
    assert.deepEqual([(await compact('undo')).code, text('disk/b.jsonl'), text('a.jsonl')], [0, B, compacted]);
    assert.deepEqual(readdirSync(path('disk')), ['b.jsonl']);
    assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [0, A]);
  });
}

test('a run that left nothing to undo is passed over: standard output, or a file in a folder that was temporary', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B, 'c.jsonl': A });
  await compact('-i', path('a.jsonl'));
  await compact(path('b.jsonl'), '-o', '-');
  mkdirSync(path('temporary'));
  await compact(path('b.jsonl'), '-o', path('temporary/one.jsonl'));
  await compact(path('c.jsonl'), '-o', path('temporary/two.jsonl'));
  rmSync(path('temporary'), { recursive: true });
  rmSync(path('c.jsonl'));
  assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [0, A]);
  const none = await compact('undo');
  assert.deepEqual([none.code, text('b.jsonl')], [0, B]);
  assert.match(none.stderr, /no file that a run of yours on this machine wrote still exists; .*nothing to undo/);
});

test('an undo names the run that is next', async (t) => {
  const { path, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact('-i', path('a.jsonl'));
  await compact(path('b.jsonl'), '-o', '-');
  await compact('-i', path('b.jsonl'));
  const { stdout } = await compact('undo');
  assert.match(stdout, /^1 file: 1 restored\nThe next 'compact undo' undoes run 1 of .* \(1 in place, .* → .*\)\.$/m);
  assert.doesNotMatch((await compact('undo')).stdout, /next/);
});

test('a file that was deleted keeps its run the last one, and the run before is named', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact('-i', path('a.jsonl'));
  await compact('-i', path('b.jsonl'));
  rmSync(path('b.jsonl'));
  assert.match((await compact('undo')).stdout, /^To undo the run before it instead, use 'compact undo 1' \(/m);
  assert.notEqual(text('a.jsonl'), A);
  assert.deepEqual([(await compact('undo', '1')).code, text('a.jsonl')], [0, A]);
});

test('a file that a later run compacted again is left alone until that run is undone', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A });
  await compact('-i', path('a.jsonl'));
  appendFileSync(path('a.jsonl'), B);
  await compact('-i', path('a.jsonl'));
  const twice = text('a.jsonl');
  const { code, stderr } = await compact('undo', '1');
  assert.deepEqual([code, text('a.jsonl')], [1, twice]);
  assert.match(stderr, /a later run compacted it again. Undo that run first/);
  await compact('undo');
  assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [0, A + B]);
});

test('a file that was written beside its original is removed, unless it was changed', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact(path('a.jsonl'), path('b.jsonl'));
  appendFileSync(path('b.compact.jsonl'), '{"role":"user","content":"more"}\n');
  appendFileSync(path('a.jsonl'), '{"role":"user","content":"the original may grow"}\n');
  const kept = text('b.compact.jsonl');
  const { code, stderr } = await compact('undo');
  assert.deepEqual([code, existsSync(path('a.compact.jsonl')), text('b.compact.jsonl')], [1, false, kept]);
  assert.match(stderr, /no longer what was written there/);
});

test('the only copy of a transcript is never removed', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A });
  await compact(path('a.jsonl'), '-o', path('short.jsonl'));
  rmSync(path('a.jsonl'));
  const { code, stderr } = await compact('undo');
  assert.deepEqual([code, existsSync(path('short.jsonl'))], [1, true]);
  assert.match(stderr, /this may be the only copy\. 'compact restore .*short\.jsonl -o .*a\.jsonl' brings/);
  await compact('restore', path('short.jsonl'), '-o', path('a.jsonl'));
  assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [0, A]);
  assert.equal(existsSync(path('short.jsonl')), false);
});

test('a run that used a stored compaction again is undone like any other', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'copy.jsonl': A });
  await compact('-i', path('a.jsonl'));
  const again = await compact('-i', path('copy.jsonl'));
  assert.match(again.stderr, /stored summaries were used/);
  assert.deepEqual([(await compact('undo')).code, text('copy.jsonl')], [0, A]);
  assert.notEqual(text('a.jsonl'), A);
  assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [0, A]);
});

test('what was restored by hand before is left as it is, and counts as undone', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A });
  await compact('-i', path('a.jsonl'));
  await compact('restore', '-i', path('a.jsonl'));
  const { code, stdout } = await compact('undo');
  assert.deepEqual([code, text('a.jsonl')], [0, A]);
  assert.match(stdout, /already as it was before/);
});

test('a dry run finds out the same, and changes nothing', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B, 'c.jsonl': A });
  await compact('-i', path('a.jsonl'), path('b.jsonl'));
  rmSync(path('b.jsonl'));
  const before = [text('a.jsonl'), readdirSync(path('.'))];
  const { code, stdout, stderr } = await compact('undo', '-n');
  assert.deepEqual([code, [text('a.jsonl'), readdirSync(path('.'))]], [1, before]);
  assert.match(stdout, /a\.jsonl: would be restored/);
  assert.match(stdout, /^2 files: 1 to be restored, 1 left alone$/m);
  assert.match(stderr, /b\.jsonl: left alone/);
  assert.deepEqual([(await compact('undo')).code, text('a.jsonl')], [1, A]);
});

test('the reports of undo and of its list follow their schemas', async (t) => {
  const { path, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact('-i', path('a.jsonl'));
  await compact(path('b.jsonl'), '-o', '-');
  await compact(path('b.jsonl'));
  rmSync(path('a.jsonl'));
  const listed = readReports(await compact('undo', '--list', '--json'));
  assert.deepEqual(
    listed.map((one) => [one['run'], problemsWith('undo-list', one)]),
    [
      [3, []],
      [2, []],
      [1, []],
    ],
  );
  const results: unknown[] = [];
  for (const id of ['1', '2', '3']) {
    const [report] = readReports(await compact('undo', '--json', id));
    results.push([report?.['result'], problemsWith('undo', report)]);
  }
  assert.deepEqual(results, [
    ['left', []],
    ['unchanged', []],
    ['removed', []],
  ]);
});

test('a run says who began it, where and how, in both lists', async (t) => {
  const { path, compact } = placeWith(t, { 'a.jsonl': A });
  await compact('-i', path('a.jsonl'));
  const [report] = readReports(await compact('undo', '--list', '--json'));
  const { user, host, version } = thisCaller();
  assert.deepEqual(report?.['by'], { user, host, version });
  assert.match(String(report?.['command']), /^compact -i \S+a\.jsonl --archive /);
  const [undo, runs] = [await compact('undo', '--list'), await compact('archive', 'runs')];
  assert.equal(runs.stdout, undo.stdout);
  assert.match(runs.stdout, new RegExp(`^ {5}${user}@${host}, compact ${version}: compact -i `, 'm'));
  assert.deepEqual(readReports(await compact('archive', 'runs', '--json')), [report]);
});

test('a stored command line has no passwords, no keys and no rules, and not the names of a thousand files', () => {
  const told = describeCommand([
    'archive',
    'merge',
    'postgres://kim:pw1@db/logs?password=pw2',
    '--header=x-api-key=abc',
    'sk-ant-api03-abcdefghijklmnop',
    '--rule',
    'Never mention Jane.',
    '--drop-rule=Use tabs.',
    '--max-summary-tokens=120',
    '--base-url=https://kim:pw3@gateway.example/9f8e7d6c5b4a39281706f5e4/v1?sig=pw4',
    '--model=claude-sonnet-4-5-20250929',
    '6b6f4218-1111-4222-8333-444455556666',
    'logs/2026-11-23-a-long-name-of-a-file.jsonl',
  ]);
  assert.equal(
    told,
    "compact archive merge 'postgres://kim:***@db/logs?password=***' '--header=x-api-key=***' '***' --rule '…' '--drop-rule=…' --max-summary-tokens=120 '--base-url=https://…@gateway.example/***/v1?sig=***' --model=claude-sonnet-4-5-20250929 6b6f4218-1111-4222-8333-444455556666 logs/2026-11-23-a-long-name-of-a-file.jsonl",
  );
  assert.ok(describeCommand(Array.from({ length: 1000 }, (_, at) => `logs/${at}.jsonl`)).length < 600);
});

test('without an archive, without runs, or without such a run there is nothing to undo', async (t) => {
  const { path, compact } = placeWith(t, { 'a.jsonl': A });
  const gone = await compact('undo');
  assert.deepEqual([gone.code, existsSync(path('.archive.db'))], [1, false]);
  assert.match(gone.stderr, /there is no archive yet/);
  assert.equal((await compact('undo', '--list')).code, 0);
  await compact('-i', path('a.jsonl'));
  const unknown = await compact('undo', '7');
  assert.deepEqual([unknown.code, unknown.stderr.includes('it has no run 7')], [1, true]);
  const word = await compact('undo', path('a.jsonl'));
  assert.deepEqual([word.code, /'compact restore -i FILE' restores one file/.test(word.stderr)], [2, true]);
});

for (const step of ['written', 'renamed'] as const) {
  test(`killed after '${step}', every file is whole, and the next undo finishes the rest`, async (t) => {
    const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
    await compact('-i', path('a.jsonl'), path('b.jsonl'));
    const compacted = text('b.jsonl');
    const script = { happening: { step, nth: 2, what: { kind: 'signals', names: ['SIGKILL'] } } } as const;
    const killed = await runProcess(['undo', '-j', '1', '--archive', path('.archive.db')], { script });
    assert.equal(killed.signal, 'SIGKILL', killed.stderr);
    assert.deepEqual([text('a.jsonl'), text('b.jsonl')], [A, step === 'renamed' ? B : compacted]);
    const { code } = await compact('undo');
    assert.deepEqual([code, text('a.jsonl'), text('b.jsonl')], [0, A, B]);
    assert.deepEqual(
      readdirSync(path('.')).filter((name) => !name.startsWith('.archive')),
      ['a.jsonl', 'b.jsonl'],
    );
  });
}

test('an interruption leaves the rest as it was, and says how to finish', async (t) => {
  const { path, text, compact } = placeWith(t, { 'a.jsonl': A, 'b.jsonl': B });
  await compact('-i', path('a.jsonl'), path('b.jsonl'));
  const compacted = text('b.jsonl');
  const script = { happening: { step: 'renamed', what: { kind: 'signals', names: ['SIGINT'] } } } as const;
  const ended = await runProcess(['undo', '-j', '1', '--archive', path('.archive.db')], { script });
  assert.deepEqual([ended.code, text('a.jsonl'), text('b.jsonl')], [130, A, compacted]);
  assert.match(ended.stdout, /^2 files: 1 restored, 1 not begun\n'compact undo 1' finishes the rest/m);
  assert.deepEqual([(await compact('undo')).code, text('b.jsonl')], [0, B]);
});
