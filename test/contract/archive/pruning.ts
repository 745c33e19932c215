import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { HoldScope } from '../../../src/ports/retention.ts';
import { chatTranscript } from '../../support/chat.ts';
import { capture } from '../../support/captures.ts';
import { erase, hold, meanwhile, prune, release, tryPrune } from '../../support/retention.ts';
import { sha256 } from '../../adapters/archive/drafts.ts';
import { createWorkbench, reportOf, type Workbench } from '../../support/workbench.ts';
import { benchOn, type Engine, problemsOf } from './engine.ts';
import { runMark } from '../../support/run-mark.ts';

const DAY = 24 * 60 * 60_000;
const NOW = Date.parse('2026-06-01T00:00:00Z');
/** The run of all compactions: its own time makes none of them younger. */
const LONG_AGO = { run: runMark('scene') } as const;

/** Transcripts that were compacted so many days ago. */
async function sceneFor(
  engine: Engine,
  t: TestContext,
  agesInDays: Readonly<Record<string, number>>,
): Promise<Workbench> {
  const clock = { nowMs: NOW };
  const bench = await benchOn(engine, t, {
    ...LONG_AGO,
    runtime: { ...createNodeRuntime(), now: () => new Date(clock.nowMs) },
  });
  let from = 0;
  for (const [name, days] of Object.entries(agesInDays)) {
    clock.nowMs = NOW - days * DAY;
    bench.write(name, chatTranscript(12, from));
    from += 100;
    reportOf(await bench.compact(name));
  }
  clock.nowMs = NOW;
  return bench;
}

const before = (days: number): Date => new Date(NOW - days * DAY);

async function left(bench: Workbench): Promise<readonly string[]> {
  const compactions = await bench.archive().listCompactions();
  return compactions.map(({ sourcePath }) => sourcePath.slice(bench.folder.length + 1)).toSorted();
}

export function pruneContract(engine: Engine): void {
  test('what is older than the limit goes, oldest first, and the rest can be restored', async (t) => {
    const bench = await sceneFor(engine, t, { 'old.jsonl': 300, 'older.jsonl': 400, 'new.jsonl': 10 });
    const planned = await prune(bench, { before: before(180), isConfirmed: false });
    assert.deepEqual([planned.result, planned.isEverything, planned.parts.length], ['planned', false, 2]);
    assert.deepEqual(await left(bench), ['new.jsonl', 'old.jsonl', 'older.jsonl']);
    const pruned = await prune(bench, { before: before(180) });
    assert.deepEqual(
      [pruned.result, pruned.parts.map(({ file }) => file), pruned.receipt?.kind],
      ['erased', [bench.path('older.jsonl'), bench.path('old.jsonl')], 'prune'],
    );
    assert.deepEqual(await left(bench), ['new.jsonl']);
    assert.equal((await bench.verify('new.jsonl')).result, 'verified');
    const verified = await bench.verify('old.jsonl');
    assert.deepEqual(
      [verified.result, verified.erased?.map(({ receipt }) => receipt)],
      ['reduced', [pruned.receipt?.receipt]],
    );
    assert.deepEqual(await problemsOf(bench.archive()), []);
  });

  test('a conversation that goes on keeps its old compactions', async (t) => {
    const bench = await sceneFor(engine, t, { 'long.jsonl': 300 });
    appendFileSync(bench.path('long.jsonl'), chatTranscript(12, 500));
    reportOf(await bench.compact('long.jsonl'));
    assert.equal((await prune(bench, { before: before(180) })).result, 'nothing');
  });

  test('the newest stay, as does what a hold protects or another project has', async (t) => {
    const ages = { 'a.jsonl': 400, 'b.jsonl': 300, 'c.jsonl': 250, 'd.jsonl': 200 };
    const bench = await sceneFor(engine, t, ages);
    const scope = { kind: 'source', value: 'b.jsonl' } as const;
    await hold(bench, scope);
    assert.equal((await prune(bench, { before: before(180), project: '/elsewhere' })).result, 'nothing');
    const pruned = await prune(bench, { before: before(180), keepLast: 1, project: bench.folder });
    assert.deepEqual(
      pruned.held.map(({ value }) => value),
      ['b.jsonl'],
    );
    assert.deepEqual(await left(bench), ['b.jsonl', 'd.jsonl']);
  });

  test('the oldest go until the archive is small enough', async (t) => {
    const bench = await sceneFor(engine, t, { 'a.jsonl': 3, 'b.jsonl': 2, 'c.jsonl': 1 });
    const usedBytes = await bench.archive().usedBytes();
    assert.equal((await prune(bench, { maxBytes: usedBytes })).result, 'nothing');
    await prune(bench, { maxBytes: Math.floor(usedBytes * 0.8) });
    assert.deepEqual(await left(bench), ['b.jsonl', 'c.jsonl']);
  });

  test('a policy that removes everything says so before', async (t) => {
    const bench = await sceneFor(engine, t, { 'a.jsonl': 3, 'b.jsonl': 2 });
    const planned = await prune(bench, { before: before(1), isConfirmed: false });
    assert.deepEqual([planned.result, planned.isEverything], ['planned', true]);
    assert.equal((await left(bench)).length, 2);
    await prune(bench, { before: before(1) });
    assert.deepEqual(await left(bench), []);
  });

  test('stored model answers go by age, but not with one project alone', async (t) => {
    const bench = await sceneFor(engine, t, { 'a.jsonl': 400, 'b.jsonl': 300 });
    await bench.archive().summaries.keep(sha256('request'), {
      provider: 'toy',
      model: 'toy',
      text: 'text',
      usage: { input_tokens: 1, output_tokens: 1 },
      createdAt: new Date(NOW - 350 * DAY),
    });
    const one = await prune(bench, { before: before(200), project: bench.path('a.jsonl') });
    assert.deepEqual([one.paidBefore, one.receipt?.paidSummaries], [null, 0]);
    const all = await prune(bench, { before: before(200) });
    assert.deepEqual([all.paidBefore, all.receipt?.paidSummaries], [before(200).toISOString(), 1]);
  });

  for (const kind of ['conversation', 'output', 'captured'] as const) {
    test(`a hold protects a conversation that it names by its ${kind}`, async (t) => {
      const bench = await benchOn(engine, t);
      bench.write('talk.jsonl', chatTranscript(12));
      reportOf(await bench.compact('talk.jsonl', { output: { kind: 'file', path: bench.path('short.jsonl') } }));
      bench.write('seen.jsonl', chatTranscript(12, 100));
      await capture(bench, 'seen.jsonl');
      const [compaction] = await bench.archive().listCompactions();
      const scopes = {
        conversation: { kind: 'conversation', value: compaction?.conversations[0]?.id ?? '' },
        output: { kind: 'source', value: 'short.jsonl' },
        captured: { kind: 'source', value: 'seen.jsonl' },
      } as const satisfies Readonly<Record<string, HoldScope>>;
      const scope = scopes[kind];
      await hold(bench, scope);
      const pruned = await prune(bench, { maxBytes: 0 });
      assert.deepEqual(
        pruned.held.map(({ value }) => value),
        [scope.value],
      );
      const isCaptured = kind === 'captured';
      assert.deepEqual(await left(bench), isCaptured ? [] : ['talk.jsonl']);
      assert.equal((await bench.archive().captures.list()).length, isCaptured ? 1 : 0);
    });
  }

  test('identical transcripts share a compaction: a hold on one protects it, and erasing names both', async (t) => {
    const clock = { nowMs: NOW - 300 * DAY };
    const bench = await benchOn(engine, t, {
      ...LONG_AGO,
      runtime: { ...createNodeRuntime(), now: () => new Date(clock.nowMs) },
    });
    for (const name of ['first.jsonl', 'second.jsonl']) {
      bench.write(name, chatTranscript(12));
      reportOf(await bench.compact(name));
    }
    clock.nowMs = NOW;
    assert.deepEqual(await left(bench), ['first.jsonl']);
    const scope = { kind: 'source', value: 'second.jsonl' } as const;
    await hold(bench, scope);
    const pruned = await prune(bench, { maxBytes: 0 });
    assert.deepEqual([pruned.result, pruned.held.map(({ value }) => value)], ['nothing', ['second.jsonl']]);
    for (const name of ['first.jsonl', 'second.jsonl']) {
      const selector = { kind: 'source', glob: bench.path(name) } as const;
      const { result, files } = await erase(bench, selector);
      assert.deepEqual([result, files], ['refused', [bench.path('first.jsonl'), bench.path('second.jsonl')]]);
    }
    for (const name of ['first.jsonl', 'second.jsonl']) assert.equal((await bench.verify(name)).result, 'verified');
    await release(bench, scope);
    const all = await prune(bench, { maxBytes: 0 });
    assert.deepEqual(all.files, [bench.path('first.jsonl'), bench.path('second.jsonl')]);
    await assert.rejects(bench.archive().markApplied(1));
    assert.deepEqual(await left(bench), []);
  });

  test('what a run used again is as young as that run', async (t) => {
    const clock = { nowMs: NOW - 300 * DAY };
    const bench = await benchOn(engine, t, {
      ...LONG_AGO,
      runtime: { ...createNodeRuntime(), now: () => new Date(clock.nowMs) },
    });
    bench.write('old.jsonl', chatTranscript(12));
    reportOf(await bench.compact('old.jsonl'));
    clock.nowMs = NOW;
    bench.write('copy.jsonl', chatTranscript(12));
    const again = { ...bench.deps, run: runMark('later', new Date(NOW)) };
    const request = { before: before(180) };
    assert.equal((await prune(bench, { ...request, isConfirmed: false })).result, 'planned');
    await bench.archive().runs.record(again.run, {
      compactionId: 1,
      sourcePath: bench.path('copy.jsonl'),
      outputPath: bench.path('copy.jsonl'),
    });
    assert.equal((await prune(bench, request)).result, 'nothing');
  });

  test('a capture keeps its conversation young, and goes with it', async (t) => {
    const bench = await sceneFor(engine, t, { 'old.jsonl': 300, 'seen.jsonl': 300 });
    await capture(bench, 'seen.jsonl');
    await prune(bench, { before: before(180) });
    assert.deepEqual(await left(bench), ['seen.jsonl']);
    const pruned = await prune(bench, { before: before(-1) });
    assert.deepEqual(pruned.capturedFiles, [bench.path('seen.jsonl')]);
    assert.deepEqual([await left(bench), await bench.archive().captures.list()], [[], []]);
  });

  test("a captured file goes with the conversation that its records name, and under that one's hold", async (t) => {
    const bench = await sceneFor(engine, t, { 'talk.jsonl': 300 });
    const id = (await bench.archive().listCompactions())[0]?.conversations[0]?.id ?? '';
    const record = {
      type: 'user',
      sessionId: id,
      uuid: 'u',
      parentUuid: null,
      isSidechain: true,
      cwd: '/',
      version: '2',
    };
    const message = { role: 'user', content: 'What a subagent was asked.' };
    bench.write('agent.jsonl', `${JSON.stringify({ ...record, timestamp: '2026-01-01T00:00:00.000Z', message })}\n`);
    await capture(bench, 'agent.jsonl');
    const scope = { kind: 'conversation', value: id } as const;
    assert.equal((await prune(bench, { before: before(180) })).result, 'nothing');
    await hold(bench, scope);
    assert.equal((await prune(bench, { before: before(-1) })).result, 'nothing');
    await release(bench, scope);
    assert.deepEqual((await prune(bench, { before: before(-1) })).capturedFiles, [bench.path('agent.jsonl')]);
  });

  test('what continues a conversation belongs to it, even under another path and id', async (t) => {
    const bench = await sceneFor(engine, t, { 'talk.jsonl': 300 });
    appendFileSync(bench.path('talk.jsonl'), chatTranscript(12, 500));
    reportOf(await bench.compact('talk.jsonl'));
    const archive = bench.archive();
    const { retention } = archive;
    const renamed: Archive = {
      ...archive,
      retention: {
        ...retention,
        listErasable: async function* () {
          for await (const batch of retention.listErasable())
            yield batch.map((one) => ({
              ...one,
              paths: [`/elsewhere/${one.id}.jsonl`],
              cycles: one.cycles.map((cycle) => ({ ...cycle, conversationId: `c${cycle.id}` })),
            }));
        },
      },
    };
    const deps = { ...bench.deps, openArchive: async () => ({ ok: true, value: renamed }) as const };
    assert.equal((await prune({ ...bench, deps }, { before: before(180) })).result, 'nothing');
  });

  for (const [what, act] of [
    ['a hold was added', (bench: Workbench) => hold(bench, { kind: 'source', value: 'a.jsonl' })],
    [
      'a run wrote it to another file',
      (bench: Workbench) =>
        bench.archive().runs.record(bench.deps.run, { compactionId: 1, sourcePath: '/b', outputPath: '/b' }),
    ],
  ] as const)
    test(`nothing is pruned if ${what} since it was selected`, async (t) => {
      const bench = await sceneFor(engine, t, { 'a.jsonl': 300 });
      const pruned = await tryPrune(meanwhile(bench, act), { before: before(180) });
      assert.ok(!pruned.ok && pruned.error.kind === 'archive' && pruned.error.failure.kind === 'busy');
      assert.deepEqual(await left(bench), ['a.jsonl']);
    });

  test('a run that uses what is erased at this moment compacts the transcript anew', async (t) => {
    const bench = await sceneFor(engine, t, { 'first.jsonl': 300 });
    bench.write('second.jsonl', chatTranscript(12));
    const archive = bench.archive();
    const state = { hasErased: false };
    const late: Archive = {
      ...archive,
      runs: {
        ...archive.runs,
        record: async (...args) => {
          if (!state.hasErased) assert.equal((await prune(bench, { maxBytes: 0 })).result, 'erased');
          state.hasErased = true;
          return archive.runs.record(...args);
        },
      },
    };
    const openArchive = async () => ({ ok: true, value: late }) as const;
    const { compact } = createWorkbench({ ...bench.deps, openArchive }, dirname(bench.path('second.jsonl')));
    reportOf(await compact('second.jsonl'));
    assert.ok(state.hasErased);
    assert.equal((await bench.verify('second.jsonl')).result, 'verified');
    assert.deepEqual(await left(bench), ['second.jsonl']);
  });

  test('a hold on a file protects what was compacted or captured through links to it', async (t) => {
    const bench = await sceneFor(engine, t, { 'first.jsonl': 300 });
    mkdirSync(bench.path('disk'));
    // One is compacted, one is the same as it, and one is a copy of the result.
    for (const name of ['a.jsonl', 'b.jsonl']) bench.write(`disk/${name}`, chatTranscript(20));
    copyFileSync(bench.path('first.jsonl'), bench.path('disk/c.jsonl'));
    symlinkSync(bench.path('disk'), bench.path('link'));
    for (const name of ['a.jsonl', 'b.jsonl', 'c.jsonl']) await bench.compact(`link/${name}`);
    bench.write('disk/d.jsonl', chatTranscript(12, 100));
    await capture(bench, 'link/d.jsonl');
    for (const value of ['disk/a.jsonl', 'disk/b.jsonl', 'disk/c.jsonl', 'disk/d.jsonl']) {
      const scope = { kind: 'source', value } as const;
      await hold(bench, scope);
      const planned = await prune(bench, { maxBytes: 0, isConfirmed: false });
      assert.deepEqual(
        planned.held.map((one) => one.value),
        [value],
      );
      await release(bench, scope);
    }
    const erased = await erase(bench, { kind: 'source', glob: bench.path('disk/d.jsonl') });
    assert.deepEqual(erased.capturedFiles, [bench.path('link/d.jsonl')]);
  });

  test('a copy of a compacted file is protected by a hold on it, and no run claims to have written it', async (t) => {
    const bench = await sceneFor(engine, t, { 'first.jsonl': 300 });
    copyFileSync(bench.path('first.jsonl'), bench.path('copy.jsonl'));
    const before = await bench.archive().runs.list();
    for (let times = 0; times < 2; times += 1)
      assert.equal(reportOf(await bench.compact('copy.jsonl')).reason, 'nothing-new');
    const scope = { kind: 'source', value: 'copy.jsonl' } as const;
    await hold(bench, scope);
    const pruned = await prune(bench, { maxBytes: 0 });
    assert.deepEqual([pruned.result, pruned.held.map(({ value }) => value)], ['nothing', ['copy.jsonl']]);
    for (const name of ['first.jsonl', 'copy.jsonl']) assert.equal((await bench.verify(name)).result, 'verified');
    assert.deepEqual(await bench.archive().runs.list(), before);
    await release(bench, scope);
    const all = await prune(bench, { maxBytes: 0 });
    assert.deepEqual(all.files, [bench.path('copy.jsonl'), bench.path('first.jsonl')]);
  });
}
