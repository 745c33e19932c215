import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import type { Summarizer } from '../../src/app/contract/deps.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import type { StepListener } from '../../src/ports/runtime.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { policyOf, reportOf } from '../support/workbench.ts';

const PROGRESS = { update: () => undefined, finish: () => undefined };
const CHOICE = { model: null, compaction: {} } as const;

type Call = {
  readonly path: string;
  readonly reached?: StepListener;
  /** Runs before the summary is made. */
  readonly beforeSummary?: () => Promise<void>;
};

/** Two calls of the library: each makes use cases of its own. */
async function compact(t: TestContext, archivePath: string, call: Call): Promise<CompactReport> {
  const { path, reached = () => undefined, beforeSummary } = call;
  const { signal } = new AbortController();
  const io = { progress: PROGRESS, signal, stdout: () => undefined, removeAtExit: () => () => undefined };
  const useCases = createUseCases({ ...io, archivePath, reached });
  t.after(useCases.close);
  const created = await useCases.createSummarizer(CHOICE);
  assert.ok(created.ok);
  const { model, ...rest } = created.value.value;
  const complete: Summarizer['model']['complete'] = async (request, aborted) => {
    await beforeSummary?.();
    return model.complete(request, aborted);
  };
  const request = {
    input: { path, name: path, format: null },
    output: { kind: 'in-place' },
    policy: policyOf({ compaction: { summaryTokens: 600 } }),
    summarizer: { ...rest, model: { ...model, complete } },
    embeddings: null,
    provider: 'extractive',
    modelName: 'extractive',
  } as const;
  return reportOf(await useCases.compactFile(request, PROGRESS));
}

// Without turns, the second call could block this thread in SQLite for a minute, while the first one waits for its next lines.
test('two calls at once share an archive', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': chatTranscript(60), 'b.jsonl': chatTranscript(60, 900) });
  const archivePath = join(folder, 'archive.db');
  const created = await openArchive({ path: archivePath });
  assert.ok(created.ok);
  await created.value.close();
  const near = Promise.withResolvers<void>();
  const both: Promise<CompactReport>[] = [];
  const first = compact(t, archivePath, {
    path: join(folder, 'a.jsonl'),
    beforeSummary: async () => {
      const path = join(folder, 'b.jsonl');
      const reached: StepListener = (step) => step === 'summarized' && near.resolve();
      both.push(compact(t, archivePath, { path, reached }));
      await near.promise;
    },
  });
  assert.equal((await first).result, 'compacted');
  assert.deepEqual(
    (await Promise.all(both)).map(({ result }) => result),
    ['compacted'],
  );
});
