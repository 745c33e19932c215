import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../src/cli/run.ts';
import { inSession } from '../../src/cli/session.ts';
import { err, ok } from '../../src/core/result.ts';
import { folderWith } from '../support/folders.ts';
import { compactReport, verifyReport } from './fake-reports.ts';
import { createFakeTerminal, createFakeUseCases, type FakeUseCases, type TerminalOptions } from './fakes.ts';
import { jsonLines } from '../support/program.ts';

type Ran = { readonly code: number; readonly out: string; readonly errors: string };

async function ran(
  argv: readonly string[],
  options: TerminalOptions = {},
  useCases = createFakeUseCases(),
): Promise<Ran> {
  const terminal = createFakeTerminal(argv, options);
  const code = await run({ terminal, loadUseCases: useCases.loadUseCases });
  return { code, out: terminal.out(), errors: terminal.errors() };
}

function requests(useCases: FakeUseCases): readonly string[] {
  return useCases.calls.map(({ name }) => name);
}

/** Of the first transcript. */
function compactRequest(useCases: FakeUseCases): unknown {
  return useCases.calls.find(({ name }) => name === 'compact')?.request;
}

test('the report of a compaction goes to stderr, and nothing to stdout', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const { code, out, errors } = await ran([path]);
  assert.deepEqual([code, out], [0, '']);
  assert.match(errors, /restore {3}compact restore/);
});

test('the request holds the input, the output, the policy and the model', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  const path = join(folder, 'x.jsonl');
  const useCases = createFakeUseCases();
  await ran(
    [path, '--keep-recent', '2', '--archive', 'a.db', '--format', 'chat-lines'],
    { workingFolder: folder },
    useCases,
  );
  const request = compactRequest(useCases);
  assert.ok(typeof request === 'object' && request !== null && 'policy' in request);
  const { policy, ...rest } = request;
  assert.deepEqual(
    { ...rest, summarizer: typeof Object(rest).summarizer },
    {
      embeddings: null,
      summarizer: 'object',
      input: { path, name: path, format: 'chat-lines', refusesLinks: false },
      output: { kind: 'default', path: join(folder, 'x.compact.jsonl') },
      provider: 'extractive',
      modelName: 'extractive',
    },
  );
  assert.match(JSON.stringify(policy), /"keepRecent":2/);
  assert.equal(useCases.compositions[0]?.archivePath, join(folder, 'a.db'));
});

test('with --json there is one object a transcript on stdout, and stderr is empty', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '', 'y.jsonl': '' });
  const { out, errors } = await ran(['--json', '-q', join(folder, 'x.jsonl'), join(folder, 'y.jsonl')]);
  const files = jsonLines(out).map(({ file }) => file);
  assert.deepEqual(files, [join(folder, 'x.jsonl'), join(folder, 'y.jsonl')]);
  assert.equal(errors, '');
});

test('one bad file fails alone: the others are done, and the end adds up', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '', 'b.jsonl': '', 'c.jsonl': '' });
  const useCases = createFakeUseCases({
    compactFile: ({ input: { name } }) =>
      Promise.resolve(
        name.endsWith('a.jsonl')
          ? err({ kind: 'bad-line', file: name, line: 2, column: 3, problem: 'not valid JSON', canCarry: true })
          : ok(compactReport({ file: name })),
      ),
  });
  const names = ['a', 'b', 'c'].map((name) => join(folder, `${name}.jsonl`));
  const { code, errors } = await ran(names, {}, useCases);
  assert.equal(code, 1);
  assert.deepEqual(requests(useCases), ['create-summarizer', 'compact', 'compact', 'compact', 'close']);
  assert.match(errors, /a\.jsonl:2:3: not valid JSON\. Use --keep-invalid/);
  assert.match(
    errors,
    /3 transcripts: 2 compacted, 1 failed\n[^]*24,000 → 1,500 tokens \(93 % saved\)[^]*\n {2}archive /,
  );
});

test('with -q only errors are said', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const { code, errors } = await ran(['-q', path, `${path}.missing`]);
  assert.deepEqual([code, errors], [1, `${path}.missing: no such file or folder. Check the path.\n`]);
});

test('a folder without transcripts is nothing to do, and a glob of nothing is a mistake', async (t) => {
  const folder = folderWith(t, {});
  assert.deepEqual(await ran([folder]), {
    code: 0,
    out: '',
    errors: `${folder}: no transcripts found (*.compact.* is skipped); nothing to do.\n`,
  });
  const pattern = `${folder}/*.jsonl`;
  const glob = await ran([folder, pattern]);
  assert.deepEqual([glob.code, glob.errors.split('\n')[0]], [1, `${pattern}: no file matches. Check the pattern.`]);
});

test('an unknown format is reported with the nearest known one', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  const { code, errors } = await ran(['--format', 'claud', join(folder, 'x.jsonl')]);
  assert.equal(code, 2);
  assert.match(errors, /there is no format 'claud': did you mean claude-code\?/);
});

test('a wrong configuration is reported before anything is opened', async (t) => {
  const folder = folderWith(t, { 'compact.toml': '[summarization]\nkeep_recnt = 3\n', 'x.jsonl': '' });
  const useCases = createFakeUseCases();
  const { code, errors } = await ran([join(folder, 'x.jsonl')], { workingFolder: folder }, useCases);
  assert.equal(code, 2);
  assert.equal(
    errors,
    `${folder}/compact.toml:2: unknown key summarization.keep_recnt. Did you mean summarization.keep_recent?\n`,
  );
  assert.deepEqual(useCases.compositions, []);
});

test('a configured provider that cannot be asked is refused, and scoring needs none', async (t) => {
  const folder = folderWith(t, { 'mine.toml': '[summarization]\nprovider = "ollama"\n', 'x.jsonl': '' });
  const path = join(folder, 'x.jsonl');
  const environment = { COMPACT_CONFIG: join(folder, 'mine.toml') };
  const { code, errors } = await ran([path], { environment });
  assert.equal(code, 2);
  assert.match(errors, /^compact: the provider 'ollama' needs a model: /);
  assert.equal((await ran(['score', path], { environment })).code, 0);
  assert.equal((await ran([path, '--provider', 'extractive'], { environment })).code, 0);
});

test('standard input is handed over as a file that is called stdin, and that goes when all is done', async () => {
  const spooled: string[] = [];
  const useCases = createFakeUseCases({
    compactFile: (request) => {
      assert.ok(existsSync(request.input.path));
      spooled.push(request.input.path);
      return Promise.resolve(ok(compactReport({ file: request.input.name, output: '-' })));
    },
  });
  const { code, out } = await ran(['-'], { stdin: '{}\n' }, useCases);
  assert.deepEqual([code, out], [0, '']);
  assert.deepEqual(spooled.map(existsSync), [false]);
  assert.match(JSON.stringify(compactRequest(useCases)), /"name":"stdin".*"output":\{"kind":"stdout"\}/);
});

test('standard input that is a terminal is refused', async () => {
  const { code, errors } = await ran(['-']);
  assert.equal(code, 2);
  assert.match(errors, /standard input is a terminal/);
});

test('several transcripts go into a folder that is made, but not for a dry run', async (t) => {
  const folder = folderWith(t, { 'in/a/x.jsonl': '' });
  const out = join(folder, 'out');
  await ran(['-n', join(folder, 'in'), '-o', out]);
  assert.equal(existsSync(out), false);
  const useCases = createFakeUseCases();
  await ran([join(folder, 'in'), '-o', out], {}, useCases);
  assert.equal(existsSync(join(out, 'a')), true);
  assert.match(JSON.stringify(compactRequest(useCases)), /out\/a\/x\.compact\.jsonl/);
});

test('a dry run is asked for without an output', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const useCases = createFakeUseCases();
  await ran(['-n', '-i', path], {}, useCases);
  assert.match(JSON.stringify(compactRequest(useCases)), /"output":\{"kind":"none"\}/);
});

test('an output that is the input is refused before anything is done', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const useCases = createFakeUseCases();
  const { code, errors } = await ran([path, '-o', path], {}, useCases);
  assert.equal(code, 2);
  assert.match(errors, /use --in-place to replace it/);
  assert.deepEqual(requests(useCases), ['create-summarizer', 'close']);
});

test('an interruption leaves the rest alone, and the exit code says so', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '', 'b.jsonl': '' });
  const terminal = createFakeTerminal([folder]);
  const useCases = createFakeUseCases({
    compactFile: () => {
      terminal.interrupt();
      return Promise.resolve(err({ kind: 'interrupted' }));
    },
  });
  assert.equal(await run({ terminal, loadUseCases: useCases.loadUseCases }), 130);
  assert.deepEqual(requests(useCases), ['create-summarizer', 'compact', 'close']);
});

test('scores are an answer: they go to stdout', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const { code, out, errors } = await ran(['score', path, '--limit', '1']);
  assert.deepEqual([code, errors], [0, '']);
  assert.match(out, /^ {3}2 10\.00 /m);
  assert.doesNotMatch(out, /m-0/);
});

test('the restored bytes go to stdout as they are, and what is said about them to stderr', async (t) => {
  const path = join(folderWith(t, { 'x.compact.jsonl': '' }), 'x.compact.jsonl');
  const useCases: FakeUseCases = createFakeUseCases({
    restoreFile: (request) => {
      useCases.compositions[0]?.stdout(Buffer.from('bytes\r\n'));
      return Promise.resolve(
        ok({
          schema: 'compact/restore@1',
          file: request.input.name,
          result: 'restored',
          output: '-',
          cycles: 2,
          bytes: 7,
          sha256: 'c'.repeat(64),
          original: { sha256: 'd'.repeat(64), bytes: 4 },
          appendedBytes: 3,
        }),
      );
    },
  });
  const { code, out, errors } = await ran(['restore', path], {}, useCases);
  assert.deepEqual([code, out], [0, 'bytes\r\n']);
  assert.match(errors, /→ standard output: 7 bytes, 2 compactions undone, 3 bytes appended since then at its end/);
});

test('a reader of stdout that goes away ends a restore, and that is no error', async (t) => {
  const path = join(folderWith(t, { 'x.compact.jsonl': '' }), 'x.compact.jsonl');
  const useCases: FakeUseCases = createFakeUseCases({
    restoreFile: () => {
      const [composition] = useCases.compositions;
      composition?.stdout(Buffer.from('a'));
      assert.equal(composition?.signal.aborted, true);
      return Promise.resolve(err({ kind: 'interrupted' }));
    },
  });
  const { code, errors } = await ran(['restore', path], { closesAfter: 1 }, useCases);
  assert.deepEqual([code, errors], [0, 'Standard output was closed before all of the original was written.\n']);
});

test('standard output that cannot be written is a failure', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  const { code, errors } = await ran(['--json', path], { closesAfter: 1, failsWith: 'ENOSPC' });
  assert.equal(code, 1);
  assert.equal(errors, 'standard output: the system cannot write it (ENOSPC). Check where it goes.\n');
});

test('a failed verification is an answer and a failure', async (t) => {
  const path = join(folderWith(t, { 'x.compact.jsonl': '' }), 'x.compact.jsonl');
  const problems = [{ kind: 'changed-line', line: 4, message: 'a kept line differs\u001b[2J' } as const];
  const useCases = createFakeUseCases({
    verifyFile: () => Promise.resolve(ok(verifyReport({ file: path, result: 'failed', problems }))),
  });
  assert.deepEqual(await ran(['verify', path], {}, useCases), {
    code: 1,
    out: `${path}: failed, 1 problem\n  ${path}:4: a kept line differs\\x1b[2J\n`,
    errors: '',
  });
});

test('an original in a folder that is verified is no failure, and one that is named is', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  const useCases = createFakeUseCases({
    verifyFile: ({ input }) => Promise.resolve(err({ kind: 'not-compacted', file: input.name })),
  });
  assert.equal((await ran(['verify', folder], {}, useCases)).code, 0);
  assert.equal((await ran(['verify', join(folder, 'x.jsonl')], {}, useCases)).code, 1);
});

test('formats are listed whatever the configuration is', async (t) => {
  const folder = folderWith(t, { 'compact.toml': 'broken' });
  const { code, out } = await ran(['--formats'], { workingFolder: folder });
  assert.deepEqual(
    [code, out],
    [
      0,
      'chat-lines   one message a line\n             checked: read back by nobody\n' +
        'claude-code  one message a line\n             checked: read back by nobody\n',
    ],
  );
});

test('config path prints the file, or on stderr where it looked', async (t) => {
  const folder = folderWith(t, { 'compact.toml': '' });
  const path = join(folder, 'compact.toml');
  assert.deepEqual(await ran(['config', 'path'], { workingFolder: folder }), { code: 0, out: `${path}\n`, errors: '' });
  const none = await ran(['config', 'path'], { workingFolder: folderWith(t, {}) });
  assert.deepEqual([none.code, none.out], [0, '']);
  assert.match(none.errors, /compact\.toml\n.*config\.toml\n$/);
});

test('what config show prints is a configuration that means the same', async (t) => {
  const text =
    '[summarization]\nprompt = "say \\u001b[31m\\u009b \\"why\\""\n[prices]\n"m 1" = { input = 1, output = 2 }\n';
  const folder = folderWith(t, { 'compact.toml': text });
  const show = ['config', 'show', '--trust-config'];
  const shown = await ran([...show, '--archive', '/a.db'], { workingFolder: folder });
  assert.equal(shown.code, 0);
  assert.match(shown.out, /^path = "\/a\.db" +# --archive$/m);
  assert.match(shown.out, /^prompt = .* # .*compact\.toml:2$/m);
  assert.doesNotMatch(shown.out.replaceAll('\n', ''), /\p{Cc}/u);
  const again = folderWith(t, { 'compact.toml': shown.out });
  const json = await ran([...show, '--json'], { workingFolder: folder });
  const jsonAgain = await ran([...show, '--json'], { workingFolder: again });
  const valuesOf = ({ out }: Ran): readonly { readonly key: string; readonly value: unknown }[] =>
    JSON.parse(out).values;
  const expected = valuesOf(json).map(({ key, value }) => ({ key, value: key === 'archive.path' ? '/a.db' : value }));
  assert.deepEqual(
    valuesOf(jsonAgain).map(({ key, value }) => ({ key, value })),
    expected,
  );
});

test('errors are red where there are colors, those of the command line too', async () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
  const errorsOf = async (...argv: readonly string[]): Promise<string> => (await ran(argv)).errors;
  assert.equal(
    await errorsOf('run', 'nope.jsonl', '--color', 'always'),
    `${red('nope.jsonl: no such file or folder. Check the path.')}\n`,
  );
  const unknown = await errorsOf('--nope', '--color=always');
  assert.ok(unknown.startsWith("\u001b[31mcompact: unknown option '--nope'") && unknown.endsWith('\u001b[39m\n'));
  assert.ok(!(await errorsOf('--nope')).includes('\u001b'));
});

test('a session does everything at its end, and then fails with what failed first', async () => {
  const done: string[] = [];
  const request = {
    command: 'test',
    outputOptions: { json: false, verbosity: 'normal', color: 'never', showProgress: false },
    settings: { flags: {}, configFlag: null, project: 'ignored' },
    format: null,
    needs: [],
  } as const;
  const context = { terminal: createFakeTerminal([]), loadUseCases: createFakeUseCases().loadUseCases };
  const running = inSession(context, request, async ({ atEnd }) => {
    for (const name of ['first', 'second']) {
      atEnd(() => {
        done.push(name);
        throw new Error(name);
      });
    }
    atEnd(() => void done.push('third'));
    return 0;
  });
  await assert.rejects(running, { message: 'first' });
  assert.deepEqual(done, ['first', 'second', 'third']);
});
