import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMAND_NAMES, loadAll, loadCommand } from '../../src/cli/commands/table.ts';
import { namesOf } from '../../src/cli/line/line.ts';
import { parseArguments } from '../../src/cli/line/parse.ts';
import { FACTS, helpOf, openWords, parsed, refused, requestOf } from './command-lines.ts';

const plain = { json: false, verbosity: 'normal', color: 'auto', showProgress: true } as const;
const noSettings = {
  configFlag: null,
  project: 'as-trusted',
  flags: { summarization: {}, transcript: {}, archive: {} },
} as const;
/** What every command takes from its line where nothing is said. */
const DEFAULTS = { progress: true, color: 'auto', rules: true };

function compact(changes: object): object {
  return {
    command: 'compact',
    isStdinImplied: false,
    operands: ['f.jsonl'],
    options: DEFAULTS,
    outputOptions: plain,
    settings: noSettings,
    ...changes,
  };
}

test('a file alone is compacted beside itself', async () => {
  assert.deepEqual(await parsed('f.jsonl'), compact({}));
});

test('run is the default command, for files named like a command', async () => {
  assert.deepEqual(await parsed('run', 'score'), compact({ command: 'compact run', operands: ['score'] }));
  assert.deepEqual(await parsed('--', 'score', '-x'), compact({ operands: ['score', '-x'] }));
});

test('only words in front of -- and without a command before them may be mistyped commands', async () => {
  assert.deepEqual(await openWords('-i', 'a', 'b', '--', 'c'), ['a', 'b']);
  assert.deepEqual(await openWords('run', 'a'), []);
  assert.deepEqual(await openWords('--', 'a'), []);
});

test('every flag of the default command becomes data', async () => {
  const argv =
    '-n --target 9 --keep-recent 0 --chunk-size 3 --max-summary-tokens 4 --provider extractive --format chat-lines --conversation c --keep-invalid --config x.toml --archive a.db --json -q --no-progress --color never --if-over 8 -o out a b';
  assert.partialDeepStrictEqual(await parsed(...argv.split(' ')), {
    operands: ['a', 'b'],
    options: { format: 'chat-lines', target: 9, ifOver: 8, conversation: 'c', output: 'out', dryRun: true },
    outputOptions: { json: true, verbosity: 'quiet', color: 'never', showProgress: false },
    settings: {
      configFlag: 'x.toml',
      project: 'as-trusted',
      flags: {
        summarization: { provider: 'extractive', keep_recent: 0, chunk_size: 3, max_summary_tokens: 4 },
        transcript: { keep_invalid: true },
        archive: { path: 'a.db' },
      },
    },
  });
});

test('the flags of models become data', async () => {
  const argv =
    '--provider ollama --model m --base-url http://h/v1 --trust-config --preview --min-retention 85% --if-over-budget -j 4 -';
  assert.partialDeepStrictEqual(await parsed(...argv.split(' ')), {
    options: { minRetention: 0.85, ifOverBudget: true, preview: true, jobs: 4 },
    settings: {
      project: 'trusted',
      flags: { summarization: { provider: 'ollama', name: 'm', base_url: 'http://h/v1' } },
    },
  });
});

for (const [text, share] of [
  ['0', 0],
  ['1', 1],
  ['.5', 0.5],
  ['0.905', 0.905],
  ['100%', 1],
  ['12.5%', 0.125],
] as const) {
  test(`--min-retention ${text} is the share ${share}`, async () => {
    assert.partialDeepStrictEqual(await parsed('--min-retention', text, 'f.jsonl'), {
      options: { minRetention: share },
    });
  });
}

test('the flags of other commands become data', async () => {
  for (const [line, operands, options] of [
    ['score f --explain --limit 3 --target 50', ['f'], { explain: true, limit: 3, target: 50 }],
    ['restore f -i --all', ['f'], { inPlace: true, all: true }],
    ['verify a b', ['a', 'b'], {}],
    ['schema run', ['run'], {}],
    ['search green boat', ['green', 'boat'], {}],
    ['search - --conversation c --messages --newest', ['-'], { conversation: 'c', messages: true, newest: true }],
    ['search x --role tool --source ./talk.jsonl', ['x'], { role: 'tool', source: './talk.jsonl' }],
    ['search -- -x', ['-x'], {}],
    ['show x --messages', ['x'], { messages: true }],
    ['config --revoke trust a', ['a'], { revoke: true }],
    ['config set --user a.b 3', ['a.b', '3'], { user: true }],
    ['scan a b --format codex --sort age -j 3 -0', ['a', 'b'], { format: 'codex', sort: 'age', jobs: 3, null: true }],
  ] as const) {
    assert.partialDeepStrictEqual(await parsed(...line.split(' ')), { operands, options }, line);
  }
});

test('config says what an action does not take', async () => {
  assert.match(await refused('config', 'set', 'a.b'), /^config set takes a key and a value/);
  assert.match(await refused('config', 'get', 'a.b', '3'), /^config get takes one key/);
  assert.match(await refused('config', 'trust', 'a', 'b'), /^config trust takes one file/);
  assert.match(await refused('config', 'get', 'a.b', '--user'), /^config get takes no --user/);
  assert.match(await refused('config', 'edit', '--user', '--config', 'x'), /^--config already names the file/);
  assert.match(await refused('config', 'show', 'a'), /^config show takes no file/);
  assert.match(await refused('config', 'path', '--list'), /^config path takes no file, no --list/);
  assert.match(await refused('config', 'trust', '--list', 'a'), /^--list takes no file/);
  assert.match(await refused('config', 'trust', '--config', 'a'), /^a file given with --config needs no trust/);
});

test("every command that reads a project's file may be told to trust it", async () => {
  const lines = 'f.jsonl,score f,scan,restore f -i,report f,undo,verify f,search x,show x,archive list,config show';
  for (const line of lines.split(',')) {
    const argv = [...line.split(' '), '--trust-config'];
    assert.partialDeepStrictEqual(await parsed(...argv), { settings: { project: 'trusted' } }, line);
  }
});

test('numbers, sizes and times are read in one way by every flag', async () => {
  const limits =
    '--if-over 100_000 --target 1.5M --keep-recent 1k --keep-recent-tokens 20k --max-summary-tokens 2,048 f.jsonl';
  assert.partialDeepStrictEqual(await parsed(...limits.split(' ')), {
    options: { ifOver: 100_000, target: 1_500_000 },
    settings: { flags: { summarization: { keep_recent: 1000, keep_recent_tokens: 20_000, max_summary_tokens: 2048 } } },
  });
  for (const [line, options] of [
    ['--older-than 2d f.jsonl', { olderThan: Date.parse('2026-03-07T15:20:00Z') }],
    ['scan --larger-than 1.5M --older-than 2026-03-01', { largerThan: 1_500_000, olderThan: Date.parse('2026-03-01') }],
    [
      'search --since 7d --until yesterday --limit 1k x',
      { since: Date.parse('2026-03-02T15:20:00Z'), until: Date.parse('2026-03-09T00:00:00Z'), limit: 1000 },
    ],
  ] as const)
    assert.partialDeepStrictEqual(await parsed(...line.split(' ')), { options }, line);
});

test('formats and the version need no transcript', async () => {
  assert.partialDeepStrictEqual(await parsed('--formats'), { operands: [], options: { formats: true } });
  assert.deepEqual(await parsed('-V'), { kind: 'version', version: '1.2.3', isVerbose: false });
  assert.partialDeepStrictEqual(await parsed('--version', '--verbose'), { kind: 'version', isVerbose: true });
});

test('help that was asked for is an answer, and help for want of anything is not', async () => {
  assert.partialDeepStrictEqual(await parsed(), { kind: 'help', isAnswer: false });
  assert.equal((await helpOf([])).trimEnd().split('\n').length, 5);
  const help = await parsed('--help');
  assert.partialDeepStrictEqual(help, { kind: 'help', isAnswer: true });
  for (const flag of ['-h', '--help']) assert.ok((await helpOf([flag])).startsWith('Usage: compact '));
  for (const argv of [['help'], ['--help', 'x']]) assert.deepEqual(await parsed(...argv), help);
  assert.deepEqual(await parsed('help', 'score'), await parsed('score', '--help'));
});

test('the short help fits on a screen, the long one in 80 lines; the long one has every option', async () => {
  const [short, long] = [await helpOf(['-h']), await helpOf(['--help'])];
  const lines = (text: string): number => text.trimEnd().split('\n').length;
  assert.ok(lines(short) <= 24, short);
  assert.ok(lines(long) <= 80, long);
  assert.match(long, /^Also a library for Node: .*compactMessages/m);
  const { flags } = await loadCommand(null);
  assert.deepEqual(
    flags.flatMap(namesOf).filter((name) => !long.includes(name)),
    [],
  );
  assert.equal(short.match(/^ {2}-/gm)?.length, 8);
});

test('help names every command but those that other commands or other programs call', async () => {
  const [short, long] = [await helpOf(['-h']), await helpOf(['--help'])];
  const unlisted = ['run', 'mcp', 'hook', 'schema', 'completion', 'help'];
  assert.deepEqual(
    COMMAND_NAMES.filter((name) => !long.includes(`\n  ${name} `)),
    unlisted,
  );
  for (const name of COMMAND_NAMES) assert.ok(unlisted.includes(name) || short.includes(name), name);
});

test('the short help of a command leaves out what few need, and names the long one', async () => {
  const [short, long] = [await helpOf(['score', '-h']), await helpOf(['score', '--help'])];
  assert.match(short, /--explain[^]*All options: compact score --help\n$/);
  assert.deepEqual([short.includes('--max-unpacked'), long.includes('--max-unpacked')], [false, true]);
  assert.match(long, /\nWhat to read:\n[^]*\nOutput:\n[^]*\nSafety:\n/);
});

test('an action has its own help, with the options that it takes', async () => {
  const all = await helpOf(['archive', '--help']);
  assert.match(all, /\n {2}prune +remove old[^]*--yes +for erase and prune: remove it/);
  const prune = await helpOf(['archive', 'prune', '-h']);
  assert.match(prune, /^Usage: compact archive prune \[options\]\n[^]*--yes +remove it/);
  assert.deepEqual([prune.includes('--match'), prune.includes('archive erase')], [false, false]);
});

test('the help of every command ends with valid examples of it', async () => {
  for (const [name, { examples }] of await loadAll()) {
    for (const [line] of examples) {
      const [words = ''] = new RegExp(`\\bcompact ${name}\\b[^|>)]*`).exec(line) ?? [];
      await parsed(...(words.match(/"[^"]*"|\S+/g) ?? [line]).slice(1));
    }
    const end = (await helpOf([name, '--help'])).split('\nExamples:\n')[1]?.replaceAll(/\s+/g, ' ') ?? '';
    assert.ok(end.trim().endsWith(examples.at(-1)?.[1] ?? '?'), name);
  }
});

test('help fits 60, 80 and 120 columns', async () => {
  for (const argv of ['-h', '--help'].flatMap((flag) => [[flag], ...COMMAND_NAMES.map((name) => [name, flag])])) {
    for (const widthColumns of [60, 80, 120]) {
      const help = await helpOf(argv, { widthColumns });
      assert.deepEqual(
        help.split('\n').filter((line) => line.length > widthColumns),
        [],
      );
    }
  }
});

test('a dry run of standard input prints no result, so that its report may be JSON', async () => {
  assert.partialDeepStrictEqual(await parsed('-n', '--json', '-'), { options: { dryRun: true } });
});

/** With something piped in. */
async function pipedIn(...argv: readonly string[]): Promise<unknown> {
  return requestOf(argv, { ...FACTS, hasInput: true });
}

test('what is piped in is taken where nothing is named', async () => {
  const piped = compact({ operands: ['-'], isStdinImplied: true });
  assert.deepEqual(await pipedIn(), piped);
  assert.deepEqual(await pipedIn('run'), { ...piped, command: 'compact run' });
  assert.deepEqual(await pipedIn('-n'), { ...piped, options: { ...DEFAULTS, dryRun: true } });
  for (const [command, ...rest] of [['score'], ['verify'], ['restore', '--all']] as const) {
    assert.partialDeepStrictEqual(await pipedIn(command, ...rest), {
      command: `compact ${command}`,
      isStdinImplied: true,
    });
  }
});

test('what is named, listed or asked for otherwise leaves a pipe alone', async () => {
  for (const line of [
    'f.jsonl',
    '--files-from list',
    '--formats',
    '-V',
    '--help',
    'score f',
    'verify --files-from list',
  ]) {
    assert.deepEqual(await pipedIn(...line.split(' ')), await parsed(...line.split(' ')), line);
  }
});

for (const line of ['-i', '--json', 'restore -i', 'score --sort up', 'verify --jsno']) {
  test(`'compact ${line}' is refused beside a pipe as without one`, async () => {
    const result = await parseArguments(line.split(' '), { ...FACTS, hasInput: true });
    assert.ok(!result.ok);
    assert.equal(result.error.message, await refused(...line.split(' ')));
  });
}

test('what a flag cannot be used with are options of its command', async () => {
  for (const [name, { flags }] of await loadAll()) {
    const options = flags.map((flag) =>
      (namesOf(flag).at(-1) ?? '')
        .replace(/^--(?:no-)?/, '')
        .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    );
    const conflicts = flags.flatMap((flag) => flag.conflicts ?? []);
    assert.deepEqual(
      conflicts.filter((option) => !options.includes(option)),
      [],
      name,
    );
  }
});
