import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import type { Archive } from '../../src/ports/archive.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { collect } from '../support/collect.ts';
import { type BenchDeps, benchFor, type BenchSettings, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const SETTINGS: BenchSettings = { compaction: { summaryTokens: 600 } };
const TURNS = 40;

/** A line that is a conversation of 40 turns. */
function fineTuneLine(from: number): string {
  const messages = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Turn ${from + at}: the pump in hall ${at} delivers ${at * 7} liters. `.repeat(10),
  }));
  return `${JSON.stringify({ messages })}\n`;
}

/** Some megabytes, which are stored in several blocks. */
function longTranscript(): string {
  const long = 'The pump in the hall delivers many liters. '.repeat(600);
  const lines = Array.from({ length: 120 }, (_, at) =>
    chatLine({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${long}` }),
  );
  return `${lines.join('\n')}\n`;
}

/** The calls of an archive that write, in their order. */
function watch(archive: Archive): { readonly archive: Archive; readonly calls: string[] } {
  const calls: string[] = [];
  const begin: Archive['begin'] = async (outline) => {
    calls.push(`begin ${outline.batchCounts.join(' ')}`);
    const writer = await archive.begin(outline);
    return {
      ...writer,
      commit: async (draft) => {
        calls.push('commit');
        return writer.commit(draft);
      },
    };
  };
  return { archive: { ...archive, begin }, calls };
}

/** A bench whose archive stores beside the summarizer. */
function earlyBench(
  t: TestContext,
  { isReadableWhileStoring = true, ...overrides }: Partial<BenchDeps & Pick<Archive, 'isReadableWhileStoring'>> = {},
): Workbench & { readonly calls: string[] } {
  const bench = benchFor(t);
  const { archive, calls } = watch({ ...bench.archive(), isReadableWhileStoring });
  const model: BenchDeps['model'] = {
    ...bench.deps.model,
    complete: async (request, signal) => {
      calls.push('summarize');
      return bench.deps.model.complete(request, signal);
    },
  };
  const openArchive = async () => ({ ok: true, value: archive }) as const;
  const early = rerun(t, bench, { storesInThread: true, openArchive, model, ...overrides });
  return { ...early, calls };
}

async function storedIn(bench: Workbench, archive = bench.archive()): Promise<unknown> {
  const all: unknown[] = [];
  for (const id of [1, 2]) {
    const compaction = await archive.loadCompaction(id);
    if (compaction === null) continue;
    const { createdAt: _createdAt, sourcePath: _source, outputPath: _output, ...rest } = compaction;
    all.push({ rest, lines: (await collect(archive.readLines(id))).flat() });
  }
  return all;
}

suite('an archive that stores beside the summarizer', () => {
  test('begins before the first summary, and in the end it has the same rows as any other', async (t) => {
    const early = earlyBench(t);
    const late = benchFor(t);
    for (const [cycle, bench] of [early, late].flatMap((one) => [0, 1].map((at) => [at, one] as const))) {
      if (cycle === 0) bench.write('talk.jsonl', '');
      appendFileSync(bench.path('talk.jsonl'), chatTranscript(TURNS, cycle * TURNS));
      assert.equal(reportOf(await bench.compact('talk.jsonl', SETTINGS)).result, 'compacted');
    }
    assert.deepEqual(early.calls, ['begin 1', 'summarize', 'commit', 'begin 1', 'summarize', 'commit']);
    assert.deepEqual(early.read('talk.jsonl'), late.read('talk.jsonl'));
    assert.deepEqual(await storedIn(early), await storedIn(late));
    assert.deepEqual((await early.verify('talk.jsonl')).problems, []);
  });

  test('waits for the summaries where nobody could read the archive meanwhile', async (t) => {
    const bench = earlyBench(t, { isReadableWhileStoring: false });
    bench.write('talk.jsonl', chatTranscript(TURNS));
    assert.equal(reportOf(await bench.compact('talk.jsonl', SETTINGS)).result, 'compacted');
    assert.deepEqual(bench.calls, ['summarize', 'begin 1', 'commit']);
  });

  test('stores the summary of another program as a batch of its own', async (t) => {
    const bench = earlyBench(t);
    const summary =
      '[Context Summary — 9 messages compressed across 1 compaction cycle]\n## Earliest context\nThe old boat.';
    const prior = `${JSON.stringify({ role: 'system', content: summary })}\n`;
    bench.write('talk.jsonl', prior + chatTranscript(TURNS));
    reportOf(await bench.compact('talk.jsonl', { ...SETTINGS, isFresh: true }));
    assert.deepEqual(bench.calls, ['begin 2', 'summarize', 'commit']);
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  });

  test('keeps nothing of a run that is interrupted, and others can write', async (t) => {
    const abort = new AbortController();
    const bench = earlyBench(t, { signal: abort.signal, reached: (step) => step === 'summarized' && abort.abort() });
    bench.write('talk.jsonl', chatTranscript(TURNS));
    const done = await bench.compact('talk.jsonl', SETTINGS);
    assert.equal(done.ok ? 'ok' : done.error.kind, 'interrupted');
    assert.deepEqual(bench.calls, ['begin 1', 'summarize']);
    await bench.archive().discard(9); // would wait for a writer that is still there
    assert.deepEqual([await bench.archive().listPrepared(), await storedIn(bench)], [[], []]);
  });

  test('stores while the summary is made', async (t) => {
    const bench = benchFor(t);
    const summarizing = Promise.withResolvers<void>();
    const appended: number[] = [];
    const archive = bench.archive();
    const begin: Archive['begin'] = async (outline) => {
      const writer = await archive.begin(outline);
      const append: typeof writer.append = async (lines) => {
        appended.push(lines.length);
        if (appended.length > 1) await summarizing.promise; // never, if all lines had to be stored first
        return writer.append(lines);
      };
      return { ...writer, append };
    };
    const model: BenchDeps['model'] = {
      ...bench.deps.model,
      complete: async (request, signal) => {
        summarizing.resolve();
        return bench.deps.model.complete(request, signal);
      },
    };
    const openArchive = async () => ({ ok: true, value: { ...archive, begin } }) as const;
    const early = rerun(t, bench, { storesInThread: true, openArchive, model });
    early.write('talk.jsonl', longTranscript());
    assert.equal(reportOf(await early.compact('talk.jsonl', SETTINGS)).result, 'compacted');
    assert.ok(appended.length > 2);
    assert.deepEqual((await early.verify('talk.jsonl')).problems, []);
  });

  test('a run that is interrupted while it stores keeps nothing', async (t) => {
    const bench = benchFor(t);
    const abort = new AbortController();
    const archive = bench.archive();
    const begin: Archive['begin'] = async (outline) => {
      const writer = await archive.begin(outline);
      const append: typeof writer.append = async (lines) => {
        await writer.append(lines);
        abort.abort();
      };
      return { ...writer, append };
    };
    const openArchive = async () => ({ ok: true, value: { ...archive, begin } }) as const;
    const early = rerun(t, bench, { storesInThread: true, openArchive, signal: abort.signal });
    early.write('talk.jsonl', longTranscript());
    const done = await early.compact('talk.jsonl', SETTINGS);
    assert.equal(done.ok ? 'ok' : done.error.kind, 'interrupted');
    await archive.discard(9); // would wait for a writer that is still there
    assert.deepEqual([await archive.listPrepared(), await storedIn(early)], [[], []]);
  });

  test('does not begin before the summaries where their number is not known', async (t) => {
    const bench = earlyBench(t);
    bench.write('talk.jsonl', chatTranscript(TURNS));
    reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 20 } }));
    assert.equal(bench.calls[0], 'summarize');
    assert.match(bench.calls.at(-2) ?? '', /^begin/);
  });

  test('stores again where one of several conversations stays as it is after all', async (t) => {
    // A little shorter than what it summarizes, so that it is accepted, but not once the archive's frame comes on top.
    const tooLong = 'The pump in the hall delivers many liters. '.repeat(384);
    const asked: string[] = [];
    const model: BenchDeps['model'] = {
      isVerbatim: true,
      complete: async () => {
        asked.push('summarize');
        const content = [{ type: 'text', text: asked.length > 1 ? tooLong : 'The pump delivers.' }] as const;
        return { content, stop_reason: 'end_turn', usage: { input_tokens: 0, output_tokens: 0 } };
      },
    };
    const bench = earlyBench(t, { model });
    bench.write('talk.jsonl', [0, 40].map((from) => fineTuneLine(from)).join(''));
    const report = reportOf(await bench.compact('talk.jsonl', SETTINGS));
    assert.equal(report.result, 'compacted');
    assert.deepEqual(bench.calls, ['begin 1 1', 'begin 1', 'commit']);
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  });

  test('opens no archive to store in unless it is certain that something is gained', async (t) => {
    const modes: string[] = [];
    const bench = benchFor(t);
    const openArchive: BenchDeps['openArchive'] = async (mode) => {
      modes.push(mode);
      return { ok: true, value: null };
    };
    const early = rerun(t, bench, { storesInThread: true, openArchive });
    const lines = Array.from({ length: 8 }, (_, at) => `${chatLine({ role: 'user', content: `no ${at}` })}\n`);
    early.write('talk.jsonl', lines.join(''));
    const long = { compaction: { summaryTokens: 600, keepRecent: 2 } };
    assert.equal(reportOf(await early.compact('talk.jsonl', long)).reason, 'nothing-gained');
    assert.deepEqual(new Set(modes), new Set(['existing']));
  });
});

test('the failure of a thread that died is that of its file, which stays as it was', async (t) => {
  const diedOf = 'archive: its thread ended';
  const dead = async (): Promise<never> => {
    throw Object.assign(new Error(diedOf), { diedOf });
  };
  const bench = benchFor(t);
  for (const method of ['begin', 'append', 'findSame', 'markApplied'] as const) {
    const archive = bench.archive();
    const begin: Archive['begin'] = async (outline) => ({ ...(await archive.begin(outline)), append: dead });
    const broken = { ...archive, ...(method === 'append' ? { begin } : { [method]: dead }) };
    const run = rerun(t, bench, { storesInThread: true, openArchive: async () => ({ ok: true, value: broken }) });
    run.write(`${method}.jsonl`, chatTranscript(TURNS));
    const done = await run.compact(`${method}.jsonl`, SETTINGS);
    assert.deepEqual(done, { ok: false, error: { kind: 'worker-died', file: `${method}.jsonl`, reason: diedOf } });
    assert.equal(
      (
        await rerun(t, bench)
          .restore(`${method}.jsonl`)
          .catch(() => run.read(`${method}.jsonl`))
      ).toString(),
      chatTranscript(TURNS),
    );
  }
});
