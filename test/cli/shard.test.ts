import assert from 'node:assert/strict';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assert as assertProperty, integer, property, string } from 'fast-check';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { findInputs } from '../../src/cli/inputs/inputs.ts';
import { run } from '../../src/cli/run.ts';
import { isInShard } from '../../src/cli/inputs/shard.ts';
import { chatTranscript } from '../support/chat.ts';
import { codePoint } from '../support/code-points.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal } from './fakes.ts';
import { jsonLines } from '../support/program.ts';

const shardsOf = (path: string, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => at + 1).filter((index) => isInShard(path, { index, count }));

test('every path belongs to exactly one shard, whatever else is there', () => {
  assertProperty(
    property(string({ unit: codePoint }), integer({ min: 1, max: 40 }), (path, count) => {
      assert.equal(shardsOf(path, count).length, 1);
    }),
  );
});

test('shards are about equal, and neither separators nor the spelling of accents change them', () => {
  const counts = [0, 0, 0, 0];
  for (let at = 0; at < 2000; at += 1) {
    const shard = (shardsOf(`2026/session-${at}.jsonl`, 4)[0] ?? 0) - 1;
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  assert.ok(
    counts.every((count) => count > 430 && count < 570),
    counts.join(),
  );
  assert.deepEqual(shardsOf('a/b/caf\u00e9.jsonl', 97), shardsOf('a\\b\\cafe\u0301.jsonl', 97));
  // Part of the contract: workers of different versions may share the work.
  assert.deepEqual(
    [1, 2, 3, 4, 5, 97].map((count) => shardsOf('a/x.jsonl', count)[0]),
    EXPECTED,
  );
});

const EXPECTED = [1, 2, 3, 4, 2, 10];

test('a path is relative to its folder, or to what precedes the first wildcard, wherever that is mounted', async (t) => {
  const names = ['a/x.jsonl', 'a/b/y.jsonl', 'z.jsonl'];
  const folder = folderWith(
    t,
    Object.fromEntries(
      names.flatMap((name) => [
        [`m/${name}`, ''],
        [`n/o/${name}`, ''],
      ]),
    ),
  );
  const pathsOf = async (operand: string) =>
    (await findInputs([operand], { skipsCompacted: true })).files.map(({ pathInOperand }) => pathInOperand);
  const expected = names.toSorted();
  for (const operand of ['m', 'n/o/', 'm/**/*.jsonl', 'n/o/**/*.jsonl', 'n/../m/{a,a/b,.}/*.jsonl'])
    assert.deepEqual((await pathsOf(join(folder, operand))).toSorted(), expected, operand);
  assert.deepEqual(await pathsOf(join(folder, 'm/a/x.jsonl')), ['x.jsonl']);
});

test('the shards of a glob compact every file once, each with an archive of its own', async (t) => {
  const names = Array.from({ length: 12 }, (_, at) => `${at}.jsonl`);
  const folder = folderWith(t, Object.fromEntries(names.map((name) => [`logs/${name}`, chatTranscript(40)])));
  const compacted: string[] = [];
  for (const index of [1, 2, 3]) {
    const argv = ['-i', '--json', '--shard', `${index}/3`, '--archive', join(folder, `${index}.db`)];
    const terminal = createFakeTerminal([...argv, join(folder, 'logs/*.jsonl')]);
    assert.equal(await run({ terminal, loadUseCases: async () => createUseCases }), 0);
    const files: readonly string[] = jsonLines(terminal.out()).map(({ file }) => file.slice(folder.length + 6));
    assert.match(terminal.errors(), new RegExp(`^Shard ${index}/3: ${files.length} of 12 files\\.\n`));
    compacted.push(...files);
  }
  assert.deepEqual(compacted.toSorted(), names.toSorted());
});

test('a shard without files has nothing to do', async (t) => {
  const folder = folderWith(t, { 'logs/a.jsonl': chatTranscript(40) });
  const index = isInShard('a.jsonl', { index: 1, count: 2 }) ? 2 : 1;
  const terminal = createFakeTerminal(['-i', '--shard', `${index}/2`, join(folder, 'logs')]);
  assert.equal(await run({ terminal, loadUseCases: async () => createUseCases }), 0);
  assert.match(terminal.errors(), new RegExp(`^Shard ${index}/2: 0 of 1 file\\.\n`));
});

test('a minimum idle time holds for transcripts that are replaced and that nobody named', async (t) => {
  const folder = folderWith(t, { 'logs/a.jsonl': chatTranscript(40) });
  const asked: unknown[] = [];
  const watching: typeof createUseCases = (composition) => {
    const useCases = createUseCases(composition);
    return {
      ...useCases,
      compactFile: (request, progress) => {
        asked.push([request.minIdleMs, request.mustBeIdle]);
        return useCases.compactFile(request, progress);
      },
    };
  };
  const [named, found] = [join(folder, 'logs/a.jsonl'), join(folder, 'logs')];
  for (const args of [
    ['-i', '-n', found],
    ['-n', found],
    ['-i', '-n', named],
    ['-i', '-n', '--config', 'min_idle_minutes', found],
    ['-n', '--min-idle', '90s', named],
  ]) {
    const config = join(folder, 'c.toml');
    writeFileSync(config, '[transcript]\nmin_idle_minutes = 0\n');
    const argv = args.map((arg) => (arg === 'min_idle_minutes' ? config : arg));
    const terminal = createFakeTerminal([...argv, '--archive', join(folder, 'a.db')]);
    assert.equal(await run({ terminal, loadUseCases: async () => watching }), 0, terminal.errors());
  }
  const [none, asSet] = [undefined, (ms: number) => [ms, undefined]];
  assert.deepEqual(asked, [asSet(600_000), [none, none], [none, none], asSet(0), [90_000, true]]);
});

test('a link that takes the place of a transcript after a folder was searched is not followed', async (t) => {
  const original = chatTranscript(40);
  const folder = folderWith(t, { 'logs/a.jsonl': original, 'private.jsonl': original });
  const [found, outside] = [join(folder, 'logs/a.jsonl'), join(folder, 'private.jsonl')];
  const planting: typeof createUseCases = (composition) => {
    const useCases = createUseCases(composition);
    return {
      ...useCases,
      compactFile: (request, progress) => {
        rmSync(found);
        symlinkSync(outside, found);
        return useCases.compactFile(request, progress);
      },
    };
  };
  const list = join(folder, 'list');
  writeFileSync(list, found);
  const archive = ['--archive', join(folder, 'a.db')];
  for (const args of [
    ['-i', join(folder, 'logs')],
    ['-i', join(folder, 'logs/*.jsonl')],
    ['-i', '--files-from', list],
  ]) {
    rmSync(found);
    writeFileSync(found, original);
    const terminal = createFakeTerminal([...args, ...archive]);
    assert.equal(await run({ terminal, loadUseCases: async () => planting }), 1);
    assert.match(terminal.errors(), /a\.jsonl: not a file: it is a link/);
    assert.equal(readFileSync(outside, 'utf8'), original);
  }
  // A link that a glob or a list found as one, or that is named, is followed; a folder's own are passed over.
  for (const [args, message] of [
    [['-n', '-i', join(folder, 'logs')], /no transcripts found/],
    [['-n', '-i', join(folder, 'logs/*.jsonl')], /a\.jsonl/],
    [['-n', '-i', '--files-from', list], /a\.jsonl/],
    [['-i', found], /a\.jsonl/],
  ] as const) {
    const terminal = createFakeTerminal([...args, ...archive]);
    assert.equal(await run({ terminal, loadUseCases: async () => createUseCases }), 0, terminal.errors());
    assert.match(terminal.errors(), message);
  }
  assert.notEqual(readFileSync(outside, 'utf8'), original);
});
