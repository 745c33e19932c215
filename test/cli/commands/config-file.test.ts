import assert from 'node:assert/strict';
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { buildExample } from '../../../src/config/settings.ts';
import { problemsWith } from '../../support/report-schemas.ts';
import { folderWith } from '../../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

const USER = 'home/.config/compact/config.toml';
const PROJECT = 'repo/compact.toml';

/** A home, and a repository; `.` stands for the folder of both in what is printed. */
function scene(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const root = folderWith(t, { 'home/': '', 'repo/.git/': '', 'repo/sub/': '', ...files });
  const config = async (line: string | readonly string[], editor?: string) => {
    const argv = ['config', ...(typeof line === 'string' ? line.split(' ') : line)];
    const place = { workingFolder: join(root, 'repo'), homeFolder: join(root, 'home') };
    const terminal = createFakeTerminal(argv, { ...place, environment: { EDITOR: editor } });
    const code = await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases });
    const [out = '', errors = ''] = [terminal.out(), terminal.errors()].map((text) => text.replaceAll(root, '.'));
    return { code, out, errors };
  };
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  return { root, config, read };
}

test('init writes a commented file for the user, which others cannot read, and never replaces it', async (t) => {
  const { root, config, read } = scene(t);
  const first = await config('init');
  assert.deepEqual([first.code, first.out], [0, '']);
  assert.match(first.errors, /^\.\/home\/\.config\/compact\/config\.toml: every key is in it as a comment/);
  assert.equal(read(USER), buildExample());
  assert.equal(statSync(join(root, USER)).mode & 0o777, 0o600);
  writeFileSync(join(root, USER), '# mine\n');
  const again = await config('init --user');
  assert.deepEqual([again.code, read(USER)], [2, '# mine\n']);
  assert.match(again.errors, /already exists and is not replaced/);
});

test('init --local writes compact.toml in this folder', async (t) => {
  const { config, read } = scene(t);
  const { code, out } = await config('init --local --json');
  assert.deepEqual([code, JSON.parse(out).result], [0, 'created']);
  assert.equal(read(PROJECT), buildExample());
  assert.deepEqual(problemsWith('config-file', JSON.parse(out)), []);
  const [path, value] = [await config('path --json'), await config('get summarization.keep_recent --json')];
  assert.deepEqual(problemsWith('config-path', JSON.parse(path.out)), []);
  assert.deepEqual(problemsWith('config-get', JSON.parse(value.out)), []);
});

test('get prints the bare value that applies', async (t) => {
  const { config } = scene(t, { [USER]: '[summarization]\nkeep_recent = "30k"\nrules = ["a"]\napi_key = "hunter2"\n' });
  assert.deepEqual(await config('get summarization.keep_recent'), { code: 0, out: '30000\n', errors: '' });
  assert.deepEqual(await config('get summarization.rules'), { code: 0, out: '["a"]\n', errors: '' });
  assert.deepEqual(await config('get summarization.provider'), { code: 0, out: 'extractive\n', errors: '' });
  const unset = { code: 1, out: '', errors: 'summarization.name: not set.\n' };
  assert.deepEqual(await config('get summarization.name'), unset);
  const secret = await config('get summarization.api_key');
  assert.deepEqual([secret.code, secret.out, secret.errors], [0, '', 'summarization.api_key: set, not shown.\n']);
  const unknown = await config('get keep_recent');
  assert.deepEqual([unknown.code, unknown.out], [2, '']);
  assert.match(unknown.errors, /did you mean summarization\.keep_recent\?/);
});

test('set changes one line of the file that applies', async (t) => {
  const { config, read } = scene(t, { [USER]: '# head\n[summarization]\nkeep_recent = 3 # three\n' });
  const user = await config('set summarization.keep_recent 20');
  assert.deepEqual(user, { code: 0, out: '', errors: `./${USER}: summarization.keep_recent is set.\n` });
  assert.equal(read(USER), '# head\n[summarization]\nkeep_recent = 20 # three\n');
  const project = await config('set --local summarization.clip_last 4');
  assert.deepEqual([project.code, read(PROJECT)], [0, '[summarization]\nclip_last = 4\n']);
  assert.match(project.errors, /needs trust: `compact config trust`/);
  await config('set summarization.clip_last 5');
  assert.equal(read(PROJECT), '[summarization]\nclip_last = 5\n');
  const other = await config('set --user summarization.clip_last 6');
  assert.match(other.errors, /In this folder, \.\/repo\/compact\.toml is read instead\.\n$/);
});

test('set keeps a link, and the permissions of the file behind it', async (t) => {
  const { root, config, read } = scene(t, { 'dots/config.toml': '', [`${USER}/../x`]: '' });
  chmodSync(join(root, 'dots/config.toml'), 0o640);
  symlinkSync(join(root, 'dots/config.toml'), join(root, USER));
  assert.equal((await config('set privacy.redact true')).code, 0);
  assert.ok(lstatSync(join(root, USER)).isSymbolicLink());
  assert.equal(read('dots/config.toml'), '[privacy]\nredact = true\n');
  assert.equal(statSync(join(root, 'dots/config.toml')).mode & 0o777, 0o640);
});

test("a link in a project is not followed: it may lead to somebody's other file", async (t) => {
  const { root, config, read } = scene(t, { 'home/other.toml': 'x = 1\n' });
  symlinkSync(join(root, 'home/other.toml'), join(root, PROJECT));
  const { code, errors } = await config('set summarization.keep_recent 3');
  assert.equal(code, 2);
  assert.match(errors, /it is a link, so it is not changed/);
  assert.equal(read('home/other.toml'), 'x = 1\n');
});

const BROKEN = '[summarization]\nkeep_recent = = 3\n';

test('broken TOML is named with line and column, and stays as it is', async (t) => {
  const { config, read } = scene(t, { [PROJECT]: BROKEN });
  for (const line of ['set summarization.keep_recent 3', 'get summarization.keep_recent']) {
    const { code, errors } = await config(line);
    assert.equal(code, 2);
    assert.match(errors, /^\.\/repo\/compact\.toml:2:15: not valid TOML/);
  }
  assert.equal(read(PROJECT), BROKEN);
});

test('a wrong value is refused in the words of the file check, and nothing changes', async (t) => {
  const { root, config } = scene(t);
  const { code, errors } = await config(['set', 'summarization.provider', 'olama']);
  assert.equal(code, 2);
  assert.match(
    errors,
    /summarization\.provider must be one of .* Did you mean "ollama"\?\n.*: nothing was changed\.\n$/,
  );
  assert.ok(!existsSync(join(root, USER)));
});

test('edit opens a copy and saves what is valid', async (t) => {
  const { config, read } = scene(t, { [PROJECT]: BROKEN });
  const mended = await config('edit', 'sed -i.bak s/=.=/=/');
  assert.deepEqual([mended.code, read(PROJECT)], [0, '[summarization]\nkeep_recent = 3\n']);
  const same = await config('edit', 'true');
  assert.deepEqual([same.code, same.errors], [0, './repo/compact.toml: nothing was changed.\n']);
  assert.equal((await config('edit --user', 'sed -i.bak s/^#.keep_recent.=/keep_recent=/')).code, 0);
  assert.match(read(USER), /^keep_recent= 5$/m);
});

test('edit keeps a wrong text apart, and a failing editor changes nothing', async (t) => {
  const { config, read } = scene(t, { [PROJECT]: '[summarization]\nkeep_recent = 3\n' });
  const wrong = await config('edit', 'sed -i.bak s/3/-1/');
  assert.equal(wrong.code, 2);
  const [problem = '', kept = ''] = wrong.errors.split('\n');
  assert.match(problem, /compact\.toml:2: summarization\.keep_recent must be a whole number of 0 or more/);
  const [, copy = ''] = /nothing was changed\. Your text is in (.*)\.$/.exec(kept) ?? [];
  assert.equal(readFileSync(copy, 'utf8'), '[summarization]\nkeep_recent = -1\n');
  rmSync(dirname(copy), { recursive: true });
  const typed = await config('edit', 'sed -i.bak s/3/4/ "$1"; exit 1 #');
  const [, left = ''] = /Your text is in (.*)\.\n$/.exec(typed.errors) ?? [];
  assert.deepEqual([typed.code, readFileSync(left, 'utf8')], [2, '[summarization]\nkeep_recent = 4\n']);
  rmSync(dirname(left), { recursive: true });
  const failed = await config('edit', 'false');
  assert.equal(failed.code, 2);
  assert.match(failed.errors, /nothing was changed\. The editor 'false' ended with exit code 1/);
  assert.equal(read(PROJECT), '[summarization]\nkeep_recent = 3\n');
});

test('edit does not overwrite what another program wrote meanwhile', async (t) => {
  const { root, config, read } = scene(t, { [PROJECT]: '[summarization]\nkeep_recent = 3\n' });
  const script = join(root, 'editor.sh');
  writeFileSync(script, `echo 'clip_last = 1' >> '${join(root, PROJECT)}'; echo 'clip_first = 1' >> "$1"\n`);
  const { code, errors } = await config('edit', `sh ${script}`);
  assert.equal(code, 2);
  assert.match(errors, /another program changed it meanwhile, so nothing was written/);
  assert.equal(read(PROJECT), '[summarization]\nkeep_recent = 3\nclip_last = 1\n');
});
