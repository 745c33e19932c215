import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import type { Environment } from '../../../src/config/find.ts';
import { problemsWith } from '../../support/report-schemas.ts';
import { folderWith } from '../../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

const TOML = '[summarization]\nprovider = "ollama"\nname = "m\\u001b[31m"\napi_key = "hunter2"\nkeep_recent = 3\n';

type Told = { readonly code: number; readonly out: string; readonly errors: string; readonly asks: boolean };

/** A home, and a repository with a `compact.toml`; `.` stands for the folder of both in what is said. */
function scene(t: TestContext, toml = TOML) {
  const root = folderWith(t, {
    'home/': '',
    'repo/.git/': '',
    'repo/sub/': '',
    'repo/talk.jsonl': '',
    'repo/compact.toml': toml,
  });
  const told = async (argv: readonly string[], working = 'repo', environment: Environment = {}): Promise<Told> => {
    const place = { environment, workingFolder: join(root, working), homeFolder: join(root, 'home') };
    const terminal = createFakeTerminal(argv, place);
    const { calls, loadUseCases } = createFakeUseCases();
    const code = await run({ terminal, loadUseCases });
    const [out, errors] = [terminal.out(), terminal.errors()].map((text) => text.replaceAll(root, '.'));
    return {
      code,
      out: out ?? '',
      errors: errors ?? '',
      asks: calls.some(({ name, request }) => name === 'create-summarizer' && Object(request).model !== null),
    };
  };
  const talk = join(root, 'repo/talk.jsonl');
  return { root, told, compact: () => told(['-q', talk]), path: join(root, 'repo/compact.toml') };
}

test('what a file sets is shown and recorded; from then on it applies, until it changes', async (t) => {
  const { told, compact, path } = scene(t);
  const before = await compact();
  assert.deepEqual([before.code, before.asks], [2, false]);
  assert.equal(
    before.errors,
    './repo/compact.toml:2: not trusted, so it may not set summarization.provider, summarization.name and summarization.api_key, ' +
      'which this run depends on. Read it, then run `compact config trust`, or give --trust-config.\n',
  );
  assert.deepEqual(await told(['config', 'trust'], 'repo/sub'), {
    code: 0,
    out: [
      '[summarization]',
      'provider = "ollama"        # ./repo/compact.toml:2',
      'name = "m\\u001b[31m"       # ./repo/compact.toml:3',
      '# api_key: set, not shown  # ./repo/compact.toml:4',
      'keep_recent = 3            # ./repo/compact.toml:5',
      '',
    ].join('\n'),
    errors:
      './repo/compact.toml: trusted in its current state. After any change it must be trusted again; ' +
      '`compact config trust --revoke` revokes the trust.\n',
    asks: false,
  });
  const after = await compact();
  assert.deepEqual([after.code, after.errors, after.asks], [0, '', true]);
  writeFileSync(path, `${TOML}# and more\n`);
  const changed = await compact();
  assert.deepEqual([changed.code, changed.asks], [2, false]);
  assert.match(changed.errors, /^\.\/repo\/compact\.toml:2: it has changed since you trusted it, so it may not set/);
});

test('trust is listed and taken back', async (t) => {
  const { told, compact, path } = scene(t);
  assert.deepEqual(await told(['config', 'trust', '--list']), {
    code: 0,
    out: '',
    errors: 'No file is trusted.\n',
    asks: false,
  });
  await told(['config', 'trust', '-q']);
  const list = async () => (await told(['config', 'trust', '--list'])).out;
  assert.equal(await list(), './repo/compact.toml\n');
  writeFileSync(path, `${TOML}\n`);
  assert.equal(await list(), './repo/compact.toml  (changed since)\n');
  writeFileSync(path, TOML);
  const revoked = await told(['config', 'trust', '--revoke']);
  assert.deepEqual([revoked.code, revoked.errors], [0, './repo/compact.toml: no longer trusted.\n']);
  assert.equal((await compact()).code, 2);
  const again = await told(['config', 'trust', '--revoke', join(path, '..')]);
  assert.deepEqual([again.code, again.errors], [0, './repo/compact.toml: it was not trusted.\n']);
  await told(['config', 'trust', '-q']);
  rmSync(path);
  assert.equal(await list(), './repo/compact.toml  (gone since)\n');
  assert.equal((await told(['config', 'trust', '--revoke', path], 'home')).code, 0);
  assert.equal(await list(), '');
});

test('a file or a folder elsewhere can be named', async (t) => {
  const { told, compact } = scene(t);
  const { code, errors } = await told(['config', 'trust', '../repo'], 'home');
  assert.equal(code, 0);
  assert.match(errors, /`compact config trust --revoke \.\.\/repo` revokes the trust\.\n$/);
  assert.equal((await compact()).code, 0);
  await told(['config', 'trust', '--revoke'], 'repo', { COMPACT_CONFIG: '/other.toml' });
  assert.equal((await compact()).code, 2);
  await told(['config', 'trust', '-q', '../repo/compact.toml'], 'home');
  assert.equal((await compact()).code, 0);
});

test('what cannot be trusted is said in one line', async (t) => {
  const { told, path } = scene(t);
  const none = await told(['config', 'trust'], 'home');
  assert.deepEqual(
    [none.code, none.errors],
    [
      2,
      "compact: there is no compact.toml in this folder or above it in the repository: name one. Try 'compact config --help'.\n",
    ],
  );
  const named = await told(['config', 'trust', 'mine.toml']);
  assert.deepEqual([named.code, named.errors.split('\n').length], [2, 2]);
  assert.match(named.errors, /a file given with --config needs no trust/);
  const missing = await told(['config', 'trust', 'sub']);
  assert.deepEqual(
    [missing.code, missing.errors],
    [2, './repo/sub/compact.toml: the configuration cannot be read: it does not exist.\n'],
  );
  writeFileSync(path, '[summarization]\nprovder = "ollama"\n');
  const wrong = await told(['config', 'trust']);
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.errors, /unknown key summarization\.provder\. Did you mean/);
  assert.equal((await told(['config', 'trust', '--list'])).out, '');
});

test('a list that cannot be written is told, and nothing is trusted', async (t) => {
  const { root, told, compact } = scene(t);
  writeFileSync(join(root, 'home/.local'), '');
  const { code, errors } = await told(['config', 'trust']);
  assert.equal(code, 2);
  assert.match(errors, /trusted: the system says \w+\. Nothing is trusted\.\n$/);
  assert.equal((await compact()).code, 2);
});

test('it speaks JSON', async (t) => {
  const { root, told } = scene(t);
  const sha256 = createHash('sha256').update(TOML).digest('hex');
  const { out } = await told(['config', 'trust', '--json', '-q']);
  const { trustedAt, ...trusted } = JSON.parse(out);
  assert.ok(Date.parse(trustedAt) > 0);
  const path = './repo/compact.toml';
  assert.deepEqual(problemsWith('config-trust', JSON.parse(out)), []);
  assert.deepEqual(trusted, {
    schema: 'compact/config-trust@1',
    result: 'trusted',
    path,
    sha256,
    values: [
      { key: 'summarization.provider', value: 'ollama' },
      { key: 'summarization.name', value: 'm\u001b[31m' },
      { key: 'summarization.api_key', value: '(set, not shown)' },
      { key: 'summarization.keep_recent', value: 3 },
    ],
  });
  const listed = await told(['config', 'trust', '--list', '--json']);
  assert.deepEqual(JSON.parse(listed.out), {
    schema: 'compact/config-trust@1',
    result: 'trusted',
    path,
    sha256,
    trustedAt,
  });
  const revoked = await told(['config', 'trust', '--revoke', '--json', '-q']);
  assert.deepEqual(JSON.parse(revoked.out), { schema: 'compact/config-trust@1', result: 'revoked', path });
  assert.ok(root);
});

test('config show says what was refused, and why, and stays a configuration that applies', async (t) => {
  const { told } = scene(t, `${TOML}[prices]\n"m 1" = { input = 1, output = 2 }\n`);
  const shown = await told(['config', 'show']);
  assert.deepEqual([shown.code, shown.errors], [0, '']);
  const lines = shown.out.split('\n');
  assert.equal(
    lines[0],
    '# ./repo/compact.toml: not trusted, so some of it is refused. Read it, then run `compact config trust`.',
  );
  assert.deepEqual(
    lines.filter((line) => line.startsWith('# refused')),
    [
      '# refused: provider = "ollama"  # ./repo/compact.toml:2',
      '# refused: name = "m\\u001b[31m"  # ./repo/compact.toml:3',
      '# refused: api_key  # ./repo/compact.toml:4',
      '# refused: "m 1" = { input = 1, output = 2 }  # ./repo/compact.toml:7',
    ],
  );
  assert.match(shown.out, /^provider = "extractive" +# default$/m);
  assert.match(shown.out, /^keep_recent = 3 +# \.\/repo\/compact\.toml:5$/m);
  const json = JSON.parse((await told(['config', 'show', '--json'])).out);
  assert.deepEqual(problemsWith('config', json), []);
  assert.deepEqual(json.trust, { kind: 'unknown', reason: null });
  assert.deepEqual(
    json.refused.map(({ key }: { readonly key: string }) => key),
    ['summarization.provider', 'summarization.name', 'summarization.api_key', 'prices.m 1'],
  );
  assert.doesNotMatch(JSON.stringify(json), /hunter2/);
  const trusted = JSON.parse((await told(['config', 'show', '--json', '--trust-config'])).out);
  assert.deepEqual([trusted.trust, trusted.refused], [{ kind: 'given' }, []]);
});

test('a file of another user may be trusted in its current state, and is no longer when it changes', async (t) => {
  const { root, told, compact, path } = scene(t);
  // Who is not root cannot give files away; then they are the user's own, and the rest must hold all the same.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) for (const name of ['repo', 'repo/compact.toml']) chownSync(join(root, name), 65_534, 65_534);
  const before = await compact();
  assert.equal(before.code, 2);
  assert.match(before.errors, isRoot ? /:2: its folder belongs to another user \(uid 65534\), so/ : /:2: not trusted/);
  const trusted = await told(['config', 'trust', '.']);
  assert.equal(trusted.code, 0);
  assert.match(
    trusted.errors,
    isRoot ? /in its current state \(its folder belongs to another user/ : /in its current state\./,
  );
  assert.equal((await compact()).code, 0);
  writeFileSync(path, `${TOML}\n`);
  assert.equal((await compact()).code, 2);
});

test('a command that is printed names the archive that only this run was allowed to use', async (t) => {
  const { root, told } = scene(t, '[archive]\npath = "mine.db"\n');
  const talk = join(root, 'repo/talk.jsonl');
  const once = await told(['--trust-config', talk]);
  assert.match(once.errors, /restore +compact restore --archive \.\/repo\/mine\.db /);
  await told(['config', 'trust', '-q']);
  const settled = await told([talk]);
  assert.match(settled.errors, /restore +compact restore (?!--archive)/);
});
