import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { prepareFile } from '../../src/adapters/archive/sqlite/file.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { createFakeTerminal } from './fakes.ts';

const TALK = chatTranscript(30);

/** Runs the program, and records which steps it reached. */
async function watched(argv: readonly string[]) {
  const steps: Step[] = [];
  const terminal = createFakeTerminal(argv);
  const loadUseCases = async () => (composition: Parameters<typeof createUseCases>[0]) =>
    createUseCases({ ...composition, reached: (step) => steps.push(step) });
  const code = await run({ terminal, loadUseCases });
  return { code, errors: terminal.errors(), steps };
}

before(async () => {
  // What a run loads is loaded while it may be read.
  const folder = mkdtempSync(join(tmpdir(), 'compact-test-'));
  writeFileSync(join(folder, 'talk.jsonl'), TALK);
  assert.equal((await watched(['-i', '--archive', join(folder, 'x.db'), join(folder, 'talk.jsonl')])).code, 0);
  await watched(['-i', '--archive', '/proc/foo/x.db', join(folder, 'talk.jsonl')]);
  rmSync(folder, { recursive: true });
  becomeOrdinaryUser();
});

for (const archive of ['/proc/foo/x.db', '/proc/x.db', '/dev/null/x.db']) {
  const skip = process.platform !== 'linux';
  test(`that ${archive} can be no archive is said before the transcript is read`, { skip }, async (t) => {
    const folder = folderWith(t, { 'talk.jsonl': TALK });
    const { code, errors, steps } = await watched(['-i', '--archive', archive, join(folder, 'talk.jsonl')]);
    assert.deepEqual([code, steps], [1, []]);
    assert.ok(errors.startsWith(`${archive}: the archive cannot be opened: `), errors);
  });
}

test('that an archive may not be created is said before anything is summarized', async (t) => {
  const folder = folderWith(t, { 'logs/talk.jsonl': TALK, 'data/': '' });
  chmodSync(join(folder, 'data'), 0o500);
  const argv = ['-i', '--archive', join(folder, 'data/a/x.db'), join(folder, 'logs/talk.jsonl')];
  const { code, errors, steps } = await watched(argv);
  assert.deepEqual([code, steps], [1, ['read', 'planned']]);
  assert.match(errors, /x\.db: the archive cannot be opened: permission denied \(EACCES\)/);
  const skipped = await watched(['--if-over', '1M', ...argv]);
  assert.deepEqual([skipped.code, skipped.steps], [0, ['read']]);
});

test('too many open files and a name that is too long are said of the archive, with what helps', (t) => {
  const folder = folderWith(t, { 'archive.db': 'not opened' });
  const module = join(import.meta.dirname, '../../src/adapters/archive/failure.ts');
  const script = `
    import { openSync } from 'node:fs';
    import { toArchiveFailure } from ${JSON.stringify(module)};
    const error = Object.assign(new Error('unable to open'), { name: 'SqliteError', code: 'SQLITE_CANTOPEN' });
    const look = () => JSON.stringify(toArchiveFailure(error, ${JSON.stringify(join(folder, 'archive.db'))}));
    const before = look();
    try { for (;;) openSync(${JSON.stringify(folder)}); } catch {}
    const after = look();
    process._rawDebug(before + '\\n' + after);`;
  const { stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 64 && exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  const [before = '', after = ''] = stderr.trim().split('\n').slice(-2);
  assert.equal(JSON.parse(before).reason, 'unable to open (SQLITE_CANTOPEN)');
  const { reason, advice } = JSON.parse(after);
  assert.deepEqual(
    [reason, advice],
    ['this program has too many files open', 'Raise the limit (ulimit -n), or work on fewer files at a time with -j.'],
  );
  const long = prepareFile(join(folder, 'x'.repeat(300)), () => null);
  assert.equal(!long.ok && long.error.kind === 'cannot-open' && long.error.advice, 'Name a shorter one.');
});
