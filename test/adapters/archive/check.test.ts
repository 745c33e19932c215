import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { ArchiveCheckStep } from '../../../src/ports/archive-check.ts';
import { applied, compactionDraft, lineDraft, openAt, tempArchive, utf8 } from './drafts.ts';

const damageOf = (steps: Iterable<ArchiveCheckStep>): readonly ArchiveCheckStep[] =>
  [...steps].filter(({ kind }) => kind === 'damage');

test('a check sees one state of the archive, whatever another process takes back meanwhile', (t) => {
  const archive = tempArchive(t);
  const lines = Array.from({ length: 300 }, (_, at) => lineDraft(at + 1));
  const id = archive.store(compactionDraft(300), lines);
  const undisturbed = damageOf(archive.check());
  const other = openAt(archive.path);
  t.after(() => other.close());
  const steps = archive.check();
  for (let step = steps.next(); step.value?.kind !== 'prepared'; step = steps.next()) assert.ok(step.done !== true);
  other.discard(id);
  assert.deepEqual(damageOf(steps), undisturbed);
  assert.deepEqual(damageOf(archive.check()), []);
});

test('a check that is left half-way holds nothing of the archive', async (t) => {
  const archive = tempArchive(t);
  applied(archive, compactionDraft(1), [lineDraft(1)]);
  for (const step of archive.check()) if (step.kind === 'progress') break;
  const other = new Database(archive.path);
  t.after(() => other.close());
  other.exec("UPDATE compactions SET format = 'changed'");
  assert.equal((await archive.port.loadCompaction(1))?.format, 'changed');
});

test('progress is told block by block', (t) => {
  const archive = tempArchive(t);
  applied(
    archive,
    compactionDraft(450),
    Array.from({ length: 450 }, (_, at) => lineDraft(at + 1, { bytes: utf8(`${'wide '.repeat(2000)}${at}\n`) })),
  );
  const stages = [...archive.check()].flatMap((step) => (step.kind === 'progress' ? [step.stage] : []));
  assert.equal(stages.filter((stage) => stage === 'checking what is stored').length, 1 + 5);
});
