import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVoice } from '../../src/cli/voice.ts';
import { createFakeTerminal } from './fakes.ts';
import type { TerminalOptions } from './fakes.ts';

const manner = { json: false, verbosity: 'normal', color: 'auto', showProgress: true } as const;

async function progressOn(options: TerminalOptions, changes: Partial<typeof manner | { verbosity: 'quiet' }> = {}) {
  const terminal = createFakeTerminal([], options);
  const voice = await createVoice(terminal, { ...manner, ...changes });
  voice.progress.name('x\u001b.jsonl');
  voice.progress.update('reading', 1, 3);
  voice.error('said');
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
  const voice = await createVoice(terminal, manner);
  voice.progress.name('a-very-long-name-of-a-transcript.jsonl');
  voice.progress.update('reading', 1, 2);
  assert.equal(terminal.errors().replace('\r\u001b[2K', '').length, 19);
});
