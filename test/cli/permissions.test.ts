import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInputs } from '../../src/cli/inputs.ts';
import { folderWith } from '../support/folders.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';

becomeOrdinaryUser();

test('a folder that may not be read is a problem, and the others are done', async (t) => {
  const folder = folderWith(t, { 'a/x.jsonl': '', 'b/y.jsonl': '' });
  chmodSync(join(folder, 'a'), 0);
  const set = await findInputs([folder], { skipsCompacted: true });
  chmodSync(join(folder, 'a'), 0o700);
  assert.deepEqual(set.problems, [{ kind: 'unreadable', path: join(folder, 'a') }]);
  assert.deepEqual(
    set.files.map(({ path }) => path),
    [join(folder, 'b/y.jsonl')],
  );
});
