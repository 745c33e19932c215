import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { folderWith } from '../support/folders.ts';
import { readBlocks } from './pages.ts';
import { copyFixture, createShell, ROOT } from './shell.ts';

// Needs `dist`: `npm test` builds first.

/** The report of one run over a copy of a fixture, and the lines of the summary that it wrote. */
function compactFixture(t: TestContext, fixture: string) {
  const folder = folderWith(t, {});
  const { home, run } = createShell(folder);
  copyFixture(fixture, join(folder, 'work/session.jsonl'));
  const { code, output } = run('compact session.jsonl');
  assert.equal(code, 0, output);
  const records = readFileSync(join(folder, 'work/session.compact.jsonl'), 'utf8').trimEnd().split('\n');
  const texts = records.flatMap((record) => findTexts(JSON.parse(record)));
  const summary = texts.find((text) => text.startsWith('[Context Summary'));
  assert.ok(summary);
  return { report: output.replaceAll(home, '/home/you'), summary: summary.split('\n') };
}

function findTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(findTexts) : [];
}

/** One run for all pages that show it. */
function compactSession(t: TestContext) {
  return (ofSession ??= compactFixture(t, SESSION));
}

let ofSession: ReturnType<typeof compactFixture> | undefined;

/** The lines of a block that are not in the summary. "…" stands for left out lines, or for the rest of one. */
function findInvented(block: string, summary: readonly string[]): readonly string[] {
  const shown = block.trimEnd().split('\n');
  return shown.filter((line) => {
    const start = line.replace(/ ?…$/, '');
    const isCut = start !== line;
    return !summary.some((real) => (isCut ? real.startsWith(start) : real === line));
  });
}

const SESSION = 'claude-code/session.jsonl';

test('the report in docs/everyday.md is what the program prints', (t) => {
  const [report] = readBlocks('docs/everyday.md', 'text');
  assert.equal(report, compactSession(t).report);
});

test('the summary in the README, and the last line in docs/summaries.md, are from a real run', (t) => {
  const { summary } = compactSession(t);
  const blocks = [...readBlocks('README.md', 'text'), ...readBlocks('docs/summaries.md', 'text')];
  assert.equal(blocks.length, 2);
  assert.deepEqual(
    blocks.flatMap((block) => findInvented(block, summary)),
    [],
  );
});

// Needs `dist`: `npm test` builds first.
test('the examples in docs/library.md run, one after the other, and print what they should', (t) => {
  const [modules, common] = [readBlocks('docs/library.md', 'js'), readBlocks('docs/library.md', 'cjs')];
  const files = [
    ...modules.map((text, index) => [`${index}.mjs`, text] as const),
    ...common.map((text, index) => [`${index}.cjs`, text] as const),
  ];
  const all = files.map(([name]) => `await import('./${name}');\n`).join('');
  const folder = folderWith(t, { ...Object.fromEntries(files), 'all.mjs': all });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/compact-transcript'));
  copyFixture('claude-code/session.jsonl', join(folder, 'session.jsonl'));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['all.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(stdout.trim().replaceAll(/:\d+ /g, ':N ').split('\n'), [
    '1',
    'compacted session.compact.jsonl 43',
    'verified 0',
    '51615',
    'message:N message',
    'message:N message',
    'message:N message',
    '3',
    'true',
    '35 6 false',
    'verified',
  ]);
});

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/formats.md'), 'utf8');

test('docs/formats.md lists the formats that compact --formats prints, in its words', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'));
  assert.deepEqual(
    rows.map((row) => row.replaceAll('`', '')),
    formatRegistry.list().map(({ name, summary }) => `| ${name} | ${summary} |`),
  );
});
