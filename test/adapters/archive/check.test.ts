import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { ArchiveCheckStep } from '../../../src/ports/archive-check.ts';
import { collect } from '../../support/collect.ts';
import { applied, compactionDraft, lineDraft, openAt, tempArchive, utf8 } from './drafts.ts';

const damageOf = async (steps: AsyncIterable<ArchiveCheckStep>): Promise<readonly ArchiveCheckStep[]> =>
  (await collect(steps)).filter(({ kind }) => kind === 'damage');

test('a check sees one state of the archive, whatever another process takes back meanwhile', async (t) => {
  const archive = tempArchive(t);
  const lines = Array.from({ length: 300 }, (_, at) => lineDraft(at + 1));
  const id = await archive.store(compactionDraft(300), lines);
  const undisturbed = await damageOf(archive.port.check());
  const other = openAt(archive.path);
  t.after(() => other.close());
  const steps = archive.port.check()[Symbol.asyncIterator]();
  const rest: ArchiveCheckStep[] = [];
  for (let step = await steps.next(); step.done !== true; step = await steps.next()) {
    if (step.value.kind === 'prepared') await other.port.discard(id);
    if (step.value.kind === 'damage') rest.push(step.value);
  }
  assert.deepEqual(rest, undisturbed);
  assert.deepEqual(await damageOf(archive.port.check()), []);
});

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
