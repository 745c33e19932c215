import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { VerifyProblem } from '../../src/app/contract/reports.ts';
import { chatTranscript } from '../support/chat.ts';
import { change, spoilText } from '../support/full-archive.ts';
import { benchFor, benchWith, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);

async function compacted(bench: Workbench): Promise<void> {
  bench.write('talk.jsonl', original);
  reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 20 } }));
}

function tamper(bench: Workbench, ...statements: readonly string[]): void {
  change(bench.archivePath, statements.join(';'));
}

async function problemsOf(bench: Workbench): Promise<readonly string[]> {
  return (await bench.verify('talk.jsonl')).problems.map(({ kind }) => kind);
}

test('one bent byte of a kept line is found, and its line is named', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  const bytes = bench.read('talk.jsonl');
  const lines = bytes.toString().trimEnd().split('\n').length;
  bytes[bytes.length - 10] = (bytes[bytes.length - 10] ?? 0) ^ 1;
  bench.write('talk.jsonl', bytes);
  const { problems, result } = await bench.verify('talk.jsonl');
  assert.equal(result, 'failed');
  assert.deepEqual(
    problems.map(({ kind, line }) => [kind, line]),
    [['changed-line', lines]],
  );
  await assert.rejects(bench.restore('talk.jsonl'), /"altered"/);
});

test('every single byte of every kept line counts', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  const bytes = bench.read('talk.jsonl');
  const firstKept = bytes.indexOf(0x0a) + 1;
  for (let at = firstKept; at < bytes.length - 1; at += 97) {
    const bent = Buffer.from(bytes);
    bent[at] = (bent[at] ?? 0) ^ 4;
    bench.write('talk.jsonl', bent);
    assert.notDeepEqual(await problemsOf(bench), [], `byte ${at}`);
  }
});

test('a clip-archive that was edited is no longer one of this archive', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  bench.write('talk.jsonl', bench.read('talk.jsonl').toString().replace('Batch 1', 'Batch 9'));
  await assert.rejects(bench.verify('talk.jsonl'), /not-in-archive/);
});

test('a kept line that was cut off the end is missed', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  const lines = bench.read('talk.jsonl').toString().trimEnd().split('\n');
  bench.write('talk.jsonl', `${lines.slice(0, -1).join('\n')}\n`);
  assert.deepEqual(await problemsOf(bench), ['changed-line']);
});

type Damage = {
  readonly what: string;
  readonly statements: readonly string[];
  readonly kind: VerifyProblem['kind'];
  /** The file goes on, and is compacted again, before the archive is damaged. */
  readonly isEarlier?: true;
};

const DAMAGES: readonly Damage[] = [
  { what: 'a missing batch', statements: ['DELETE FROM batches WHERE id = 2'], kind: 'missing-batch' },
  { what: 'a hole in the ledger', statements: ['DELETE FROM lines WHERE id = 7'], kind: 'hole' },
  {
    what: 'a lost block of archived lines',
    statements: ['DELETE FROM lines WHERE block_id = 1', 'DELETE FROM blocks WHERE id = 1'],
    kind: 'damaged-archive',
  },
  {
    what: 'damage inside an archived block',
    statements: ['UPDATE packs SET data = spoiled(data, 0, 20) WHERE id = 1'],
    kind: 'damaged-archive',
  },
  { what: 'damage in an earlier cycle', statements: ['DELETE FROM lines WHERE id = 7'], kind: 'hole', isEarlier: true },
  {
    what: 'an earlier cycle that is gone though the later one is whole',
    statements: ['DELETE FROM cycles WHERE id = 1'],
    kind: 'missing-batch',
    isEarlier: true,
  },
];

for (const { what, statements, kind, isEarlier } of DAMAGES)
  test(`${what} is found`, async (t) => {
    const bench = benchFor(t);
    await compacted(bench);
    if (isEarlier === true) {
      appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 100));
      reportOf(await bench.compact('talk.jsonl'));
    }
    assert.deepEqual(await problemsOf(bench), []);
    tamper(bench, ...statements);
    assert.deepEqual([...new Set(await problemsOf(bench))], [kind]);
  });

test('a batch whose text was changed is found, shown or not, and restoring still works', async (t) => {
  for (const id of [1, 3]) {
    const bench = benchWith(t, 'talk.jsonl', original);
    reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 15 } }));
    change(bench.archivePath, spoilText('batches', id));
    assert.ok((await problemsOf(bench)).includes('changed-batch'), `batch ${id}`);
    assert.equal((await bench.restore('talk.jsonl')).toString(), original);
  }
});

test('a parted group is found: a result that was kept while its call is in the archive', async (t) => {
  const bench = benchFor(t);
  const call = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
  };
  const pair = `${JSON.stringify(call)}\n{"role":"tool","tool_call_id":"x","content":"done"}\n`;
  bench.write('talk.jsonl', `${original}{"role":"assistant","content":"before"}\n${pair}`);
  const blind = rerun(t, bench, { formats: { ...bench.deps.formats, detect: blindDetect(bench) } });
  const compaction = { keepRecent: 1, keepRecentTokens: 0 };
  assert.equal(reportOf(await blind.compact('talk.jsonl', { compaction })).result, 'compacted');
  assert.deepEqual(await problemsOf(bench), ['parted-group']);
});

/** A codec that does not see calls and results: what a bug in one would do. */
function blindDetect(bench: Workbench): Workbench['deps']['formats']['detect'] {
  return async (sample) => {
    const found = await bench.deps.formats.detect(sample);
    if (found.kind === 'unknown') return found;
    const { codec } = found;
    return {
      kind: 'found',
      codec: {
        ...codec,
        open: () => {
          const session = codec.open();
          return {
            ...session,
            observe: (value, line) => {
              const decoded = session.observe(value, line);
              return 'problem' in decoded ? decoded : { ...decoded, calls: [], results: [], isPrompt: false };
            },
          };
        },
      },
    };
  };
}

test('lines appended since are allowed and counted', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  bench.write('talk.jsonl', `${bench.read('talk.jsonl').toString()}{"role":"user","content":"more"}\n`);
  const report = await bench.verify('talk.jsonl');
  assert.deepEqual([report.result, report.lines.appended], ['verified', 1]);
});

test('a file that was never compacted cannot be verified', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  await assert.rejects(bench.verify('talk.jsonl'), /not-compacted/);
});

test('a fork of a fork verifies: cycles that wrote the same line are one', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  copyFileSync(bench.path('talk.jsonl'), bench.path('fork.jsonl'));
  for (const name of ['fork.jsonl', 'talk.jsonl']) {
    appendFileSync(bench.path(name), chatTranscript(12, 100));
    await bench.compact(name, { output: { kind: 'in-place' } });
  }
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(12, 200));
  await bench.compact('talk.jsonl');
  assert.deepEqual(await problemsOf(bench), []);
});

test('a summary of the producer is not ours: the file was not compacted', async (t) => {
  const bench = benchFor(t);
  bench.archive();
  const fixture = new URL('../../fixtures/transcripts/claude-code/producer-compaction.jsonl', import.meta.url);
  bench.write('s.jsonl', readFileSync(fixture));
  await assert.rejects(bench.verify('s.jsonl'), /not-compacted/);
});

test('all the way back is all the way: with an earlier cycle gone, restoring everything is refused', async (t) => {
  const bench = benchFor(t);
  await compacted(bench);
  bench.write('talk.jsonl', bench.read('talk.jsonl').toString() + chatTranscript(20, 100));
  reportOf(await bench.compact('talk.jsonl'));
  tamper(bench, 'UPDATE cycles SET clip_sha256 = zeroblob(32) WHERE compaction_id = 1');
  assert.ok((await bench.restore('talk.jsonl', false)).length > 0);
  await assert.rejects(bench.restore('talk.jsonl', true), /not-in-archive/);
});
