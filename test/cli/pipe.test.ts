import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeMissingInput } from '../../src/cli/inputs/gather.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal } from './fakes.ts';

// Needs `dist`: `npm test` builds first.
const PROGRAM = fileURLToPath(new URL('../../bin/compact.js', import.meta.url));
const TALK = chatTranscript(30);

/** Runs a line of the shell in a folder with a transcript; `compact` is the program. */
function shellIn(t: TestContext) {
  const folder = folderWith(t, { 'talk.jsonl': TALK, empty: '' });
  return {
    folder,
    sh: (line: string) => {
      const script = `compact() { "${process.execPath}" "${PROGRAM}" "$@"; }\n${line}`;
      const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env['PATH'], HOME: folder },
      });
      return { status, stdout, stderr };
    },
  };
}

for (const [how, line] of [
  ['a pipe', 'cat talk.jsonl | compact --keep-recent 5 -v'],
  ['a file', 'compact < talk.jsonl'],
] as const) {
  test(`${how} is read where nothing is named, and comes back whole`, (t) => {
    const { folder, sh } = shellIn(t);
    const compacted = sh(`${line} > out.jsonl`);
    assert.equal(compacted.status, 0, compacted.stderr);
    const size = readFileSync(join(folder, 'out.jsonl')).length;
    assert.ok(size > 0 && size < TALK.length, String(size));
    assert.deepEqual(sh('cat out.jsonl | compact restore -q'), { status: 0, stdout: TALK, stderr: '' });
    assert.match(sh('compact verify < out.jsonl').stdout, /^stdin: verified: /);
    assert.match(sh('compact score < out.jsonl').stdout, /^stdin: \d+ messages /);
  });
}

test('a reader that stops early gets no size and no hash of a restore that it did not read', (t) => {
  const { folder, sh } = shellIn(t);
  writeFileSync(join(folder, 'long.jsonl'), chatTranscript(600));
  assert.equal(sh('compact -i -q long.jsonl').status, 0);
  const { status, stdout, stderr } = sh('set -o pipefail; compact restore long.jsonl -o - | head -c 5');
  assert.deepEqual(
    [status, stdout.length, stderr],
    [0, 5, 'Standard output was closed before all of the original was written.\n'],
  );
});

const FIVE_LINES = /^compact makes .*\n(?: {2}(?:node \S+bin\/)?compact(?:\.js)? .*\n){4}$/;

for (const [how, line] of [
  ['nothing (cron)', 'compact < /dev/null'],
  ['a closed standard input', 'compact <&-'],
] as const) {
  test(`with ${how} the program says in five lines what it does`, (t) => {
    const { status, stdout, stderr } = shellIn(t).sh(line);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, FIVE_LINES);
  });
}

test('five lines on a terminal too', { skip: !existsSync('/usr/bin/script') && 'script is not installed' }, (t) => {
  const { status, stdout } = shellIn(t).sh(`script -qec '"${process.execPath}" "${PROGRAM}"' /dev/null`);
  assert.equal(status, 2);
  assert.match(stdout.replaceAll('\r\n', '\n'), FIVE_LINES);
});

for (const line of ['compact < empty', 'true | compact restore']) {
  test(`'${line}' is told that nothing came in`, (t) => {
    const { status, stdout, stderr } = shellIn(t).sh(line);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /^compact: no transcript is named, and standard input is empty\. Try /);
  });
}

test('what is named leaves standard input alone', (t) => {
  const { sh } = shellIn(t);
  const { stdout, status } = sh('printf "a\\nb\\n" | while read -r x; do compact -q -n talk.jsonl; echo "$x"; done');
  assert.deepEqual([status, stdout], [0, 'a\nb\n']);
});

test('--in-place never means a pipe', (t) => {
  const { status, stderr } = shellIn(t).sh('cat talk.jsonl | compact -i');
  assert.equal(status, 2);
  assert.match(stderr, /^compact: no transcript named: /);
});

test('a standard input that never gives anything is not waited for beyond the time-out', async () => {
  const silent = new Readable({ read: () => undefined });
  const timeout = new AbortController();
  const { signal } = createFakeTerminal([]);
  const told = describeMissingInput({ stdin: { kind: 'input', open: () => silent }, signal }, timeout.signal);
  timeout.abort();
  assert.match(
    (await told) ?? '',
    /^no transcript is named, and nothing arrived on standard input within 30 seconds: /,
  );
  assert.equal(silent.destroyed, true);
});

test('an interruption ends the wait', async () => {
  const silent = new Readable({ read: () => undefined });
  const terminal = createFakeTerminal([]);
  const stdin = { kind: 'input', open: () => silent } as const;
  const told = describeMissingInput({ stdin, signal: terminal.signal }, new AbortController().signal);
  terminal.interrupt();
  await assert.rejects(told, { name: 'AbortError' });
});

test('what comes in late is waited for, and none of it is lost', async () => {
  const source = new Readable({ read: () => undefined });
  const stdin = { kind: 'input', open: () => source } as const;
  const told = describeMissingInput({ stdin, signal: createFakeTerminal([]).signal }, new AbortController().signal);
  source.push('first ');
  assert.equal(await told, null);
  source.push('second');
  source.push(null);
  const pieces = await source.toArray();
  assert.equal(pieces.join(''), 'first second');
});
