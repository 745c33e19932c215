import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { test, type TestContext } from 'node:test';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runHere, runProcess, jsonLines } from '../support/program.ts';
import { createFakeTerminal } from './fakes.ts';

const TALK = chatTranscript(9);

type Place = {
  readonly folder: string;
  readonly path: (name: string) => string;
  readonly text: (name: string) => string;
  /** Compacts what is named of the folder in place. */
  readonly compact: (...names: readonly string[]) => Promise<Run>;
};

type Run = {
  readonly code: number | null;
  readonly stderr: string;
  /** File (below the folder) and result, and why it is none. */
  readonly results: readonly (readonly string[])[];
  readonly notes: readonly string[];
};

function placeWith(t: TestContext, files: Readonly<Record<string, string>>): Place {
  const folder = folderWith(t, files);
  const path = (name: string): string => join(folder, name);
  return {
    folder,
    path,
    text: (name) => readFileSync(path(name), 'utf8'),
    compact: async (...names) => {
      const args = ['-i', '--json', '--archive', path('.archive.db'), ...names.map(path)];
      const { code, stdout, stderr } = await runHere(args);
      return {
        code,
        stderr,
        results: readResults(stdout, folder),
        notes: jsonLines(stdout).flatMap(({ notes }) => notes ?? []),
      };
    },
  };
}

function readResults(stdout: string, folder: string): readonly (readonly string[])[] {
  return jsonLines(stdout).map(({ file, result, reason, error }) =>
    [file.slice(folder.length + 1), result, reason ?? error?.kind].filter((part) => part !== undefined),
  );
}

test('what is no transcript in a folder is skipped, and a script is told why', async (t) => {
  const { compact, text } = placeWith(t, {
    'logs/a.jsonl': TALK,
    'logs/b-empty.jsonl': '',
    'logs/c-notes.jsonl': 'Dear diary\n',
    'logs/d-torn.jsonl': `${TALK}{"role":"us`,
    'logs/deep/e.jsonl': TALK,
    'logs/f-opened.jsonl': '{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}\n',
  });
  const { code, results, notes } = await compact('logs');
  assert.equal(code, 0);
  assert.deepEqual(results, [
    ['logs/a.jsonl', 'compacted'],
    ['logs/b-empty.jsonl', 'skipped', 'no-messages'],
    ['logs/c-notes.jsonl', 'skipped', 'not-a-transcript'],
    ['logs/d-torn.jsonl', 'skipped', 'bad-line'],
    ['logs/deep/e.jsonl', 'compacted'],
    ['logs/f-opened.jsonl', 'skipped', 'no-messages'],
  ]);
  // Named itself it is an error.
  assert.equal((await compact('logs/f-opened.jsonl')).code, 1);
  assert.deepEqual(notes.slice(0, 3), [
    'it is an empty file',
    'not a transcript: it looks like plain text',
    'line 25, column 12: not valid JSON (unexpected end of line)',
  ]);
  assert.equal(notes[3], '--keep-invalid carries such lines along');
  assert.equal(text('logs/d-torn.jsonl'), `${TALK}{"role":"us`);
});

test('what is named and is no file fails alone', async (t) => {
  const { compact, path } = placeWith(t, { 'a.jsonl': TALK, 'f/': '' });
  symlinkSync('nowhere', path('dangling.jsonl'));
  assert.equal(spawnSync('mkfifo', [path('pipe.jsonl')]).status, 0);
  const { code, results } = await compact('dangling.jsonl', 'pipe.jsonl', 'missing.jsonl', 'q*.jsonl', 'f', 'a.jsonl');
  assert.equal(code, 1);
  assert.deepEqual(results, [
    ['dangling.jsonl', 'failed', 'not-a-file'],
    ['missing.jsonl', 'failed', 'not-found'],
    ['q*.jsonl', 'failed', 'no-match'],
    ['pipe.jsonl', 'failed', 'not-a-file'],
    ['a.jsonl', 'compacted'],
  ]);
});

test('a file that vanishes between the listing and its turn fails alone', async (t) => {
  const { folder, path } = placeWith(t, { 'a.jsonl': TALK, 'b.jsonl': TALK, 'c.jsonl': chatTranscript(9, 70) });
  const terminal = createFakeTerminal(['-i', '--json', '--archive', path('.archive.db'), folder]);
  const loadUseCases = () =>
    Promise.resolve((composition: Parameters<typeof createUseCases>[0]) => {
      const useCases = createUseCases(composition);
      return {
        ...useCases,
        compactFile: (...asked: Parameters<typeof useCases.compactFile>) => {
          rmSync(path('b.jsonl'), { force: true });
          return useCases.compactFile(...asked);
        },
      };
    });
  assert.equal(await run({ terminal, loadUseCases }), 1);
  assert.deepEqual(readResults(terminal.out(), folder), [
    ['a.jsonl', 'compacted'],
    ['b.jsonl', 'failed', 'not-found'],
    ['c.jsonl', 'compacted'],
  ]);
});

test('of a symbolic link the target is replaced, and the link stays', async (t) => {
  const { compact, path, text } = placeWith(t, { 'store/talk.jsonl': TALK });
  symlinkSync('store/talk.jsonl', path('link.jsonl'));
  const { results } = await compact('link.jsonl');
  assert.deepEqual(results, [['link.jsonl', 'compacted']]);
  assert.deepEqual(
    [readlinkSync(path('link.jsonl')), lstatSync(path('store/talk.jsonl')).isFile()],
    ['store/talk.jsonl', true],
  );
  assert.notEqual(text('store/talk.jsonl'), TALK);
  assert.equal(text('link.jsonl'), text('store/talk.jsonl'));
  assert.deepEqual(readdirSync(path('store')), ['talk.jsonl']);
});

test('of a hard link the other name keeps the original, and the report says so', async (t) => {
  const { compact, path, text } = placeWith(t, { 'talk.jsonl': TALK });
  linkSync(path('talk.jsonl'), path('other.txt'));
  const { notes } = await compact('talk.jsonl');
  assert.deepEqual(notes, ['another name of this file (hard links) still leads to the original']);
  assert.equal(text('other.txt'), TALK);
  assert.notEqual(text('talk.jsonl'), TALK);
});

test('two names of one file are both compacted, and the second run leaves both alone', async (t) => {
  const { compact, path, text } = placeWith(t, { 'talk.jsonl': TALK });
  linkSync(path('talk.jsonl'), path('twin.jsonl'));
  assert.deepEqual((await compact('')).results, [
    ['talk.jsonl', 'compacted'],
    ['twin.jsonl', 'compacted'],
  ]);
  assert.equal(text('talk.jsonl'), text('twin.jsonl'));
  assert.deepEqual((await compact('')).results, [
    ['talk.jsonl', 'skipped', 'nothing-new'],
    ['twin.jsonl', 'skipped', 'nothing-new'],
  ]);
});

const SOMEBODY = { uid: 12_345, gid: 23_456 };
const isRoot = getuid?.() === 0;

test(
  'in a folder that passes its group on, a file keeps its own',
  { skip: !isRoot && 'only root may give away' },
  async (t) => {
    const { compact, path } = placeWith(t, { 'shared/': '' });
    chownSync(path('shared'), 0, SOMEBODY.gid);
    chmodSync(path('shared'), 0o2775);
    const talk = path('shared/talk.jsonl');
    writeFileSync(talk, TALK);
    chownSync(talk, 0, 0);
    assert.deepEqual((await compact('shared')).results, [['shared/talk.jsonl', 'compacted']]);
    assert.equal(statSync(talk).gid, 0);
  },
);

test(
  "a member of a group does not replace another's file: its owner could not write to it any more",
  { skip: !isRoot && 'only root may become somebody' },
  async (t) => {
    const { path, folder } = placeWith(t, { 'talk.jsonl': TALK });
    chmodSync(folder, 0o777);
    chownSync(path('talk.jsonl'), SOMEBODY.uid, SOMEBODY.gid);
    chmodSync(path('talk.jsonl'), 0o660);
    const member = ['setpriv', '--reuid=34567', '--regid=34567', `--groups=${SOMEBODY.gid}`];
    const args = ['-q', '--archive', path('archive.db'), path('talk.jsonl')];
    const denied = await runProcess(['-i', ...args], { wrapper: member });
    assert.equal(denied.code, 1);
    assert.match(
      denied.stderr,
      /talk\.jsonl: it is not yours, and its owner could not write to the new file\. Run compact as its owner, /,
    );
    assert.equal(readFileSync(path('talk.jsonl'), 'utf8'), TALK);
    assert.equal((await runProcess(args, { wrapper: member })).code, 0);
    const { uid, gid, mode } = statSync(path('talk.compact.jsonl'));
    assert.deepEqual({ uid, gid, mode: mode & 0o7777 }, { uid: 34_567, gid: SOMEBODY.gid, mode: 0o660 });
  },
);

test('two records that are glued together are told once and in short, and can be carried along by the configuration', async (t) => {
  const lines = TALK.split('\n');
  const glued = [...lines.slice(0, 4), `${lines[4]}${lines[5]}`, ...lines.slice(6)].join('\n');
  const { path, text } = placeWith(t, {
    'logs/a.jsonl': TALK,
    'logs/glued.jsonl': glued,
    'carrying.toml': '[transcript]\nkeep_invalid = true\n',
  });
  const compact = (...args: readonly string[]) => runHere(['-i', '--archive', path('archive.db'), ...args]);
  const inFolder = await compact(path('logs'));
  const column = (lines[4] ?? '').length + 1;
  const problem = 'not valid JSON (two records on one line)';
  const isAboutGlued = (line: string): boolean => line.includes('glued.jsonl');
  assert.deepEqual(
    [inFolder.code, inFolder.stderr.split('\n').filter(isAboutGlued)],
    [
      0,
      [
        `${path('logs/glued.jsonl')}: skipped, line 5, column ${column}: ${problem}; --keep-invalid carries such lines along`,
      ],
    ],
  );
  assert.match(inFolder.stderr, /^2 transcripts: 1 compacted, 1 skipped \(1 damaged\)$/m);
  const named = await compact(path('logs/glued.jsonl'));
  assert.deepEqual(
    [named.code, named.stderr],
    [1, `${path('logs/glued.jsonl')}:5:${column}: ${problem}. Use --keep-invalid to carry such lines along.\n`],
  );
  assert.equal(text('logs/glued.jsonl'), glued);
  const carried = await compact('--config', path('carrying.toml'), path('logs/glued.jsonl'));
  assert.equal(carried.code, 0, carried.stderr);
  const restored = await runHere(['restore', '--archive', path('archive.db'), path('logs/glued.jsonl')]);
  assert.equal(restored.stdout, glued);
});

test('a folder of damaged files repeats the reason of each, and how to carry such lines along once', async (t) => {
  const { path } = placeWith(t, {
    'logs/a.jsonl': TALK,
    'logs/b.jsonl': `${TALK}{"role":"us`,
    'logs/c.jsonl': `${TALK}{"role":"us`,
  });
  const problem = 'line 25, column 12: not valid JSON (unexpected end of line)';
  const told = [
    `${path('logs/b.jsonl')}: skipped, ${problem}; --keep-invalid carries such lines along`,
    `${path('logs/c.jsonl')}: skipped, ${problem}`,
  ];
  for (const args of [['-n'], ['score'], ['scan']]) {
    const { code, stderr } = await runHere([...args, '--archive', path('archive.db'), path('logs')]);
    assert.deepEqual([code, stderr.split('\n').filter((line) => line.includes(problem))], [0, told], args[0]);
  }
  const { stderr } = await runHere(['-n', '--archive', path('archive.db'), path('logs')]);
  assert.match(stderr, /^3 transcripts: 1 planned, 2 skipped \(2 damaged\); /m);
});

test('score and verify skip in a folder what is no transcript, and fail where it is named', async (t) => {
  const { path } = placeWith(t, {
    'logs/notes.jsonl': 'Dear diary\n',
    'logs/odd.jsonl': '{"price":1}\n',
    'logs/torn.jsonl': '{"role":"us\n',
    'logs/talk.jsonl': TALK,
  });
  for (const command of ['score', 'verify']) {
    const found = await runHere([command, path('logs')]);
    assert.equal(found.code, 0, found.stderr);
    assert.match(found.stderr, /notes\.jsonl: skipped, not a transcript: it looks like plain text\n/);
    assert.match(found.stderr, /odd\.jsonl: skipped, of no known format\n/);
    assert.match(found.stderr, /torn\.jsonl: skipped, line 1, column 12: not valid JSON/);
    for (const name of ['odd', 'torn']) assert.equal((await runHere([command, path(`logs/${name}.jsonl`)])).code, 1);
  }
});

test('a compacted file that something else overwrote fails the check of its folder', async (t) => {
  const home = folderWith(t, { 's/talk.jsonl': chatTranscript(30), 's/other.bin': '\0\u0001\0\u0002' });
  const place = { homeFolder: home, workingFolder: home };
  assert.equal((await runHere(['-i', join(home, 's/talk.jsonl')], '', place)).code, 0);
  assert.equal((await runHere(['verify', join(home, 's')], '', place)).code, 0);
  writeFileSync(join(home, 's/talk.jsonl'), Buffer.alloc(5000));
  for (const named of ['s', 's/talk.jsonl']) {
    const { code, stderr } = await runHere(['verify', join(home, named)], '', place);
    assert.equal(code, 1);
    assert.match(stderr, /talk\.jsonl: compact wrote a transcript here on \d{4}-\d\d-\d\d, and now it looks like/);
  }
});

test('why a file was not recognized is told with -v alone', async (t) => {
  const { path } = placeWith(t, { 'odd.jsonl': '{"price":1}\n' });
  for (const command of [[], ['score'], ['verify'], ['restore'], ['scan']]) {
    const short = await runHere([...command, path('odd.jsonl')]);
    const long = await runHere([...command, '-v', path('odd.jsonl')]);
    const start = `${path('odd.jsonl')}: of no known format. Give --format NAME if you know it (`;
    assert.ok(short.stderr.startsWith(start) && long.stderr.startsWith(start), short.stderr);
    assert.doesNotMatch(short.stderr, /no record has a role/);
    assert.match(long.stderr, /^ {2}not chat-lines: no record has a role$/m);
  }
});

test('messages whose words stand where they are not read are an error, and never a summary of nothing', async (t) => {
  const record = (at: number) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    segments: [{ type: 'text', text: `word number ${at} of a long story` }],
  });
  const lines = Array.from({ length: 40 }, (_, at) => `${JSON.stringify(record(at))}\n`).join('');
  const { path, text } = placeWith(t, { 'parts.jsonl': lines });
  const flags = ['-i', '--archive', path('archive.db'), '--format', 'chat-lines'];
  const { code, stderr } = await runHere([...flags, path('parts.jsonl')]);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `${path('parts.jsonl')}:1:1: a message of role user whose text is under segments, where it is not read. Use --keep-invalid to carry such lines along.\n`,
  );
  assert.equal(text('parts.jsonl'), lines);
  const carried = await runHere([...flags, '--keep-invalid', path('parts.jsonl')]);
  assert.equal(carried.code, 1);
  assert.match(carried.stderr, /no messages, only 40 opaque records/);
});
