import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runHere } from '../support/program.ts';
import { describeNear, renderCandidates } from '../../src/cli/render/score.ts';
import { asReport } from '../support/report-schemas.ts';
import { createFakeTerminal } from './fakes.ts';

async function scored(t: TestContext, ...args: readonly string[]) {
  const folder = folderWith(t, {
    'talk.jsonl': chatTranscript(40) + chatLine({ role: 'user', content: 'Why does the build fail? '.repeat(9) }),
  });
  const file = join(folder, 'talk.jsonl');
  const terminal = createFakeTerminal(['score', file, '--archive', join(folder, 'a.db'), ...args]);
  const code = await run({ terminal, loadUseCases: () => Promise.resolve(createUseCases) });
  return {
    code,
    out: terminal.out().replaceAll(`${folder}/`, ''),
    errors: terminal.errors().replaceAll(`${folder}/`, ''),
  };
}

/** The lines of messages, by their score at the beginning. */
const entries = (out: string): readonly string[] =>
  out.split('\n').filter((line) => /^ +[\d.]+ (kept|going|quoted) /.test(line));

test('the 20 most important are explained with the border, fewer with --limit, and all with --all', async (t) => {
  assert.equal(entries((await scored(t, '--explain')).out).length, 22);
  assert.equal(entries((await scored(t, '--explain', '--limit', '3')).out).length, 5);
  assert.equal(entries((await scored(t, '--explain', '--all')).out).length, 111);
});

test('--message says why a message stays or goes, and its report has only that row', async (t) => {
  const old = await scored(t, '--message', 'line:2');
  assert.equal(old.code, 0);
  assert.match(
    old.out,
    /message 2 of 109, line 2 of talk\.jsonl\n[^]*It goes into the summary: it is older than[^]*read it with: compact show --archive a\.db line:2\n$/,
  );
  assert.match(
    (await scored(t, '--message', 'line:109')).out,
    /Why does the build fail\? [^]*…\n[^]*It stays: it belongs to the recent part/,
  );
  const { out } = await scored(t, '--message', 'line:2', '--json');
  const { messages } = asReport('score', JSON.parse(out));
  assert.deepEqual(
    messages.map(({ line, because }) => [line, because]),
    [[2, 'older']],
  );
  assert.equal(typeof messages[0]?.excerpt, 'string');
});

test('a message that is not in the file is looked for with the commands that are printed', async (t) => {
  const { code, out, errors } = await scored(t, '--message', 'm 99', '--target', '30k', '--color=never');
  assert.deepEqual([code, out], [1, '']);
  assert.match(errors, /^talk\.jsonl: there is no message m 99 in it now\./);
  assert.match(errors, /\n {2}compact show --archive a\.db 'm 99'\n/);
  assert.match(
    errors,
    /\n {2}compact restore --archive a\.db talk\.jsonl -o - \| compact score --archive a\.db --target 30k --message 'm 99' -\n$/,
  );
});

test('a line after the last message is reported with the line of that one', async (t) => {
  const { errors } = await scored(t, '--message', 'line:9999');
  assert.match(
    errors,
    /^talk\.jsonl: there is no message line:9999 in it now\. Its last message is in line 109\.\nIf /,
  );
});

test('a word that names no message is answered with what names one, and with what is near', () => {
  const rows = ['msg-0001', 'msg-0002', 'msg-0002', 'line:9'].map((id, at) => ({
    id,
    line: at * 2 + 3,
    role: 'user' as const,
  }));
  const cases: readonly (readonly [word: string, answer: string])[] = [
    ['5', 'Did you mean line:5?'],
    ['line:4', 'The nearest messages are line:3 and line:5.'],
    ['line:1', 'Its first message is in line 3.'],
    ['line:99', 'Its last message is in line 9.'],
    ['msg-0003', 'Did you mean msg-0001?'],
    ['something else', 'Its messages have names like msg-0001 or line:3.'],
    ['lin', 'Type at least 6 characters of an id:\n  line:9  (user, line 9)\n'],
  ];
  for (const [word, answer] of cases) assert.equal(describeNear(rows, word), answer);
  assert.deepEqual(renderCandidates(rows.slice(0, 3)), [
    '  msg-0001  (user, line 3)',
    '  line:5  (user, msg-0002)',
    '  line:7  (user, msg-0002)',
  ]);
});

test('a file in which nothing was said since it was compacted is explained as one from which nothing goes now', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': chatTranscript(60) });
  const file = join(folder, 'talk.jsonl');
  const explained = async (): Promise<string> => {
    const { code, stdout, stderr } = await runHere(['score', '--explain', '--archive', join(folder, 'a.db'), file]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const sentence = /^Nothing was said since it was compacted, so nothing would go now with the same settings\./m;
  assert.doesNotMatch(await explained(), sentence);
  await runHere(['-i', '--archive', join(folder, 'a.db'), file]);
  assert.match(await explained(), sentence);
  appendFileSync(file, chatTranscript(20, 400));
  assert.doesNotMatch(await explained(), sentence);
});

test('--message excludes --limit', async (t) => {
  assert.equal((await scored(t, '--message', 'x', '--limit', '2')).code, 2);
});
