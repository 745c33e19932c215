import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { validateAction } from '@action-validator/core';
import { parse } from 'yaml';
import { chatTranscript } from '../support/chat.ts';
import { repositoryWith, runSteps, type Step } from '../support/workflow.ts';

const ROOT = join(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'action.yml'), 'utf8');

type Action = {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};
const action: Action = parse(text);

const makeExecutable = { mode: 0o755 };

/** A repository that has only these files, and runs of the action in it. */
function actionIn(t: TestContext, files: Readonly<Record<string, string>>) {
  const { folder, bin, environment } = repositoryWith(t, files);
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? '']);
  const run = (inputs: Readonly<Record<string, string>>) =>
    runSteps(action.runs.steps, {
      folder,
      environment,
      inputs: { ...Object.fromEntries(defaults), ...inputs },
      github: {
        action_path: ROOT,
        action_repository: 'owner/compact',
        job: 'nightly',
        run_id: '7',
        run_attempt: '1',
        token: 'none',
      },
    });
  return { bin, repository: folder, run };
}

test('action.yml is valid, and each of its outputs is one that the run sets', (t) => {
  assert.deepEqual(validateAction(text).errors, []);
  const { run } = actionIn(t, { 'logs/short.jsonl': chatTranscript(2) });
  const { outputs } = run({ paths: 'logs' });
  const declared = Object.entries(action.outputs);
  assert.deepEqual(declared.map(([name]) => name).toSorted(), Object.keys(outputs).toSorted());
  for (const [name, { value }] of declared) assert.equal(value, `\${{ steps.run.outputs.${name} }}`);
});

test('the action compacts, verifies, counts and keeps the archive; a second run does nothing', (t) => {
  const { repository, run } = actionIn(t, {
    'logs/a|b/long.jsonl': chatTranscript(450),
    'logs/short.jsonl': chatTranscript(9),
  });
  const inputs = { paths: 'logs/**/*.jsonl\n', 'if-over': '20k' };
  const first = run(inputs);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, new RegExp(`^npm ci in ${ROOT}$`, 'm'));
  const { 'bytes-before': before, 'bytes-after': after, ...counts } = first.outputs;
  assert.deepEqual([counts['compacted'], counts['skipped'], counts['failed']], ['1', '1', '0']);
  assert.ok(Number(after) < Number(before) && Number(counts['tokens-after']) < Number(counts['tokens-before']));
  assert.match(first.summary, /^1 compacted, 1 skipped, 0 failed\. Each of them was verified\.$/m);
  assert.match(first.summary, /^\| logs\/a&#124;b\/long\.jsonl \| [\d,]+ → [\d,]+ \| [\d,]+ → [\d,]+ \|$/m);
  const archive = 'compact-archive/archive.db';
  assert.deepEqual(
    first.used.map((one) => [one.uses.replace(/@.*/, ''), one.with['path']]),
    [
      ['actions/setup-node', undefined],
      ['actions/cache/restore', archive],
      ['actions/cache/save', archive],
      ['actions/upload-artifact', archive],
    ],
  );

  // Jobs of one run keep archives of their own.
  assert.equal(first.used.at(-1)?.with['name'], 'compact-archive-nightly-1');

  const compacted = readFileSync(join(repository, 'logs/a|b/long.jsonl'));
  const second = run(inputs);
  assert.deepEqual([second.code, second.outputs['compacted'], second.outputs['skipped']], [0, '0', '2']);
  assert.match(second.summary, /^0 compacted, 2 skipped, 0 failed\.$/m);
  assert.deepEqual(readFileSync(join(repository, 'logs/a|b/long.jsonl')), compacted);
  assert.deepEqual(readdirSync(repository).toSorted(), ['compact-archive', 'logs']);
});

test('the action names a file that failed and fails, but keeps the archive all the same', (t) => {
  const { run } = actionIn(t, { 'logs/long.jsonl': chatTranscript(450), 'logs/torn.jsonl': '{"role":"us' });
  const { code, stdout, outputs, used } = run({ paths: 'logs\nno: such, file.jsonl\n' });
  assert.deepEqual([code, outputs['compacted'], outputs['failed']], [1, '1', '1']);
  assert.match(stdout, /^::error file=no%3A such%2C file\.jsonl::.*no such file or folder/m);
  assert.match(stdout, /^::warning file=logs\/torn\.jsonl::line 1, /m);
  assert.equal(used.at(-1)?.uses.startsWith('actions/upload-artifact@'), true);
});

test('a released version is downloaded from the repository of the action, and its checksum compared', (t) => {
  const { bin, run, repository } = actionIn(t, { 'logs/long.jsonl': chatTranscript(450) });
  const file = `compact-1.2.3-${process.platform}-${process.arch}.tar.xz`;
  const served = join(repository, '../served');
  mkdirSync(join(served, 'unpacked'), { recursive: true });
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/compact.js')}" "$@"\n`;
  writeFileSync(join(served, 'unpacked/compact'), program, makeExecutable);
  const gh = `#!/bin/sh\necho "gh $*"\ntar -C "${served}/unpacked" -cJf "${file}" compact\ncp "${served}/SHA256SUMS" .\n`;
  writeFileSync(join(bin, 'gh'), gh, makeExecutable);
  writeFileSync(join(served, 'SHA256SUMS'), `${createHash('sha256').update('another').digest('hex')}  ${file}\n`);
  const refused = run({ paths: 'logs', version: '1.2.3' });
  assert.notEqual(refused.code, 0);
  assert.match(refused.stdout + refused.stderr, /FAILED/);
  assert.equal(refused.outputs['compacted'], undefined);

  // The checksum of what is served, which the fake makes anew.
  writeFileSync(join(bin, 'gh'), `${gh}sha256sum "${file}" > SHA256SUMS\n`, makeExecutable);
  const accepted = run({ paths: 'logs', version: '1.2.3' });
  assert.deepEqual([accepted.code, accepted.outputs['compacted']], [0, '1'], accepted.stderr);
  assert.match(accepted.stdout, /^gh release download v1\.2\.3 --repo owner\/compact --pattern compact-1\.2\.3-/m);
});
