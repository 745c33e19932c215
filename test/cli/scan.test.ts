import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type CreateUseCases, createUseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { jsonLines, runHere } from '../support/program.ts';
import { asReport } from '../support/report-schemas.ts';
import { STORED_SESSIONS } from '../support/stored-sessions.ts';
import { createFakeTerminal, createFakeUseCases, type TerminalOptions } from './fakes.ts';

const [CHAT, CLAUDE, CODEX] = ['chat-lines', 'claude-code', 'codex'].map(
  (name) => STORED_SESSIONS.find(({ format }) => format === name)?.first ?? '',
);

async function scanned(
  args: readonly string[],
  options: TerminalOptions = {},
  create: CreateUseCases = createUseCases,
) {
  const terminal = createFakeTerminal(['scan', ...args], options);
  const code = await run({ terminal, loadUseCases: () => Promise.resolve(create) });
  return { code, out: terminal.out(), errors: terminal.errors() };
}

/** The files of `--json`, in order; every line is held to its schema. */
async function filesOf(args: readonly string[], options: TerminalOptions = {}): Promise<readonly string[]> {
  const { out } = await scanned(['--json', ...args], options);
  return jsonLines(out).map((line) => asReport('scan', line).file);
}

test('without a folder, transcripts are found where Claude Code and Codex were told to keep them', async (t) => {
  const home = folderWith(t, {
    'claude/projects/-work-harbor/one.jsonl': CLAUDE ?? '',
    'codex/sessions/2026/05/05/rollout-1.jsonl': CODEX ?? '',
    'codex/archived_sessions/rollout-2.jsonl': CODEX ?? '',
    'kimi/sessions/a/b/context.jsonl': CHAT ?? '',
    'kimi/sessions/a/b/wire.jsonl': CHAT ?? '',
  });
  const at = (path: string): string => join(home, path);
  const environment = { CLAUDE_CONFIG_DIR: at('claude'), CODEX_HOME: at('codex'), KIMI_SHARE_DIR: at('kimi') };
  const all = [
    'claude/projects/-work-harbor/one.jsonl',
    'codex/archived_sessions/rollout-2.jsonl',
    'codex/sessions/2026/05/05/rollout-1.jsonl',
    'kimi/sessions/a/b/context.jsonl',
  ];
  assert.deepEqual(await filesOf(['--sort', 'path'], { environment }), all.map(at));
  assert.deepEqual(await filesOf(['--format', 'claude-code'], { environment }), all.slice(0, 1).map(at));
});

test('only named folders are searched; our own results are skipped', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(9), 'd/b.jsonl': chatTranscript(9), 'c.compact.jsonl': '' });
  const environment = { CLAUDE_CONFIG_DIR: folderWith(t, { 'projects/p/x.jsonl': CLAUDE ?? '' }) };
  assert.deepEqual(await filesOf([join(folder, 'd')], { environment }), [join(folder, 'd/b.jsonl')]);
  assert.equal((await filesOf([folder], { environment })).length, 2);
});

test('the order is the one asked for, by default the largest saving first', async (t) => {
  const folder = folderWith(t, {
    'a.jsonl': chatTranscript(40),
    'b.jsonl': chatTranscript(90),
    'c.jsonl': chatTranscript(60),
    'd.jsonl': CLAUDE ?? '',
  });
  const order = async (...args: readonly string[]) =>
    (await filesOf([...args, folder])).map((file) => file.slice(folder.length + 1, -'.jsonl'.length)).join('');
  assert.equal((await order()).slice(0, 2), 'bc');
  assert.equal(await order('--sort', 'size'), 'bcad');
  assert.equal(await order('--sort', 'tokens'), 'bcad');
  assert.equal(await order('--sort', 'path'), 'abcd');
  assert.equal((await order('--sort', 'age'))[0], 'd');
});

test('what is small or young is left out', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(3), 'b.jsonl': CLAUDE ?? '' });
  assert.deepEqual(await filesOf(['--larger-than', '10kB', folder]), [join(folder, 'b.jsonl')]);
  assert.deepEqual(await filesOf(['--older-than', '1h', folder]), [join(folder, 'b.jsonl')]);
});

test('a compressed transcript is unpacked within the limit that is given, also by the command to try next', async (t) => {
  const folder = folderWith(t, {});
  const file = join(folder, 'talk.jsonl.gz');
  writeFileSync(file, gzipSync(chatTranscript(30)));
  const refused = await scanned(['--max-unpacked', '2kB', file]);
  assert.deepEqual([refused.code, refused.out], [1, '']);
  assert.match(refused.errors, /give --max-unpacked SIZE/);
  const { code, errors } = await scanned(['--max-unpacked', '1MB', folder]);
  assert.equal(code, 0);
  assert.match(errors, new RegExp(`^  compact --max-unpacked 1MB -n ${file}$`, 'm'));
});

test('a project comes from the records, or else from the folder of the file', async (t) => {
  const snapshot = '{"type":"file-history-snapshot","messageId":"m","snapshot":{}}\n';
  const folder = folderWith(t, {
    'harbor/a.jsonl': chatTranscript(9),
    'harbor/b.jsonl': CLAUDE ?? '',
    'harbor/begins-with-notes.jsonl': snapshot.repeat(200) + (CLAUDE ?? ''),
  });
  const { out } = await scanned(['--json', '--sort', 'path', folder]);
  assert.deepEqual(
    jsonLines(out).map(({ project }) => project),
    ['harbor', '/w', '/w'],
  );
});

test('lines are one per project, program or month if that is asked for, as many as are asked for', async (t) => {
  const folder = folderWith(t, {
    'harbor/a.jsonl': chatTranscript(40),
    'harbor/b.jsonl': CLAUDE ?? '',
    'pier/c.jsonl': CODEX ?? '',
  });
  const grouped = async (...args: readonly string[]) => {
    const { code, out, errors } = await scanned(['--json', ...args, folder]);
    assert.equal(code, 0, errors);
    return jsonLines(out)
      .map((line) => asReport('scan-by', line))
      .map(({ name, transcripts }) => [name, transcripts]);
  };
  assert.deepEqual(await grouped('--by', 'program', '--sort', 'path'), [
    ['Claude Code', 1],
    ['Codex', 1],
    ['chat-lines', 1],
  ]);
  assert.deepEqual(await grouped('--by', 'project', '--sort', 'path'), [
    ['/w', 2],
    ['harbor', 1],
  ]);
  assert.deepEqual((await grouped('--by', 'month', '--sort', 'age'))[0], ['2026-05', 2]);
  assert.equal((await grouped('--by', 'program', '--limit', '2')).length, 2);
  const { out } = await scanned(['--by', 'program', folder]);
  assert.match(out, /^ *saves .* transcripts group\n/);
  assert.match(out, /\n3 transcripts, /);
});

test('a terminal shows as many rows as fit, a pipe all of them, and --limit what it says', async (t) => {
  const files = Array.from({ length: 9 }, (_, at) => [`${at}.jsonl`, chatTranscript(30)] as const);
  const folder = folderWith(t, Object.fromEntries(files));
  const rowsIn = ({ out }: { readonly out: string }): number => out.match(/\d\.jsonl/g)?.length ?? 0;
  const screen = await scanned([folder], { isTerminal: true, widthColumns: 120, heightRows: 17 });
  assert.deepEqual([rowsIn(screen), screen.out.includes('and 3 more (--limit)')], [6, true]);
  assert.equal(rowsIn(await scanned([folder])), 9);
  assert.equal(rowsIn(await scanned(['--limit', '2', folder])), 2);
  assert.equal((await filesOf(['--limit', '2', folder])).length, 2);
  assert.equal((await scanned(['--limit', '2', '-0', folder])).out.split('\0').length, 3);
});

test('paths alone, each ended by a NUL, are what --files-from takes', async (t) => {
  const folder = folderWith(t, { 'a\nb.jsonl': chatTranscript(30), 'c.jsonl': chatTranscript(40) });
  const { code, out } = await scanned(['-0', folder]);
  assert.deepEqual([code, out], [0, `${join(folder, 'c.jsonl')}\0${join(folder, 'a\nb.jsonl')}\0`]);
  const archive = join(folder, '.archive.db');
  const piped = await runHere(['-i', '--json', '--archive', archive, '--files-from', '-'], out);
  const results = jsonLines(piped.stdout).map(({ result }) => result);
  assert.deepEqual([piped.code, results], [0, ['compacted', 'compacted']]);
  const again = await scanned(['--json', '--archive', archive, folder]);
  const reasons = jsonLines(again.out).map(({ reason }) => reason);
  assert.deepEqual(reasons, ['nothing-new', 'nothing-new']);
});

test('a table on stdout, and the command to try next on stderr', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(60) });
  const { code, out, errors } = await scanned([folder], { widthColumns: 60 });
  assert.equal(code, 0);
  assert.match(
    out,
    /^ *saves +tokens .*\n.*a\.jsonl +\w.*\n1 transcript, .*\ncompaction saves at least [\d,]+ tokens \(\d+ %\)\n/,
  );
  assert.match(errors, /\n {2}compact scan .* -0 \| compact -i --files-from -\n$/);
  assert.equal((await scanned(['-q', folder])).errors, '');
});

test('a damaged file in a folder is reported and is no failure; if it is named, it is one', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': `${CLAUDE ?? ''}{"torn`, 'b.jsonl': CLAUDE ?? '' });
  const { code, out, errors } = await scanned(['-0', folder]);
  assert.deepEqual([code, out], [0, `${join(folder, 'b.jsonl')}\0`]);
  assert.match(
    errors,
    /a\.jsonl: skipped, line 65, column 7: not valid JSON \(.*\); --keep-invalid carries .*\n1 file skipped that/,
  );
  assert.equal((await scanned(['-0', join(folder, 'a.jsonl')])).code, 1);
  const carried = await scanned(['-0', '--keep-invalid', folder]);
  assert.deepEqual([carried.code, carried.out.split('\0').length], [0, 3]);
});

test('a file that vanishes during the scan is reported, and the others are still scanned', async (t) => {
  const folder = folderWith(t, {
    'a.jsonl': chatTranscript(9),
    'b.jsonl': chatTranscript(9),
    'c.jsonl': chatTranscript(9),
  });
  const create: CreateUseCases = (composition) => {
    const real = createUseCases(composition);
    return {
      ...real,
      scanFile: (request, progress) => {
        rmSync(join(folder, 'b.jsonl'), { force: true });
        return real.scanFile(request, progress);
      },
    };
  };
  const { code, out, errors } = await scanned(['-0', '--sort', 'path', folder], {}, create);
  assert.deepEqual([code, out], [1, `${join(folder, 'a.jsonl')}\0${join(folder, 'c.jsonl')}\0`]);
  assert.match(errors, /b\.jsonl: no such file or folder/);
});

test('a file that is not a transcript is skipped and counted, unless it was named', async (t) => {
  const folder = folderWith(t, {
    'a.jsonl': chatTranscript(9),
    'b.jsonl': '',
    'c.jsonl': '{"price":1}\n',
    'd.jsonl': 'x\n',
  });
  const { code, out, errors } = await scanned(['-0', folder]);
  assert.deepEqual([code, out], [0, `${join(folder, 'a.jsonl')}\0`]);
  assert.equal(errors, '3 files skipped that cannot be compacted; -v names them.\n');
  assert.match(
    (await scanned(['-0', '-v', folder])).errors,
    /c\.jsonl: skipped, of no known format\n {2}not claude-code: /,
  );
  assert.equal((await scanned(['-0', join(folder, 'c.jsonl')])).code, 1);
});

test('that nothing was found is an answer, and it is told where was looked', async (t) => {
  const none = await scanned([]);
  assert.deepEqual([none.code, none.out], [0, '']);
  assert.match(none.errors, /^No transcripts found\. Looked in:\n {2}\/nowhere\/home\/\.claude\/projects\/\*\n/);
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(9) });
  const small = await scanned(['--json', '--larger-than', '1GB', folder]);
  assert.deepEqual([small.code, small.out, small.errors], [0, '', 'None of 1 file is a transcript that matches.\n']);
});

test('a format that is asked for is looked for in its own places alone', async () => {
  assert.equal(
    (await scanned(['--format', 'codex'])).errors,
    'No transcripts found. Looked in:\n  /nowhere/home/.codex/sessions\n  /nowhere/home/.codex/archived_sessions\n',
  );
});

test('a transcript that stands in two places, by way of a link, is found once', async (t) => {
  const home = folderWith(t, { 'kimi/sessions/a/context.jsonl': chatTranscript(9) });
  symlinkSync(join(home, 'kimi'), join(home, 'link'));
  const environment = { KIMI_SHARE_DIR: join(home, 'kimi'), CODEX_HOME: join(home, 'link') };
  assert.deepEqual(await filesOf([], { environment }), [join(home, 'link/sessions/a/context.jsonl')]);
});

test('an archive that cannot be read is told once, not for each transcript that was compacted', async (t) => {
  const folder = folderWith(t, {
    'a.jsonl': chatTranscript(30),
    'b.jsonl': chatTranscript(40),
    'broken.db': 'x'.repeat(5000),
  });
  await runHere(['-i', '-q', '--archive', join(folder, '.archive.db'), folder]);
  const { code, out, errors } = await scanned(['--json', '--archive', join(folder, 'broken.db'), folder]);
  assert.deepEqual([code, out], [1, '']);
  assert.match(errors, /^[^\n]*broken\.db: not an archive of compact[^\n]*\n$/);
});

test('the settings of a scan are those of a compaction, also of whether secrets are masked', async (t) => {
  const settings = { 'compact.toml': '[summarization]\nprovider = "anthropic"\nname = "m"\nkeep_recent = 7\n' };
  const requestWith = async (files: Readonly<Record<string, string>>) => {
    const { calls, loadUseCases } = createFakeUseCases();
    const folder = folderWith(t, { ...files, 'x.jsonl': '' });
    const terminal = createFakeTerminal(['scan', folder, '--trust-config'], { workingFolder: folder });
    assert.equal(await run({ terminal, loadUseCases }), 0);
    return calls.find(({ name }) => name === 'survey')?.request;
  };
  assert.partialDeepStrictEqual(await requestWith(settings), {
    provider: 'anthropic',
    modelName: 'm',
    isMasked: true,
    policy: { compaction: { keepRecent: 7 } },
  });
  const plain = await requestWith({});
  assert.ok(typeof plain === 'object' && plain !== null && !('isMasked' in plain));
});

test('nothing is made by a scan: no archive, no lock, no file beside another', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(30) });
  const data = join(folder, 'data');
  assert.equal((await scanned([folder], { environment: { XDG_DATA_HOME: data } })).code, 0);
  assert.deepEqual([existsSync(data), readdirSync(folder)], [false, ['a.jsonl']]);
});

test('an interrupted scan prints no half of an answer', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(9) });
  const terminal = createFakeTerminal(['scan', '--json', folder]);
  const { loadUseCases } = createFakeUseCases({
    scanFile: () => {
      terminal.interrupt();
      return Promise.resolve({ ok: false, error: { kind: 'interrupted' } });
    },
  });
  assert.deepEqual([await run({ terminal, loadUseCases }), terminal.out(), terminal.errors()], [130, '', '']);
});

test('an error that nobody expected is of one transcript alone', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(9), 'b.jsonl': chatTranscript(9) });
  const create: CreateUseCases = (composition) => {
    const real = createUseCases(composition);
    return {
      ...real,
      scanFile: (request, progress) =>
        request.input.name.endsWith('a.jsonl') ? Promise.reject(new Error('oh')) : real.scanFile(request, progress),
    };
  };
  const { code, out, errors } = await scanned(['-0', folder], {}, create);
  assert.deepEqual([code, out], [1, `${join(folder, 'b.jsonl')}\0`]);
  assert.match(errors, /a\.jsonl: .*oh/s);
});
