import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { run } from '../../src/cli/run.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { chatTranscript, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal } from './fakes.ts';

/** Turns of a Claude Code session: a prompt, a call, its result, and an answer. */
function turns(from: number, count: number): string {
  const lines = Array.from({ length: count }, (_, turn) => {
    const at = from + turn;
    const said = [
      { type: 'user', content: `Prompt ${at}. ${prose(at, 60)}` },
      { type: 'assistant', content: [{ type: 'tool_use', id: `call-${at}`, name: 'Read', input: { at } }] },
      {
        type: 'user',
        content: [{ type: 'tool_result', tool_use_id: `call-${at}`, content: `Result ${at}. ${prose(at + 300, 60)}` }],
      },
      { type: 'assistant', content: [{ type: 'text', text: `Answer ${at}. ${prose(at + 600, 60)}` }] },
    ];
    return said.map(({ type, content }, part) => {
      const index = 4 * at + part;
      const place = { uuid: uuidOf(index), parentUuid: index === 0 ? null : uuidOf(index - 1), sessionId: 's' };
      return { type, ...place, timestamp: '2026-03-02T10:00:00.000Z', message: { role: type, content } };
    });
  });
  return lines
    .flat()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function uuidOf(index: number): string {
  return `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

function homeWith(t: TestContext, files: Readonly<Record<string, string>>) {
  const home = folderWith(t, files);
  const compact = async (...argv: readonly string[]) => {
    const named = argv.map((arg) => (arg in files ? join(home, arg) : arg));
    const terminal = createFakeTerminal(named, { homeFolder: home, workingFolder: home });
    const code = await run({ terminal, loadUseCases: async () => createUseCases });
    return { code, out: terminal.out(), errors: terminal.errors() };
  };
  const report = async (...argv: readonly string[]): Promise<CompactReport> => {
    const { code, out, errors } = await compact('--json', ...argv);
    assert.equal(code, 0, errors);
    return JSON.parse(out);
  };
  return { home, compact, report, read: (name: string) => readFileSync(join(home, name), 'utf8') };
}

const RESULT = uuidOf(6);
const WORDS = `Result 1. ${prose(301, 60)}`;
const SMALL = ['--keep-recent', '2', '--keep-recent-tokens', '0'] as const;

test('a pinned result stays word for word with its call through three compactions, until it is no longer kept', async (t) => {
  const { home, compact, report, read } = homeWith(t, { 's.jsonl': turns(0, 8) });
  const shows = (): boolean => read('s.jsonl').includes(WORDS);
  await report('-n', ...SMALL, '--keep', '00000006', 's.jsonl');
  await report('--preview', ...SMALL, '--keep', '00000006', 's.jsonl');
  assert.equal((await report('-n', ...SMALL, 's.jsonl')).pinned, undefined);

  const first = await report('-i', ...SMALL, '--keep', '00000006', 's.jsonl');
  assert.deepEqual([first.result, first.pinned], ['compacted', [RESULT]]);
  assert.ok(first.notes.includes('1 message is pinned'));
  assert.ok(shows());
  assert.match(read('s.jsonl'), /Read[^\n]{0,40}\bat\b[^\n]{0,6}1/);
  assert.equal((await report('-i', ...SMALL, 's.jsonl')).reason, 'nothing-new');

  for (const [from, target] of [
    [8, []],
    [16, ['--target', '50']],
  ] as const) {
    appendFileSync(join(home, 's.jsonl'), turns(from, 8));
    const planned = await compact('-n', ...SMALL, ...target, 's.jsonl');
    assert.match(planned.errors + planned.out, /1 message is pinned/);
    const next = await report('-i', ...SMALL, ...target, 's.jsonl');
    assert.deepEqual([next.result, next.pinned], ['compacted', [RESULT]]);
    assert.ok(shows());
    if (target.length > 0) assert.match(next.notes.join('\n'), /the target of 50 tokens was missed/);
  }
  assert.equal((await compact('verify', 's.jsonl')).code, 0);

  appendFileSync(join(home, 's.jsonl'), turns(24, 40));
  const last = await report('-i', ...SMALL, '--unkeep', '00000006', 's.jsonl');
  assert.deepEqual([last.result, last.pinned], ['compacted', undefined]);
  assert.ok(!shows());
  const restored = await compact('restore', '--all', '-o', '-', 's.jsonl');
  assert.equal(restored.out, turns(0, 64));
});

test('a message without an id is known by its line, wherever that is', async (t) => {
  const { home, report, read } = homeWith(t, { 'talk.jsonl': chatTranscript(30) });
  const line = read('talk.jsonl').split('\n')[8] ?? '';
  await report('-i', ...SMALL, '--keep', 'line:9', 'talk.jsonl');
  appendFileSync(join(home, 'talk.jsonl'), chatTranscript(30, 100));
  assert.equal((await report('-i', ...SMALL, 'talk.jsonl')).result, 'compacted');
  const lines = read('talk.jsonl').split('\n');
  assert.deepEqual((await report('-n', ...SMALL, 'talk.jsonl')).pinned, [`line:${lines.indexOf(line) + 1}`]);
  assert.ok(lines.indexOf(line) > 0);
});

test('a pin is remembered by a run that has nothing to do, and changes nothing in a file that has the message', async (t) => {
  const { report } = homeWith(t, { 's.jsonl': turns(0, 8), 'small.jsonl': turns(0, 1) });
  const skipped = await report('-i', '--keep', uuidOf(1), 'small.jsonl');
  assert.deepEqual([skipped.reason, skipped.pinned], ['too-short', [uuidOf(1)]]);
  assert.deepEqual((await report('-n', 'small.jsonl')).pinned, [uuidOf(1)]);
  await report('-i', ...SMALL, 's.jsonl'); // the same session
  const again = await report('-i', ...SMALL, '--keep', uuidOf(31), 's.jsonl');
  assert.deepEqual([again.reason, again.pinned], ['nothing-new', [uuidOf(1), uuidOf(31)]]);
  assert.equal((await report('-i', ...SMALL, 's.jsonl')).reason, 'nothing-new');
});

test('an unknown or unclear id is an error that names the help, and nothing is written', async (t) => {
  const { home, compact, read } = homeWith(t, { 's.jsonl': turns(0, 8), 'other.jsonl': turns(40, 1) });
  for (const [args, message] of [
    [['--keep', 'nonesuch', 's.jsonl'], /nonesuch is not a message in it now.*score -v.*show nonesuch/],
    [['--keep', '000000', 's.jsonl'], /000000 names 32 messages: 00000000-.*score -v/],
    [['--unkeep', RESULT, 's.jsonl'], /00000006.* is not pinned/],
  ] as const) {
    const { code, errors } = await compact('-i', ...SMALL, ...args);
    assert.equal(code, 1);
    assert.match(errors, message);
  }
  const several = await compact('--keep', RESULT, 's.jsonl', 'other.jsonl');
  assert.deepEqual([several.code, /name messages of one transcript/.test(several.errors)], [2, true]);
  assert.equal(read('s.jsonl'), turns(0, 8));
  assert.ok(!existsSync(join(home, '.local/share/compact/archive.db')));
});

test('a pin goes with an export and a merge, and is erased with its message or conversation', async (t) => {
  const { home, compact, report } = homeWith(t, { 's.jsonl': turns(0, 8) });
  await report('-i', ...SMALL, '--keep', RESULT, 's.jsonl');
  const pinned = async (archive: readonly string[]) => (await report('-n', ...SMALL, ...archive, 's.jsonl')).pinned;
  const done = async (...argv: readonly string[]): Promise<void> => {
    const { code, errors } = await compact(...argv);
    assert.equal(code, 0, errors);
  };
  const [imported, merged] = [join(home, 'imported.db'), join(home, 'merged.db')];
  await done('archive', 'export', '--jsonl', join(home, 'export'));
  await done('archive', 'import', join(home, 'export'), '--archive', imported);
  assert.deepEqual(await pinned(['--archive', imported]), [RESULT]);
  await done('archive', 'merge', imported, '--archive', merged);
  assert.deepEqual(await pinned(['--archive', merged]), [RESULT]);
  await done('archive', 'erase', '--message', RESULT, '--yes', '--archive', merged);
  assert.equal(await pinned(['--archive', merged]), undefined);
  await done('archive', 'erase', '--conversation', 's', '--yes', '--archive', imported);
  await done('archive', 'export', '--jsonl', join(home, 'rest'), '--archive', imported);
  const pins = (folder: string): boolean =>
    readdirSync(join(home, folder)).some((name) => readFileSync(join(home, folder, name), 'utf8').includes('"pin"'));
  assert.deepEqual([pins('export'), pins('rest')], [true, false]);
});
