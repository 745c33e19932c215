import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { type Ended, jsonLines, runHere, runProcess } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';
import { STORED_SESSIONS } from '../support/stored-sessions.ts';
import { placeWith } from '../support/place.ts';

const A = chatTranscript(20);
const B = chatTranscript(30, 500);

test('a folder is captured, and only what changed is captured again', async (t) => {
  const { path, compact } = placeWith(t, { 'logs/a.jsonl': A, 'logs/sub/b.jsonl': B, 'logs/notes.jsonl': 'words\n' });
  const first = await compact('capture', path('logs'));
  assert.match(
    first.stderr,
    /^3 files: 2 captured \([\d.]+ kB new, archive \+ [\d.]+ kB\), 1 skipped \(no transcript\)\n$/,
  );
  writeFileSync(path('logs/a.jsonl'), A + B);
  rmSync(path('logs/sub/b.jsonl'));
  const second = await compact('capture', path('logs'));
  assert.deepEqual([first.code, second.code], [0, 0]);
  assert.match(
    second.stderr,
    /sub\/b\.jsonl: gone, version 1 of [\d.]+ kB can be restored\n3 files: 1 captured \(0 bytes new/,
  );
  const stats = await compact('archive', 'stats');
  assert.match(
    stats.stdout,
    /captured +2 files, [\d.]+ kB compressed to [\d.]+ kB\n +search [^\n]+\n +on disk .* of the originals/,
  );
  const { code, stderr } = await compact('restore', '--captured', path('logs/sub/b.jsonl'), '-o', path('b.jsonl'));
  assert.deepEqual([code, readFileSync(path('b.jsonl'), 'utf8')], [0, B]);
  assert.match(stderr, /sub\/b\.jsonl → .*b\.jsonl: version 1, captured /);
});

test('every line of --json is as its schema says', async (t) => {
  const { path, compact } = placeWith(t, { 'logs/a.jsonl': A, 'logs/notes.jsonl': 'words\n' });
  const planned = await compact('capture', '--json', '-n', path('logs'));
  assert.equal(existsSync(path('.archive.db')), false);
  const captured = await compact('capture', '--json', path('logs'), path('logs/a.jsonl'));
  const named = await compact('capture', '--json', path('logs/notes.jsonl'));
  const listed = await compact('capture', '--json', '--list');
  const restored = await compact('restore', '--json', '--captured', 'a.jsonl', '-o', path('out'));
  const reportsOf = ({ stdout }: Ended): readonly { readonly result?: string }[] => jsonLines(stdout);
  for (const report of [planned, captured, named, listed].flatMap(reportsOf))
    assert.deepEqual(problemsWith('capture', report), [], JSON.stringify(report));
  assert.deepEqual(problemsWith('restore', reportsOf(restored)[0]), []);
  assert.deepEqual(
    [planned, captured, named].map((ended) => [ended.code, reportsOf(ended).map(({ result }) => result)]),
    [
      [0, ['planned', 'skipped']],
      [0, ['captured', 'skipped']],
      [1, ['failed']],
    ],
  );
});

test('without files, captures what programs keep, and without a file lists what was captured', async (t) => {
  const session = STORED_SESSIONS.find(({ format }) => format === 'claude-code')?.first ?? '';
  const home = folderWith(t, { '.claude/projects/-w/6b6f4218-1111-4222-8333-444455556666.jsonl': session });
  const atHome = (...args: readonly string[]) => runHere(args, '', { homeFolder: home });
  const captured = await atHome('capture');
  assert.match(captured.stderr, /^1 file: 1 captured/);
  rmSync(join(home, '.claude'), { recursive: true });
  const again = await atHome('capture');
  assert.match(again.stderr, /: gone, version 1 .*\n1 file: 1 gone\n$/s);
  const listed = await atHome('capture', '--list');
  assert.match(
    listed.stdout,
    /6b6f4218-1111-4222-8333-444455556666\.jsonl claude-code\n {2}1 .* new\n {2}2 .* gone\n$/,
  );
  const restored = await atHome('restore', '--captured', '6b6f4218');
  assert.deepEqual([restored.code, restored.stdout], [0, session]);
});

for (const step of ['looked', 'renamed'] as const) {
  test(`a captured version that is restored in place is there or not if it is killed after '${step}', and then is`, async (t) => {
    const { path, compact } = placeWith(t, { 'logs/a.jsonl': A });
    await compact('capture', path('logs'));
    writeFileSync(path('logs/a.jsonl'), B);
    await compact('capture', path('logs'));
    const args = [
      'restore',
      '-i',
      '--captured',
      path('logs/a.jsonl'),
      '--version',
      '1',
      '--archive',
      path('.archive.db'),
    ];
    const script = { happening: { step, what: { kind: 'signals', names: ['SIGKILL'] } } } as const;
    const killed = await runProcess(args, { script });
    assert.equal(killed.signal, 'SIGKILL', killed.stderr);
    assert.equal(readFileSync(path('logs/a.jsonl'), 'utf8'), step === 'renamed' ? A : B);
    const again = await runHere(args);
    assert.deepEqual([again.code, readFileSync(path('logs/a.jsonl'), 'utf8')], [0, A]);
    assert.deepEqual(readdirSync(path('logs')), ['a.jsonl']);
    const { code, stdout } = await compact('restore', '--captured', path('logs/a.jsonl'), '--version', '2');
    assert.deepEqual([code, stdout], [0, B]);
  });
}

test('captured transcripts are searched with archived ones, as text and as JSON', async (t) => {
  const { path, compact } = placeWith(t, { 'logs/a.jsonl': `${A}{"role":"user","content":"Where is the zebra?"}\n` });
  const none = await compact('search', 'zebra');
  assert.match(none.stderr, /there is no archive yet/);
  await compact('capture', path('logs'));
  const found = await compact('search', 'zebra');
  assert.match(
    found.stdout,
    /^captured:\d+ {2}user, chat-lines\n[^]*a\.jsonl[^]*Where is the zebra\?\n {2}compact show captured:\d+\n/,
  );
  const { stdout } = await compact('search', '--json', 'zebra');
  const report = JSON.parse(stdout);
  assert.deepEqual([report.hits.length, problemsWith('search', report)], [1, []]);
  assert.match((await compact('search', 'giraffe')).stderr, /giraffe: nothing found/);
});

const REFUSED: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['capture', '-'], /capture reads files, not standard input/],
  [['capture', '--list', '-n'], /cannot be used with/],
  [['restore', '--version', '2', 'x.jsonl'], /--version and --at are for captured files/],
  [['restore', '--captured', 'x.jsonl', 'y.jsonl'], /give no compacted files beside it/],
  [['restore', '--captured', 'x.jsonl', '--json'], /cannot share standard output/],
];

for (const [args, message] of REFUSED) {
  test(`compact ${args.join(' ')} is refused`, async () => {
    const { code, stderr } = await runHere(args);
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}

test('what was never captured, and a version that is not there, are failures that say what to try', async (t) => {
  const { path, compact } = placeWith(t, { 'a.jsonl': A });
  const none = await compact('restore', '--captured', path('a.jsonl'));
  await compact('capture', path('a.jsonl'));
  const version = await compact('restore', '--captured', path('a.jsonl'), '--version', '2');
  assert.deepEqual([none.code, version.code], [1, 1]);
  assert.match(
    none.stderr,
    /a\.jsonl: no such file was captured, or what was captured of it was removed\. .* 'compact archive log' tells/,
  );
  assert.match(version.stderr, /a\.jsonl: it has no such version\./);
});

test('a damaged or read-only place for the archive is one failure, not one a file', async (t) => {
  const { path, compact } = placeWith(t, { 'logs/a.jsonl': A, 'logs/b.jsonl': B, '.archive.db': 'no database' });
  const { code, stderr } = await compact('capture', path('logs'));
  assert.equal(code, 1);
  assert.equal(stderr.match(/not an archive of compact/g)?.length, 1, stderr);
});

test('cold files are removed once they are proven, with what that frees, and restored in place', async (t) => {
  const { path, compact } = placeWith(t, {
    'logs/a.jsonl': A,
    'logs/b.jsonl': B,
    'off.toml': '[transcript]\nmin_idle_minutes = 0\n',
  });
  const cold = ['capture', '--remove', path('logs'), '--config', path('off.toml')];
  const fresh = await compact('capture', '--remove', path('logs'));
  assert.match(fresh.stderr, /^2 files: 2 left \(open, or changed minutes ago\)\n$/);
  utimesSync(path('logs/b.jsonl'), 1_700_000_000, 1_700_000_000);
  const planned = await compact(...cold, '--older-than', '90d', '-n');
  assert.match(planned.stderr, /^2 files: 1 would be captured and removed \([^)]+\), 1 left \(too recent\)\n$/);
  const done = await compact(...cold, '--older-than', '90d', '--json');
  const reports = done.stdout.trimEnd().split('\n');
  for (const report of reports) assert.deepEqual(problemsWith('capture', JSON.parse(report)), []);
  assert.match(
    done.stderr,
    /^2 files: 1 removed \((?:the disk is )?[\d.]+ kB [^)]+\), 1 left \(too recent\)\nTo bring one back: \S+ restore --captured FILE -i\n$/,
  );
  assert.deepEqual(readdirSync(path('logs')), ['a.jsonl']);
  const { code } = await compact('restore', '--captured', 'b.jsonl', '-i');
  assert.deepEqual([code, readFileSync(path('logs/b.jsonl'), 'utf8')], [0, B]);
  assert.equal(Math.floor(statSync(path('logs/b.jsonl')).mtimeMs), 1_700_000_000_000);
  assert.equal((await compact('capture', '--older-than', '90d', path('logs'))).code, 2);
});

test('before an erasure it is said of how many files the archive has the only copy', async (t) => {
  const { path, compact } = placeWith(t, {
    'logs/a.jsonl': A,
    'logs/b.jsonl': B,
    'off.toml': '[transcript]\nmin_idle_minutes = 0\n',
  });
  await compact('capture', path('logs'));
  await compact('capture', '--remove', path('logs/b.jsonl'), '--config', path('off.toml'));
  const erase = ['archive', 'erase', '--source', path('logs/*')];
  const planned = await compact(...erase, '--json');
  const report: unknown = JSON.parse(planned.stdout);
  assert.deepEqual(problemsWith('archive-erase', report), []);
  assert.deepEqual(Object(report).onlyCopies, [path('logs/b.jsonl')]);
  const told = await compact(...erase);
  assert.match(told.stdout + told.stderr, /only here +1 captured file, gone from the disk/);
});
