import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReporter } from '../../src/cli/terminal/reporter.ts';
import { createFakeTerminal, type TerminalOptions } from './fakes.ts';

const outputOptions = { json: false, verbosity: 'normal', color: 'never', showProgress: true } as const;

async function progressOn(
  options: TerminalOptions,
  changes: Partial<typeof outputOptions | { verbosity: 'quiet' }> = {},
) {
  const terminal = createFakeTerminal([], options);
  const reporter = await createReporter(terminal, { ...outputOptions, ...changes });
  reporter.progress.name('x\u001b.jsonl');
  reporter.progress.update('reading', 1, 3);
  reporter.error('said');
  return terminal.errors();
}

test('on a terminal progress is one line, which goes away before anything else is said', async () => {
  const line = '\r\u001b[2Kx\\x1b.jsonl: reading 33 %\r\u001b[2Ksaid\n';
  assert.equal(await progressOn({ isTerminal: true }), line);
});

test('progress is not shown on a pipe, in CI, or when quiet', async () => {
  assert.equal(await progressOn({}), 'said\n');
  assert.equal(await progressOn({ isTerminal: true, environment: { CI: 'true' } }), 'said\n');
  assert.equal(await progressOn({ isTerminal: true }, { verbosity: 'quiet' }), 'said\n');
});

test('a long name does not make the line wrap', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true, widthColumns: 20 });
  const reporter = await createReporter(terminal, outputOptions);
  reporter.progress.name('a-very-long-name-of-a-transcript.jsonl');
  reporter.progress.update('reading', 1, 2);
  assert.equal(terminal.errors().replace('\r\u001b[2K', '').length, 19);
});

test('in a run over several the line tells which of how many, and stays when one of them is done', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress, error } = await createReporter(terminal, outputOptions);
  progress.name('x.jsonl', { index: 122, count: 10_000 });
  progress.finish();
  assert.equal(terminal.errors(), '\r\u001b[2K[123/10,000] x.jsonl');
  error('said');
  assert.equal(terminal.errors(), '\r\u001b[2K[123/10,000] x.jsonl\r\u001b[2Ksaid\n');
});

test('a transcript alone is not counted', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress } = await createReporter(terminal, outputOptions);
  progress.name('x.jsonl', { index: 0, count: 1 });
  progress.update('summarizing', 2, 5);
  progress.finish();
  assert.equal(terminal.errors(), '\r\u001b[2Kx.jsonl: summarizing 40 %\r\u001b[2K');
});

test('a long name gives way to the count and the stage, and keeps its end', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true, widthColumns: 41 });
  const { progress } = await createReporter(terminal, outputOptions);
  progress.name('projects/a-very-long-name/of-a-session.jsonl');
  progress.update('summarizing', 2, 5);
  assert.equal(terminal.errors(), '\r\u001b[2K…me/of-a-session.jsonl: summarizing 40 %');
});

test('what is said takes the line away, and the next transcript has it back at once', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress, error } = await createReporter(terminal, outputOptions);
  for (const index of [0, 1]) {
    progress.name('x.jsonl', { index, count: 2 });
    error('said');
  }
  const said = (index: number): string => `\r\u001b[2K[${index}/2] x.jsonl\r\u001b[2Ksaid\n`;
  assert.equal(terminal.errors(), said(1) + said(2));
});

test('an answer that goes into a file leaves the line where it is', async () => {
  const terminal = createFakeTerminal([], { isTerminal: true });
  const reporter = await createReporter(
    { ...terminal, stdout: { ...terminal.stdout, isTerminal: false } },
    outputOptions,
  );
  reporter.progress.name('x.jsonl', { index: 0, count: 2 });
  reporter.answerPiece('{}\n');
  assert.deepEqual([terminal.errors(), terminal.out()], ['\r\u001b[2K[1/2] x.jsonl', '{}\n']);
});

test('where several are at work the line is about the one that told something last', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress, report } = await createReporter(terminal, outputOptions);
  const first = progress.of('a.jsonl', { index: 0, count: 3 });
  t.mock.timers.tick(200);
  const second = progress.of('b.jsonl', { index: 1, count: 3 });
  t.mock.timers.tick(200);
  first.update('summarizing', 1, 2);
  t.mock.timers.tick(200);
  second.update('reading', 1, 4);
  report(['a.jsonl: it waits']);
  first.update('summarizing', 2, 2);
  assert.deepEqual(terminal.errors().split('\r\u001b[2K'), [
    '',
    '[1/3] a.jsonl',
    '[2/3] b.jsonl',
    '[1/3] a.jsonl: summarizing 50 %',
    '[2/3] b.jsonl: reading 25 %',
    'a.jsonl: it waits\n',
    '[1/3] a.jsonl: summarizing 100 %',
  ]);
});

/** The last progress line. */
const lastLine = (text: string): string => text.slice(text.lastIndexOf('\u001b[2K') + '\u001b[2K'.length);

test('after two seconds the line says how long the rest of the stage takes', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress } = await createReporter(terminal, outputOptions);
  progress.name('x.jsonl');
  progress.update('reading', 0, 100);
  t.mock.timers.tick(1900);
  progress.update('reading', 20, 100);
  assert.equal(lastLine(terminal.errors()), 'x.jsonl: reading 20 %');
  t.mock.timers.tick(1100);
  progress.update('reading', 25, 100);
  assert.equal(lastLine(terminal.errors()), 'x.jsonl: reading 25 %, about 9 s left');
  t.mock.timers.tick(1000);
  progress.update('summarizing', 1, 4);
  assert.equal(lastLine(terminal.errors()), 'x.jsonl: summarizing 25 %');
});

test('in a run over several it says how long the other files take', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const terminal = createFakeTerminal([], { isTerminal: true });
  const { progress } = await createReporter(terminal, outputOptions);
  progress.name('a.jsonl', { index: 0, count: 10 });
  t.mock.timers.tick(20_000);
  progress.name('b.jsonl', { index: 2, count: 10 });
  t.mock.timers.tick(1000);
  progress.update('reading', 1, 2);
  assert.equal(lastLine(terminal.errors()), '[3/10] b.jsonl: reading 50 %, about 1 min 24 s left');
});
