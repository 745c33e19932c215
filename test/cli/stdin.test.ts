import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { spoolStdin } from '../../src/cli/inputs/gather.ts';
import { createFakeTerminal } from './fakes.ts';

test('standard input becomes a file that only its owner can read, and goes when it is removed', async () => {
  const kept: string[] = [];
  const terminal = {
    ...createFakeTerminal([], { stdin: 'line\u2028one\r\n' }),
    removeAtExit: (path: string) => {
      kept.push(path);
      return () => rmSync(path, { recursive: true });
    },
  };
  const spooled = await spoolStdin(terminal);
  assert.ok(spooled.ok);
  assert.equal(readFileSync(spooled.value.path, 'utf8'), 'line\u2028one\r\n');
  assert.equal(statSync(spooled.value.path).mode & 0o777, 0o600);
  assert.deepEqual(kept, [dirname(spooled.value.path)]);
  spooled.value.remove();
  assert.equal(existsSync(kept[0] ?? ''), false);
});

test('an interruption ends the wait for standard input and leaves nothing', async () => {
  const removed: string[] = [];
  const base = createFakeTerminal([]);
  const terminal = {
    ...base,
    stdin: { kind: 'input', open: () => new Readable({ read: () => base.interrupt() }) } as const,
    removeAtExit: (path: string) => () => {
      rmSync(path, { recursive: true });
      removed.push(path);
    },
  };
  await assert.rejects(spoolStdin(terminal), { name: 'AbortError' });
  assert.deepEqual(removed.map(existsSync), [false]);
});
