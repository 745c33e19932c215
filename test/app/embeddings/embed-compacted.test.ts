import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompactReport } from '../../../src/app/contract/reports.ts';
import { embedArchive, embedCompacted } from '../../../src/app/search/embeddings/embed-archive.ts';
import { ModelError } from '../../../src/core/model-request.ts';
import { chatTranscript } from '../../support/chat.ts';
import { fakeService, type FakeService, meaningBench, toyVectors } from '../../support/meaning-bench.ts';
import { reportOf, type Workbench } from '../../support/workbench.ts';

const runtimeOf = ({ deps }: Workbench) => ({ ...deps.runtime, sleep: () => Promise.resolve() });

async function compacted(bench: Workbench, name: string, count: number): Promise<CompactReport> {
  bench.write(name, chatTranscript(count, name.length * 1000));
  return reportOf(await bench.compact(name));
}

const after = (
  bench: Workbench,
  service: FakeService,
  report: CompactReport,
  run = { hasFailed: false },
): Promise<CompactReport> => embedCompacted({ ...bench.deps, runtime: runtimeOf(bench), service, run }, report);

test('what a compaction has archived gets vectors, and nothing else does; a good end is no news', async (t) => {
  const bench = meaningBench(t);
  await compacted(bench, 'early.jsonl', 40);
  const report = await compacted(bench, 'later-one.jsonl', 30);
  const service = fakeService();
  const { usage, ...told } = await after(bench, service, report);
  assert.deepEqual({ ...told, usage: report.usage }, report);
  assert.equal(usage?.calls, service.sent.length);
  const { done, total } = await bench.archive().vectors.count();
  assert.equal(done, service.sent.flat().length);
  assert.ok(done > 20 && done < total - 30, `${done} of ${total}`);
});

test('what could not be embedded is a note in the report and no failure, and `archive embed` does it later', async (t) => {
  const bench = meaningBench(t);
  const report = await compacted(bench, 'talk.jsonl', 205);
  const broken = fakeService({}, (asked, index) =>
    index === 0
      ? toyVectors(asked)
      : Promise.reject(new ModelError('api_error', 'host answered 500', { retryable: true })),
  );
  const told = await after(bench, broken, report);
  const { total } = await bench.archive().vectors.count();
  const note = `embeddings: 64 of ${total}, host answered 500; \`compact archive embed\` finishes them`;
  assert.deepEqual({ ...told, usage: report.usage }, { ...report, notes: [...report.notes, note] });
  const rest = await embedArchive({ ...bench.deps, runtime: runtimeOf(bench), service: fakeService() });
  assert.ok(rest.ok);
  const { usage, ...embedded } = rest.value;
  assert.equal(usage?.calls, Math.ceil((total - 64) / 64));
  assert.deepEqual(embedded, {
    schema: 'compact/archive-embed@1',
    provider: 'ollama',
    model: 'toy',
    archive: bench.archivePath,
    result: 'complete',
    dimensions: 64,
    embedded: total - 64,
    missing: 0,
    dropped: 0,
  });
});

test('a service that has failed is not waited for by the other transcripts of the run', async (t) => {
  const bench = meaningBench(t);
  const run = { hasFailed: false };
  const broken = fakeService({}, () => Promise.reject(new ModelError('timeout', 'late', { retryable: true })));
  await after(bench, broken, await compacted(bench, 'one.jsonl', 30), run);
  assert.equal(broken.sent.length, 3);
  const { notes } = await after(bench, broken, await compacted(bench, 'second.jsonl', 30), run);
  assert.deepEqual(
    [notes.slice(-1), broken.sent.length],
    [['embeddings: none, the service has failed before in this run; `compact archive embed` finishes them'], 3],
  );
});

test("where another model's vectors are there a compaction leaves them, and says what makes them anew", async (t) => {
  const bench = meaningBench(t);
  await after(bench, fakeService(), await compacted(bench, 'one.jsonl', 30));
  const { done } = await bench.archive().vectors.count();
  const service = fakeService({ model: 'new' });
  const { notes } = await after(bench, service, await compacted(bench, 'second.jsonl', 30));
  assert.deepEqual(notes.slice(-1), [
    'embeddings: none, those in the archive are by toy (64 numbers); `compact archive embed` makes all of them anew',
  ]);
  assert.deepEqual([service.sent, (await bench.archive().vectors.count()).done], [[], done]);
});

test('even an unexpected error leaves the compaction a success', async (t) => {
  const bench = meaningBench(t);
  const report = await compacted(bench, 'talk.jsonl', 30);
  const service = fakeService({}, () => Promise.reject(new TypeError('x is undefined')));
  const { result, notes } = await after(bench, service, report);
  assert.deepEqual(
    [result, notes.slice(-1)],
    ['compacted', ['embeddings: not all (x is undefined); `compact archive embed` finishes them']],
  );
});

test('if nothing was compacted, no service is called', async (t) => {
  const bench = meaningBench(t);
  await compacted(bench, 'talk.jsonl', 30);
  const report = reportOf(await bench.compact('talk.jsonl'));
  const service = fakeService();
  assert.equal(await after(bench, service, report), report);
  assert.deepEqual(service.sent, []);
});

test('an archive that is not there has nothing to embed', async (t) => {
  const bench = meaningBench(t);
  const openArchive = () => Promise.resolve({ ok: true, value: null } as const);
  const done = await embedArchive({ ...bench.deps, openArchive, service: fakeService() });
  assert.deepEqual(done.ok && [done.value.archive, done.value.result, done.value.embedded], [null, 'complete', 0]);
});
