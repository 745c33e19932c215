import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from '../../src/cli/command-line.ts';
import type { CompactInvocation } from '../../src/cli/commands/compact.ts';
import { namesOf } from '../../src/cli/commands/command.ts';
import { COMMAND_NAMES, loadAll } from '../../src/cli/commands/table.ts';
import { FACTS, helpOf, openWords, parsed, refused, requestOf } from './command-lines.ts';

const plain = { json: false, verbosity: 'normal', color: 'auto', showProgress: true } as const;
const noSettings = {
  configFlag: null,
  project: 'as-trusted',
  flags: { summarization: {}, transcript: {}, archive: {} },
} as const;
const trusting = { ...noSettings, project: 'trusted' } as const;
const noPolicy = { targetTokens: null, ifOver: null, conversation: null } as const;

function compact(changes: Partial<CompactInvocation>): CompactInvocation {
  return {
    kind: 'compact',
    isStdinImplied: false,
    operands: ['f.jsonl'],
    filesFrom: null,
    shard: null,
    format: null,
    policy: noPolicy,
    output: { kind: 'default' },
    before: null,
    isDryRun: false,
    jobs: null,
    outputOptions: plain,
    settings: noSettings,
    ...changes,
  };
}

test('a file alone is compacted beside itself', async () => {
  assert.deepEqual(await parsed('f.jsonl'), compact({}));
});

test('run is the default command, for files named like a command', async () => {
  assert.deepEqual(await parsed('run', 'score'), compact({ operands: ['score'] }));
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
  assert.deepEqual(
    await parsed(...argv.split(' ')),
    compact({
      operands: ['a', 'b'],
      format: 'chat-lines',
      policy: { targetTokens: 9, ifOver: 8, conversation: 'c' },
      output: { kind: 'path', path: 'out' },
      isDryRun: true,
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
    }),
  );
});

test('the flags of models become data', async () => {
  const argv =
    '--provider ollama --model m --base-url http://h/v1 --trust-config --preview --min-retention 85% -j 4 - --json';
  assert.deepEqual(
    await parsed(...argv.split(' ')),
    compact({
      operands: ['-'],
      policy: { ...noPolicy, minRetention: 0.85 },
      output: { kind: 'preview' },
      jobs: 4,
      outputOptions: { ...plain, json: true },
      settings: {
        configFlag: null,
        project: 'trusted',
        flags: {
          summarization: { provider: 'ollama', name: 'm', base_url: 'http://h/v1' },
          transcript: {},
          archive: {},
        },
      },
    }),
  );
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
    const asked = await parsed('--min-retention', text, 'f.jsonl');
    assert.deepEqual(asked, compact({ policy: { ...noPolicy, minRetention: share } }));
  });
}

test('the budget of the configuration can be the limit', async () => {
  assert.deepEqual(await parsed('--if-over-budget', 'f.jsonl'), compact({ policy: { ...noPolicy, ifOver: 'budget' } }));
});

test('standard input goes to standard output unless told otherwise', async () => {
  assert.deepEqual(await parsed('-'), compact({ operands: ['-'], output: { kind: 'stdout' } }));
  assert.deepEqual(await parsed('-', '-o', 'x'), compact({ operands: ['-'], output: { kind: 'path', path: 'x' } }));
});

test('score ranks for people and keeps the order of the file for programs', async () => {
  const score = {
    kind: 'score',
    isStdinImplied: false,
    operands: ['f'],
    format: null,
    policy: { ...noPolicy, targetTokens: 50 },
    explain: true,
    all: false,
    message: null,
    limit: 3,
    sort: 'score',
    outputOptions: plain,
    settings: noSettings,
  } as const;
  const argv = ['score', 'f', '--explain', '--limit', '3', '--target', '50'];
  assert.deepEqual(await parsed(...argv), score);
  const json = await parsed(...argv, '--json');
  assert.deepEqual(json, { ...score, sort: 'position', outputOptions: { ...plain, json: true } });
  assert.deepEqual(await parsed(...argv, '--json', '--sort', 'score'), { ...json, sort: 'score' });
});

test('restore writes to standard output unless told otherwise', async () => {
  const restore = {
    kind: 'restore',
    isStdinImplied: false,
    operands: ['f'],
    filesFrom: null,
    jobs: null,
    format: null,
    output: { kind: 'stdout' },
    all: false,
    partial: false,
    captured: null,
    outputOptions: plain,
    settings: noSettings,
  } as const;
  assert.deepEqual(await parsed('restore', 'f'), restore);
  assert.deepEqual(await parsed('restore', 'f', '-i', '--all'), {
    ...restore,
    output: { kind: 'in-place' },
    all: true,
  });
  assert.deepEqual(await parsed('restore', 'f', '-o', 'x'), { ...restore, output: { kind: 'path', path: 'x' } });
});

test('verify and schema become data', async () => {
  const common = { outputOptions: plain, settings: noSettings };
  assert.deepEqual(await parsed('verify', 'a', 'b'), {
    kind: 'verify',
    isStdinImplied: false,
    operands: ['a', 'b'],
    filesFrom: null,
    format: null,
    jobs: null,
    ...common,
  });
  assert.deepEqual(await parsed('schema', 'run'), { kind: 'schema', of: 'compact' });
});

test('several words are one query, and what is asked of it becomes data', async () => {
  const common = { outputOptions: plain, settings: noSettings };
  const any = { conversation: null, role: null, since: null, until: null, source: null, isCaptured: false };
  const search = { kind: 'search', query: 'green boat', kinds: 'all', order: 'best', limit: 10, ...any };
  assert.deepEqual(await parsed('search', 'green', 'boat'), { ...search, ...common });
  const argv = 'search - --conversation c --messages --limit 3 --newest'.split(' ');
  const asked = { query: '-', conversation: 'c', kinds: 'messages', order: 'newest', limit: 3 };
  assert.deepEqual(await parsed(...argv), { ...search, ...asked, ...common });
  const within = 'search x --role tool --since 2026-03-02 --until 2026-03-02 --source ./talk.jsonl'.split(' ');
  assert.deepEqual(await parsed(...within), {
    ...search,
    query: 'x',
    role: 'tool',
    since: new Date('2026-03-02T00:00:00Z'),
    until: new Date('2026-03-03T00:00:00Z'),
    source: 'talk.jsonl',
    ...common,
  });
  assert.deepEqual(await parsed('search', '--batches', ''), { ...search, query: '', kinds: 'batches', ...common });
  assert.deepEqual(await parsed('search', '--', '-x', '"'), { ...search, query: '-x "', ...common });
});

test('show becomes data', async () => {
  const common = { outputOptions: plain, settings: noSettings };
  assert.deepEqual(await parsed('show', 'x'), { kind: 'show', name: 'x', originals: false, ...common });
  assert.deepEqual(await parsed('show', 'x', '--messages'), { kind: 'show', name: 'x', originals: true, ...common });
});

test('config becomes data', async () => {
  const options = { progress: true, color: 'auto', rules: true };
  const config = { kind: 'config', operands: [], options, outputOptions: plain, settings: noSettings };
  for (const action of ['show', 'path', 'init', 'edit', 'trust']) {
    assert.deepEqual(await parsed('config', action), { ...config, action });
  }
  assert.deepEqual(await parsed('config', 'trust', 'a'), { ...config, action: 'trust', operands: ['a'] });
  assert.deepEqual(await parsed('config', 'trust', '--list'), {
    ...config,
    action: 'trust',
    options: { ...options, list: true },
  });
  assert.deepEqual(await parsed('config', '--revoke', 'trust', 'a'), {
    ...config,
    action: 'trust',
    operands: ['a'],
    options: { ...options, revoke: true },
  });
  assert.deepEqual(await parsed('config', 'set', '--user', 'a.b', '3'), {
    ...config,
    action: 'set',
    operands: ['a.b', '3'],
    options: { ...options, user: true },
  });
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
  for (const argv of [
    ['f.jsonl'],
    ['score', 'f'],
    ['scan'],
    ['restore', 'f'],
    ['diff', 'f'],
    ['undo'],
    ['verify', 'f'],
    ['search', 'x'],
    ['show', 'x'],
    ['archive', 'list'],
    ['config', 'show'],
  ]) {
    assert.partialDeepStrictEqual(await parsed(...argv, '--trust-config'), { settings: trusting }, argv.join(' '));
  }
});

test('every flag of scan becomes data', async () => {
  const common = { kind: 'scan', format: null, policy: noPolicy, settings: noSettings, outputOptions: plain } as const;
  assert.deepEqual(await parsed('scan'), {
    ...common,
    operands: [],
    largerThanBytes: null,
    before: null,
    jobs: null,
    sort: 'saving',
    output: 'table',
  });
  assert.deepEqual(
    await parsed(
      ...'scan a b --larger-than 5MB --older-than 2d --format codex --sort age --target 9 -j 3 -0'.split(' '),
    ),
    {
      ...common,
      operands: ['a', 'b'],
      format: 'codex',
      policy: { ...noPolicy, targetTokens: 9 },
      largerThanBytes: 5_000_000,
      before: new Date('2026-03-07T15:20:00Z'),
      jobs: 3,
      sort: 'age',
      output: 'paths',
    },
  );
});

test('numbers, sizes and times are read in one way by every flag', async () => {
  const limits = await parsed(
    ...'--if-over 100_000 --target 1.5M --keep-recent 1k --keep-recent-tokens 20k --max-summary-tokens 2,048 f.jsonl'.split(
      ' ',
    ),
  );
  assert.partialDeepStrictEqual(limits, {
    kind: 'compact',
    policy: { ifOver: 100_000, targetTokens: 1_500_000 },
    settings: { flags: { summarization: { keep_recent: 1000, keep_recent_tokens: 20_000, max_summary_tokens: 2048 } } },
  });
  const aged = await parsed('--older-than', '2d', 'f.jsonl');
  assert.partialDeepStrictEqual(aged, { before: new Date('2026-03-07T15:20:00Z') });
  const scan = await parsed(...'scan --larger-than 1.5M --older-than 2026-03-01'.split(' '));
  assert.partialDeepStrictEqual(scan, { largerThanBytes: 1_500_000, before: new Date('2026-03-01') });
  const search = await parsed(...'search --since 7d --until yesterday --limit 1k x'.split(' '));
  assert.partialDeepStrictEqual(search, {
    since: new Date('2026-03-02T15:20:00Z'),
    until: new Date('2026-03-09T00:00:00Z'),
    limit: 1000,
  });
});

test('formats and the version need no transcript', async () => {
  assert.deepEqual(await parsed('--formats'), { kind: 'formats', outputOptions: plain, settings: noSettings });
  assert.deepEqual(await parsed('-V'), { kind: 'version', version: '1.2.3' });
});

test('help that was asked for is an answer, and help for want of anything is not', async () => {
  assert.partialDeepStrictEqual(await parsed(), { kind: 'help', isAnswer: false });
  assert.equal((await helpOf([])).trimEnd().split('\n').length, 5);
  const help = await parsed('--help');
  assert.partialDeepStrictEqual(help, { kind: 'help', isAnswer: true });
  assert.ok((await helpOf(['--help'])).startsWith('Usage: compact '));
  for (const argv of [['help'], ['-h', 'x']]) assert.deepEqual(await parsed(...argv), help);
  assert.deepEqual(await parsed('help', 'score'), await parsed('score', '--help'));
});

test('help names every command but those that only other programs call', async () => {
  const help = await helpOf(['--help']);
  assert.deepEqual(
    COMMAND_NAMES.filter((name) => !help.includes(`\n  ${name} `)),
    ['hook'],
  );
});

test('the help of every command ends with valid examples of it', async () => {
  for (const [name, { examples }] of await loadAll()) {
    for (const [line] of examples) {
      const [words = ''] = new RegExp(`\\bcompact ${name}\\b[^|>)]*`).exec(line) ?? [];
      await parsed(...(words.match(/"[^"]*"|\S+/g) ?? [line]).slice(1));
    }
    assert.ok((await helpOf([name, '--help'])).endsWith(`${examples.at(-1)?.[1]}\n`));
  }
});

test('help fits 60, 80 and 120 columns', async () => {
  for (const argv of [['--help'], ...COMMAND_NAMES.map((name) => [name, '--help'])]) {
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
  assert.partialDeepStrictEqual(await parsed('-n', '--json', '-'), { kind: 'compact', isDryRun: true });
});

/** With something piped in. */
async function pipedIn(...argv: readonly string[]): Promise<unknown> {
  return requestOf(argv, { ...FACTS, hasInput: true });
}

test('what is piped in is taken where nothing is named', async () => {
  const piped = compact({ operands: ['-'], isStdinImplied: true, output: { kind: 'stdout' } });
  assert.deepEqual(await pipedIn(), piped);
  assert.deepEqual(await pipedIn('run'), piped);
  assert.deepEqual(await pipedIn('-n'), { ...piped, output: { kind: 'stdout' }, isDryRun: true });
  for (const [command, ...rest] of [['score'], ['verify'], ['restore', '--all']] as const) {
    assert.partialDeepStrictEqual(await pipedIn(command, ...rest), { kind: command, isStdinImplied: true });
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
