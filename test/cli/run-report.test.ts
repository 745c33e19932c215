import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompactReport, FailedReport } from '../../src/app/contract/reports.ts';
import { NO_USAGE } from '../../src/app/summarize/usage.ts';
import { skipUnreadable } from '../../src/cli/runs/outcomes.ts';
import { failedReport } from '../../src/messages/failure.ts';
import { createReporter } from '../../src/cli/terminal/reporter.ts';
import { createRunReport, type RunReport } from '../../src/cli/runs/run-report.ts';
import { compactReport } from './fake-reports.ts';
import { createFakeTerminal, type FakeTerminal } from './fakes.ts';

type Setting = {
  readonly names: readonly string[];
  readonly failures?: readonly FailedReport[];
  readonly json?: boolean;
  readonly verbosity?: 'quiet' | 'normal' | 'verbose';
};

const NO_SETTINGS = { configFlag: null, project: 'ignored', flags: {} } as const;

/** Names are cut there. */
function createNarrowTerminal(): FakeTerminal {
  const terminal = createFakeTerminal([]);
  return { ...terminal, stderr: { ...terminal.stderr, isTerminal: true, widthColumns: 60 } };
}

/** What is said of a run, on stderr and on stdout. */
async function said(
  { names, failures = [], json = false, verbosity = 'normal' }: Setting,
  run: (report: RunReport) => void,
): Promise<{ readonly errors: readonly string[]; readonly out: readonly unknown[] }> {
  const terminal = createNarrowTerminal();
  const outputOptions = { json, verbosity, color: 'never', showProgress: false } as const;
  const reporter = await createReporter(terminal, outputOptions);
  const asked = { outputOptions, settings: NO_SETTINGS };
  const options = { isDryRun: false, isInPlace: true, archiveFlag: null, names, failures };
  run(createRunReport({ reporter, terminal, asked }, options));
  const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1);
  return { errors: linesOf(terminal.errors()), out: linesOf(terminal.out()).map((line): unknown => JSON.parse(line)) };
}

const DENIED = failedReport('b.jsonl', { kind: 'denied', message: 'b.jsonl: no permission to read it.' });
const skipped = (file: string): CompactReport =>
  compactReport({ file, result: 'skipped', reason: 'nothing-new', output: null, archive: null });

test('a run over several is one report: a line each, then the totals', async () => {
  const { errors } = await said({ names: ['a.jsonl', 'b.jsonl', 'c.jsonl'] }, ({ done, failed, end }) => {
    done(compactReport({ file: 'a.jsonl' }));
    failed(DENIED);
    done(skipped('c.jsonl'));
    end(0);
  });
  assert.deepEqual(errors, [
    'transcript                tokens result',
    'a.jsonl             12,000 → 750 93 % saved',
    'b.jsonl: no permission to read it.',
    'c.jsonl                   12,000 nothing new',
    '3 transcripts: 1 compacted, 1 skipped (1 nothing new), 1 failed',
    '  result    48 kB → 3.0 kB (archive + 12 kB),',
    '            12,000 → 750 tokens (93 % saved),',
    '            33 kB of disk freed, net of the archive',
    '  archive   /data/archive.db',
    '  undo      compact undo',
  ]);
});

test('transcripts that are too recent are counted, and listed only as data', async () => {
  const skip = (file: string) =>
    skipUnreadable({ kind: 'too-recent', file }, { name: file, isNamed: true }) ?? assert.fail();
  const names = ['a.jsonl', 'b.jsonl', 'c.jsonl'];
  const runAll = ({ done, skipped: skipFile, end }: RunReport): void => {
    done(skipped('a.jsonl'));
    skipFile(skip('b.jsonl'));
    skipFile(skip('c.jsonl'));
    end(0);
  };
  const { errors } = await said({ names }, runAll);
  assert.deepEqual(errors.slice(1), [
    'a.jsonl                   12,000 nothing new',
    '3 transcripts: 3 skipped (2 too recent, 1 nothing new)',
  ]);
  const { out } = await said({ names, json: true }, runAll);
  assert.deepEqual(
    out.map((line) => line !== null && typeof line === 'object' && 'reason' in line && line.reason),
    ['nothing-new', 'too-recent', 'too-recent'],
  );
});

test('a single transcript is reported in full, without totals', async () => {
  const { errors } = await said({ names: ['a.jsonl'] }, ({ done, end }) => {
    done(compactReport({ file: 'a.jsonl' }));
    end(0);
  });
  assert.equal(errors[0], 'a.jsonl: compacted in place');
  assert.equal(errors.at(-1), '  restore   compact restore a.jsonl -i');
});

test('verbose reports each of several in full', async () => {
  const { errors } = await said({ names: ['a.jsonl', 'c.jsonl'], verbosity: 'verbose' }, ({ done, end }) => {
    done(compactReport({ file: 'a.jsonl' }));
    end(1);
  });
  assert.deepEqual(
    [errors[0], errors[1], errors.at(-6)],
    [
      'a.jsonl: compacted in place',
      '  result    48 kB → 3.0 kB (archive + 12 kB),',
      '2 transcripts: 1 compacted, 1 not done; the files of those are as they were',
    ],
  );
});

test('failed transcripts that have scrolled away are named again at the end, without what was said of them', async () => {
  const names = Array.from({ length: 30 }, (_, at) => `${at}.jsonl`);
  const again = async (before: number) => {
    const { errors } = await said({ names }, ({ done, failed, end }) => {
      for (const name of names.slice(0, before)) done(skipped(name));
      failed(DENIED);
      for (const name of names.slice(before)) done(skipped(name));
      end(0);
    });
    return errors.slice(-2);
  };
  assert.deepEqual(await again(2), ['Failed, for the reasons above:', '  b.jsonl']);
  assert.equal((await again(28)).includes('Failed, for the reasons above:'), false);
});

test('of very many failed transcripts the first are named again, and the number of the others', async () => {
  const failures = Array.from({ length: 50 }, (_, at) =>
    failedReport(`${at}.jsonl`, { kind: 'denied', message: `${at}.jsonl: no.` }),
  );
  const { errors } = await said({ names: [], failures }, ({ end }) => void end(0));
  assert.equal(errors[0], '50 transcripts: 50 failed');
  assert.deepEqual([errors.length, errors[2], errors.at(-1)], [23, '  0.jsonl', '  … and 30 more']);
});

test('a failure of the archive names the transcript too', async () => {
  const failure = failedReport('b.jsonl', { kind: 'archive-busy', message: '/data/archive.db: held.' });
  const { errors } = await said({ names: ['a.jsonl', 'b.jsonl'] }, ({ failed }) => failed(failure));
  assert.deepEqual(errors, ['b.jsonl: /data/archive.db: held.']);
});

test('a note that many transcripts share is printed once', async () => {
  const note = (file: string) => compactReport({ file, notes: ['the last turn stays\u001b'] });
  const { errors } = await said({ names: ['a.jsonl', 'b.jsonl', 'c.jsonl'] }, ({ done, end }) => {
    for (const name of ['a.jsonl', 'b.jsonl', 'c.jsonl']) done(note(name));
    end(0);
  });
  assert.deepEqual(
    errors.filter((line) => line.startsWith('note')),
    ['note: a.jsonl and 2 others: the last turn stays\\x1b'],
  );
});

test('with --json a transcript that failed has its line too, as what was named and is not there has', async () => {
  const missing = failedReport('x.jsonl', { kind: 'not-found', message: 'x.jsonl: no such file.' });
  const { errors, out } = await said({ names: ['a.jsonl', 'b.jsonl'], failures: [missing], json: true }, (report) => {
    report.done(compactReport({ file: 'a.jsonl' }));
    report.failed(DENIED);
    report.end(0);
  });
  assert.deepEqual(out, [missing, compactReport({ file: 'a.jsonl' }), DENIED]);
  assert.deepEqual(errors, [
    'b.jsonl: no permission to read it.',
    '3 transcripts: 1 compacted, 2 failed',
    '  result    48 kB → 3.0 kB (archive + 12 kB),',
    '            12,000 → 750 tokens (93 % saved),',
    '            33 kB of disk freed, net of the archive',
  ]);
});

test('the totals of all model calls are reported at the end', async () => {
  const usage = { ...NO_USAGE, calls: 2, inputTokens: 3000, outputTokens: 200, cost: 0.5 };
  const [conversation] = compactReport().conversations;
  const batches = [{ label: 'x', depth: 0, start: null, end: null, count: 9, level: 'fallback' as const }];
  const { errors } = await said({ names: ['a.jsonl', 'b.jsonl', 'c.jsonl'] }, ({ done, end }) => {
    done(compactReport({ file: 'a.jsonl', usage, retention: { kept: 4, total: 9, batches: [] } }));
    done(compactReport({ file: 'b.jsonl', usage: { ...usage, reused: 1, cost: null } }));
    assert.ok(conversation);
    const conversations = [{ ...conversation, batches }];
    done(compactReport({ file: 'c.jsonl', conversations, retention: { kept: 1, total: 1, batches: [] } }));
    end(0);
  });
  assert.deepEqual(errors.slice(8, -2), [
    '  levels    1 batch summarized offline, the model failed',
    '  facts     5 of 10 kept',
    '  model     4 calls, 6,000 tokens in, 400 out,',
    '            1 summary paid before, cost 0.50',
  ]);
});

test('a preview of several says that no transcript was written', async () => {
  const preview = [{ conversation: 'c', text: 't' }];
  const terminal = createNarrowTerminal();
  const outputOptions = { json: false, verbosity: 'normal', color: 'never', showProgress: false } as const;
  const reporter = await createReporter(terminal, outputOptions);
  const names = ['a.jsonl', 'b.jsonl'];
  const asked = { outputOptions, settings: NO_SETTINGS };
  const options = { isDryRun: false, isInPlace: false, archiveFlag: null, names, failures: [] };
  const report = createRunReport({ reporter, terminal, asked }, options);
  for (const file of names) report.done(compactReport({ file, result: 'planned', preview, output: null }));
  report.end(0);
  assert.match(terminal.errors(), /^2 transcripts: 2 planned; no transcript was written$/m);
  assert.equal(terminal.out(), 'a.jsonl, conversation c:\nt\n\nb.jsonl, conversation c:\nt\n\n');
});
