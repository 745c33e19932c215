import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { collect } from '../../support/collect.ts';
import { applied, compactionDraft, lineDraft, tempArchive, utf8 } from './drafts.ts';

test('a check that is left half-way holds nothing of the archive', async (t) => {
  const archive = tempArchive(t);
  await applied(archive, compactionDraft(1), [lineDraft(1)]);
  for await (const step of archive.port.check()) if (step.kind === 'progress') break;
  const other = new Database(archive.path);
  t.after(() => other.close());
  other.exec("UPDATE compactions SET format = 'changed'");
  assert.equal((await archive.port.loadCompaction(1))?.format, 'changed');
});

test('progress is told block by block', async (t) => {
  const archive = tempArchive(t);
  await applied(
    archive,
    compactionDraft(450),
    Array.from({ length: 450 }, (_, at) => lineDraft(at + 1, { bytes: utf8(`${'wide '.repeat(2000)}${at}\n`) })),
  );
  const stages = (await collect(archive.port.check())).flatMap((step) =>
    step.kind === 'progress' ? [step.stage] : [],
  );
  assert.equal(stages.filter((stage) => stage === 'checking what is stored').length, 1 + 5);
});
