import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { validateWorkflow } from '@action-validator/core';
import { parse } from 'yaml';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runHere, jsonLines } from '../support/program.ts';
import { repositoryWith, runSteps, type Step } from '../support/workflow.ts';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = {
  'claude.jsonl': 'claude-code/session.jsonl',
  'blocks.jsonl': 'chat-lines/anthropic-blocks.jsonl',
  'two.jsonl': 'chat-lines/two-conversations.jsonl',
  'crlf.jsonl': 'chat-lines/crlf.jsonl',
};
const IF_OVER = ['--if-over', '700'];

/** Transcripts of several formats: some over the limit (one of them also when it is compacted), some not. */
function logsFolder(t: TestContext): string {
  const folder = folderWith(t, {
    'logs/deep/er/big.jsonl': chatTranscript(40),
    'logs/talk.jsonl': chatTranscript(9, 70),
    'logs/small.jsonl': chatTranscript(2),
  });
  for (const [name, fixture] of Object.entries(FIXTURES)) {
    copyFileSync(join(ROOT, 'fixtures/transcripts', fixture), join(folder, 'logs', name));
  }
  return folder;
}

type Line = { readonly file: string; readonly result: string; readonly reason?: string; readonly usage?: unknown };

/** One run of the job, on the glob that a script hands over. */
async function runJob(folder: string, archive = join(folder, 'ci/archive.db')) {
  const { code, stdout, stderr } = await runHere([
    '-i',
    ...IF_OVER,
    '--json',
    '-q',
    '--archive',
    archive,
    join(folder, 'logs/**/*.jsonl'),
  ]);
  const lines: readonly Line[] = jsonLines(stdout);
  return {
    code,
    stderr,
    lines,
    results: Object.fromEntries(
      lines.map(({ file, result, reason }) => [file.slice(folder.length + 6), reason ?? result]),
    ),
  };
}

/** Everything that a second run must leave alone. */
function stateOf(folder: string): unknown {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return names.map((name) => {
    const { ino, mtimeNs, mode, size } = statSync(join(folder, name), { bigint: true });
    const isFile = statSync(join(folder, name)).isFile();
    return [name, isFile ? [ino, mtimeNs, mode, size, readFileSync(join(folder, name)).toString('base64')] : []];
  });
}

const AGAIN = {
  'blocks.jsonl': 'under-limit',
  'claude.jsonl': 'nothing-new',
  'crlf.jsonl': 'under-limit',
  'deep/er/big.jsonl': 'nothing-new',
  'small.jsonl': 'under-limit',
  'talk.jsonl': 'nothing-new',
  'two.jsonl': 'nothing-new',
};

test('the second run over a folder of several formats changes nothing, calls no service, and says why', async (t) => {
  const folder = logsFolder(t);
  const first = await runJob(folder);
  assert.equal(first.code, 0);
  const before = stateOf(folder);
  const { lines, ...second } = await runJob(folder);
  assert.deepEqual(second, { code: 0, stderr: '', results: AGAIN });
  assert.deepEqual(
    lines.filter(({ result, usage }) => result !== 'skipped' || usage !== undefined),
    [],
  );
  assert.deepEqual(stateOf(folder), before);
});

test('lines that were appended between make their file alone be compacted again, and the run after that changes nothing', async (t) => {
  const folder = logsFolder(t);
  await runJob(folder);
  appendFileSync(join(folder, 'logs/talk.jsonl'), chatTranscript(9, 300));
  assert.deepEqual((await runJob(folder)).results, { ...AGAIN, 'talk.jsonl': 'compacted' });
  const before = stateOf(folder);
  assert.deepEqual((await runJob(folder)).results, AGAIN);
  assert.deepEqual(stateOf(folder), before);
  const talk = join(folder, 'logs/talk.jsonl');
  const restored = await runHere(['restore', '--all', '--archive', join(folder, 'ci/archive.db'), talk]);
  assert.equal(restored.stdout, chatTranscript(9, 70) + chatTranscript(9, 300));
});

test('an archive that comes back as an artifact, and logs in another place, are gone on with', async (t) => {
  const folder = logsFolder(t);
  await runJob(folder);
  const elsewhere = folderWith(t, { 'artifacts/': '' });
  const archive = join(elsewhere, 'artifacts/yesterday.db');
  copyFileSync(join(folder, 'ci/archive.db'), archive);
  for (const name of Object.keys(AGAIN)) {
    const target = join(elsewhere, 'logs', name);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(folder, 'logs', name), target);
  }
  const logs = stateOf(join(elsewhere, 'logs'));
  assert.deepEqual((await runJob(elsewhere, archive)).results, AGAIN);
  assert.deepEqual(stateOf(join(elsewhere, 'logs')), logs);
  // The archive knows the other place by now.
  const before = stateOf(elsewhere);
  assert.deepEqual((await runJob(elsewhere, archive)).results, AGAIN);
  assert.deepEqual(stateOf(elsewhere), before);
  const verified = await runHere(['verify', '-q', '--archive', archive, join(elsewhere, 'logs')]);
  assert.deepEqual([verified.code, verified.stderr], [0, '']);
});

test('a file under two names is done once', async (t) => {
  const folder = logsFolder(t);
  symlinkSync('talk.jsonl', join(folder, 'logs/a-link.jsonl'));
  const { 'a-link.jsonl': viaLink, 'talk.jsonl': viaName } = (await runJob(folder)).results;
  assert.deepEqual([viaLink, viaName], ['compacted', undefined]);
  const { 'talk.jsonl': _talk, ...others } = AGAIN;
  assert.deepEqual((await runJob(folder)).results, { ...others, 'a-link.jsonl': 'nothing-new' });
});

type Workflow = {
  readonly on: object;
  readonly permissions: object;
  readonly jobs: { readonly compact: { readonly 'runs-on': string; readonly steps: readonly Step[] } };
};

/** The workflow in docs/ci.md, as it stands there. */
const TEXT = /```yaml\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/ci.md'), 'utf8'))?.[1] ?? '';
const WORKFLOW: Workflow = parse(TEXT);

/** A repository with nothing but these files, and compact checked out beside them, as another action would do it. */
function jobFolder(t: TestContext, files: Readonly<Record<string, string>>) {
  const { folder, environment } = repositoryWith(t, files);
  symlinkSync(ROOT, join(folder, '.compact'));
  const { steps } = WORKFLOW.jobs.compact;
  return { folder, run: () => runSteps(steps, { folder, environment, github: { run_id: '7' } }) };
}

test('the workflow in docs/ci.md is a whole file, which GitHub accepts', () => {
  assert.deepEqual(validateWorkflow(TEXT).errors, []);
  assert.deepEqual(WORKFLOW.permissions, { contents: 'read' });
  const uses = WORKFLOW.jobs.compact.steps.flatMap((step) => step.uses?.replace(/@v\d+$/, '') ?? []);
  const [checkout, cache] = ['actions/checkout', 'actions/cache'];
  assert.deepEqual(uses, [checkout, checkout, 'actions/setup-node', cache, 'actions/upload-artifact']);
});

const hasJq = spawnSync('jq', ['--version']).status === 0;
const LONG = chatTranscript(450);

test(
  'the job in docs/ci.md: done, then nothing to do; a damaged file is named, and does not make the job red for ever',
  { skip: !hasJq && 'jq is not installed' },
  (t) => {
    const { folder, run } = jobFolder(t, {
      'logs/a/long.jsonl': LONG,
      'logs/short.jsonl': chatTranscript(9),
      'logs/torn.jsonl': `${chatTranscript(3)}{"role":"us`,
    });
    const warning =
      '::warning file=logs/torn.jsonl::line 9, column 12: not valid JSON (unexpected end of line); --keep-invalid carries such lines along\n';
    const first = run();
    assert.deepEqual([first.code, first.stdout], [0, `${warning}{"compacted":1,"skipped":2}\n`], first.stderr);
    assert.notEqual(readFileSync(join(folder, 'logs/a/long.jsonl'), 'utf8'), LONG);
    const before = stateOf(join(folder, 'logs'));
    const second = run();
    assert.deepEqual([second.code, second.stdout], [0, `${warning}{"skipped":3}\n`], second.stderr);
    assert.deepEqual(stateOf(join(folder, 'logs')), before);
    assert.deepEqual(readdirSync(join(folder, 'ci')), ['archive.db']);
  },
);

test(
  'the job in docs/ci.md: a file that cannot be read is named and fails the job',
  { skip: !hasJq && 'jq is not installed' },
  (t) => {
    const { folder, run } = jobFolder(t, { 'logs/long.jsonl': LONG });
    symlinkSync('nowhere', join(folder, 'logs/gone.jsonl'));
    const { code, stdout } = run();
    assert.equal(code, 1);
    assert.match(stdout, /^::error file=logs\/gone\.jsonl::.*a link to nothing.*\n\{"compacted":1,"failed":1\}\n$/);
  },
);
