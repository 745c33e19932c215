import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { folderWith } from '../support/folders.ts';
import { readBlocks } from './pages.ts';
import { copyFixture, createShell } from './shell.ts';

// Needs `dist`: `npm test` builds first.

/** The report of one run over a copy of a fixture, and the lines of the summary that it wrote. */
function compactFixture(t: TestContext, fixture: string, flags = '') {
  const folder = folderWith(t, {});
  const { home, run } = createShell(folder);
  copyFixture(fixture, join(folder, 'work/session.jsonl'));
  const { code, output } = run(`compact ${flags} session.jsonl`);
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
  assert.equal(report, compactFixture(t, SESSION).report);
});

test('the summary in the README, and the last line in docs/summaries.md, are from a real run', (t) => {
  const { summary } = compactFixture(t, SESSION);
  const blocks = [...readBlocks('README.md', 'text'), ...readBlocks('docs/summaries.md', 'text')];
  assert.equal(blocks.length, 2);
  assert.deepEqual(
    blocks.flatMap((block) => findInvented(block, summary)),
    [],
  );
});

test('the examples in docs/quality.md are from real runs', (t) => {
  const [session = '', talk = ''] = readBlocks('docs/quality.md', 'text');
  const flags = '--keep-recent 1 --keep-recent-tokens 0';
  assert.ok(session !== '' && talk !== '');
  assert.deepEqual(findInvented(session, compactFixture(t, SESSION).summary), []);
  assert.deepEqual(findInvented(talk, compactFixture(t, 'chat-lines/conversation.jsonl', flags).summary), []);
});
