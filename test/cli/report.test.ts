import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { OutcomesReport } from '../../src/app/survey/list-outcomes.ts';
import { run } from '../../src/cli/run.ts';
import { openInBrowser, showInPager } from '../../src/cli/commands/report.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { type Ended, runHere } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';
import { createFakeTerminal } from './fakes.ts';
import { type Place, placeWith as place } from '../support/place.ts';

const TALK = chatTranscript(30);
const SESSION = join(import.meta.dirname, '../../fixtures/transcripts/claude-code/session.jsonl');
const MESSAGES = TALK.trimEnd().split('\n').length;

const placeWith = (t: TestContext, files: Readonly<Record<string, string>> = { 'a.jsonl': TALK }): Place =>
  place(t, files);

async function readOutcomes({ compact }: Place, ...args: readonly string[]): Promise<OutcomesReport> {
  const { code, stdout, stderr } = await compact('report', '--json', ...args);
  assert.equal(code, 0, stderr);
  const report: OutcomesReport = JSON.parse(stdout);
  assert.deepEqual(problemsWith('report', report), []);
  return report;
}

test('every message of the original is named once, with what became of it', async (t) => {
  const session = readFileSync(SESSION, 'utf8');
  const place = placeWith(t, { 'a.jsonl': session });
  const few = ['--target', '2000', '--keep-recent', '4', '--keep-recent-tokens', '0'];
  await place.compact('-i', ...few, place.path('a.jsonl'));
  const { messages, summary, cycles } = await readOutcomes(place, place.path('a.jsonl'));
  assert.deepEqual([cycles, messages.map(({ number }) => number)], [1, Array.from(messages, (_, at) => at + 1)]);
  const compacted = readFileSync(place.path('a.jsonl'), 'utf8');
  const outcomes = Object.groupBy(messages, ({ outcome }) => outcome);
  const { kept = [], quoted = [], summarized = [] } = outcomes;
  assert.ok(kept.length >= 4 && quoted.length > 0 && summarized.length > 0, JSON.stringify(outcomes));
  for (const { line } of kept) assert.ok(compacted.includes(session.split('\n')[line - 1] ?? '?'));
  for (const { text } of quoted) assert.ok(summary.join('\n').includes(text.split('\n')[0]?.slice(0, 40) ?? '?'), text);
});

test('an original leads to its compacted file', async (t) => {
  const place = placeWith(t, { 'a.jsonl': TALK, 'b.jsonl': chatTranscript(9, 70) });
  const [a, compacted] = [place.path('a.jsonl'), place.path('a.compact.jsonl')];
  await place.compact(a);
  appendFileSync(a, chatTranscript(1, 300));
  const byItself = await readOutcomes(place, compacted);
  assert.deepEqual(await readOutcomes(place, a), byItself);
  const plain = await place.compact('report', place.path('b.jsonl'));
  assert.deepEqual([plain.code, /not compacted/.test(plain.stderr)], [1, true]);
});

test('an original leads to its compacted file where the result of the same content elsewhere was reused', async (t) => {
  const place = placeWith(t, { 'one.jsonl': TALK, 'two.jsonl': TALK });
  for (const name of ['one', 'two']) {
    await place.compact(place.path(`${name}.jsonl`));
    assert.equal((await readOutcomes(place, place.path(`${name}.jsonl`))).file, place.path(`${name}.compact.jsonl`));
  }
});

test('after several compactions it goes back to the first original', async (t) => {
  const place = placeWith(t);
  await place.compact('-i', place.path('a.jsonl'));
  appendFileSync(place.path('a.jsonl'), chatTranscript(20, 400));
  await place.compact('-i', place.path('a.jsonl'));
  const { messages, cycles } = await readOutcomes(place, place.path('a.jsonl'));
  const left = new Set(messages.map(({ cycle }) => cycle));
  assert.deepEqual([cycles, [1, 2, null].every((cycle) => left.has(cycle))], [2, true]);
});

test('a file that was edited, or whose archive is gone, is an error that says so', async (t) => {
  const { path, compact } = placeWith(t);
  await compact('-i', path('a.jsonl'));
  const gone = await runHere(['report', '--archive', path('other.db'), path('a.jsonl')]);
  assert.deepEqual(
    [
      gone.code,
      /its compaction cannot be found: there is no archive \S*other\.db\. Name the archive/.test(gone.stderr),
    ],
    [1, true],
  );
  const text = readFileSync(path('a.jsonl'), 'utf8');
  writeFileSync(path('a.jsonl'), text.replace(/retry(?=[^\n]*\n$)/, 'again'));
  const edited = await compact('report', path('a.jsonl'));
  assert.deepEqual([edited.code, /changed since/.test(edited.stderr)], [1, true], edited.stderr);
});

for (const widthColumns of [60, 80, 120]) {
  test(`at ${widthColumns} columns each line has its sign, and none is too long`, async (t) => {
    const { path, compact } = placeWith(t);
    await compact('-i', path('a.jsonl'));
    const terminal = createFakeTerminal(['report', '--archive', path('.archive.db'), path('a.jsonl')], {
      widthColumns,
    });
    const loadUseCases = async () => (await import('../../src/compose/use-cases.ts')).createUseCases;
    assert.equal(await run({ terminal, loadUseCases }), 0, terminal.errors());
    const lines = terminal.out().trimEnd().split('\n');
    const body = lines.slice(lines.indexOf('') + 1, -1);
    assert.deepEqual(
      lines.slice(1).filter((line) => line.length > widthColumns),
      [],
    );
    assert.deepEqual(
      body.filter((line) => !/^[-=~+] /.test(line)),
      [],
    );
    assert.match(lines.at(-1) ?? '', /^\d+ messages not shown: --all shows everything\.$/);
  });
}

test('--all shows every message, --limit at most so many', async (t) => {
  const { path, compact } = placeWith(t);
  await compact('-i', path('a.jsonl'));
  const count = async (...flags: readonly string[]): Promise<number> =>
    [...(await compact('report', ...flags, path('a.jsonl'))).stdout.matchAll(/^[-=~] +\d+ (?:user|asst|tool|syst) /gm)]
      .length;
  assert.deepEqual([await count('--all'), await count('--limit', '5')], [MESSAGES, 5]);
});

test('the pager is used on a terminal only, and it may be missing', (t) => {
  const file = join(folderWith(t, {}), 'shown');
  const show = (PAGER: string, isTerminal = true): boolean => {
    const terminal = createFakeTerminal([], { environment: { PAGER }, isTerminal });
    return showInPager('one\ntwo\n', terminal);
  };
  assert.deepEqual([show(`cat > '${file}'`), readFileSync(file, 'utf8')], [true, 'one\ntwo\n']);
  assert.deepEqual(
    [show('cat > /dev/null', false), show(''), show('cat'), show('no-such-pager 2> /dev/null')],
    [false, false, false, false],
  );
});

test('--message says what became of one message, and how to read it', async (t) => {
  const place = placeWith(t);
  await place.compact('-i', place.path('a.jsonl'));
  const ask = async (word: string): Promise<Ended> => place.compact('report', '--message', word, place.path('a.jsonl'));
  const first = await ask('1');
  assert.match(
    first.stdout,
    /message 1 of [^]*It left in compaction 1[^]*Read all of it with: compact show --archive /,
  );
  assert.equal((await ask('line:1')).stdout, first.stdout);
  assert.match((await ask(String(MESSAGES))).stdout, /It is still in the file, byte for byte\./);
  const none = await ask('line:9999');
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, /line:9999 names no message\. Its last message is in line \d+\./);
  const { messages } = await readOutcomes(place, '--message', '2', place.path('a.jsonl'));
  assert.deepEqual(
    messages.map(({ number }) => number),
    [2],
  );
});

test('--plan shows what would become of the messages', async (t) => {
  const place = placeWith(t);
  const { original, cycles, messages } = await readOutcomes(place, '--plan', place.path('a.jsonl'));
  assert.deepEqual([original, cycles], [null, 0]);
  assert.ok(messages.some(({ outcome }) => outcome === 'summarized'));
  const { stdout } = await place.compact('report', '--plan', '--message', '1', place.path('a.jsonl'));
  assert.match(stdout, /It would leave with a compaction/);
  assert.match((await place.compact('report', '--plan', place.path('a.jsonl'))).stdout, /messages in a plan/);
});

test('--open writes the page and starts the browser with its path', async (t) => {
  const folder = folderWith(t, {});
  const mark = join(folder, 'opened');
  const browser = join(folder, 'browser');
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$2" > '${mark}.part' && mv '${mark}.part' '${mark}'\n`, {
    mode: 0o755,
  });
  const ended = watchFor(mark);
  const open = async (BROWSER: string): Promise<boolean> =>
    openInBrowser('/tmp/a page.html', createFakeTerminal([], { environment: { BROWSER } }));
  assert.equal(await open(`${browser} --new-window`), true);
  await ended;
  assert.equal(readFileSync(mark, 'utf8'), '/tmp/a page.html');
  assert.equal(await open(join(folder, 'no-such-browser')), false);
});

/** Resolves when the file is there. */
async function watchFor(path: string): Promise<void> {
  const ended = new AbortController();
  try {
    for await (const { filename } of watch(dirname(path), { signal: ended.signal }))
      if (filename === basename(path)) return;
  } finally {
    ended.abort();
  }
}
