import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { folderWith } from '../../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

test('a restored file is not put in the place of the compacted one unless that is asked for', async (t) => {
  const folder = folderWith(t, { 'x.compact.jsonl': '' });
  const compacted = join(folder, 'x.compact.jsonl');
  const link = join(folder, 'link.jsonl');
  symlinkSync(compacted, link);
  for (const output of [compacted, link]) {
    const useCases = createFakeUseCases();
    const terminal = createFakeTerminal(['restore', compacted, '-o', output]);
    assert.equal(await run({ terminal, loadUseCases: useCases.loadUseCases }), 2);
    assert.match(terminal.errors(), /is the input .*: use --in-place to replace it/);
    assert.deepEqual(
      useCases.calls.map(({ name }) => name),
      ['close'],
    );
  }
});
