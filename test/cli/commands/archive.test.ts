import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { err, ok } from '../../../src/core/result.ts';
import { checkReport, listReport, searchReport, shownBatch, shownMessage, statsReport } from '../archive-reports.ts';
import { createFakeTerminal, createFakeUseCases, type TerminalOptions } from '../fakes.ts';
import { jsonLines } from '../../support/program.ts';

type Ran = { readonly code: number; readonly out: string; readonly errors: string };

async function ran(
  argv: readonly string[],
  answers: Parameters<typeof createFakeUseCases>[0] = {},
  options: TerminalOptions = {},
): Promise<Ran & { readonly calls: ReturnType<typeof createFakeUseCases>['calls'] }> {
  const terminal = createFakeTerminal(argv, options);
  const useCases = createFakeUseCases(answers);
  const code = await run({ terminal, loadUseCases: useCases.loadUseCases });
  return { code, out: terminal.out(), errors: terminal.errors(), calls: useCases.calls };
}

const NONE =
  '/nowhere/home/.local/share/compact/archive.db: there is no archive yet. Name another one with --archive.\n';
const damaged = err({ kind: 'archive', failure: { kind: 'damaged', path: 'a.db', reason: 'a page is torn' } } as const);

test('what was found goes to stdout, for people and as one object', async () => {
  const shown = await ran(['search', 'boat']);
  assert.deepEqual([shown.code, shown.errors], [0, '']);
  assert.match(shown.out, /^message:7 {2}user ada/);
  const json = await ran([
    'search',
    'green',
    'boat',
    '--json',
    '--limit',
    '3',
    '--batches',
    '--newest',
    '--conversation',
    'c1',
  ]);
  assert.deepEqual(JSON.parse(json.out), searchReport({ query: 'green boat' }));
  const request = json.calls[0]?.request;
  assert.ok(typeof request === 'object' && request !== null);
  const asked = { query: 'green boat', conversation: 'c1', kinds: 'batches', order: 'newest', limit: 3 };
  assert.deepEqual({ ...request, ...asked }, request);
});

test('where nothing is found, or there is no archive yet, a word on stderr says so, and that is no failure', async () => {
  const empty = { searchArchive: () => Promise.resolve(ok(searchReport({ query: 'a\u001b[2J', hits: [] }))) };
  const { calls: _calls, ...found } = await ran(['search', 'x'], empty);
  assert.deepEqual(found, { code: 0, out: '', errors: 'a\\x1b[2J: nothing found.\n' });
  assert.equal((await ran(['search', '-q', 'x'], empty)).errors, '');
  const none = { searchArchive: () => Promise.resolve(ok(searchReport({ hits: [], archive: null }))) };
  const { calls: _none, ...missing } = await ran(['search', 'x'], none);
  assert.deepEqual(missing, { code: 0, out: '', errors: NONE });
});

test('a search that fails says why', async () => {
  const { code, out, errors } = await ran(['search', 'x'], { searchArchive: () => Promise.resolve(damaged) });
  assert.deepEqual(
    [code, out, errors],
    [1, '', 'a.db: the archive is damaged: a page is torn. Replace it with a backup.\n'],
  );
});

test('every line of standard input gets a line of JSON, an empty one too', async () => {
  const { code, out, errors } = await ran(['search', '-', '--limit', '1'], {}, { stdin: 'one\r\n\ntwo' });
  const queries = jsonLines(out).map(({ query }) => query);
  assert.deepEqual([code, errors, queries], [0, '', ['one', '', 'two']]);
});

test('a query that fails gets its line all the same, and the exit code tells', async () => {
  const searchArchive: Parameters<typeof createFakeUseCases>[0] = {
    searchArchive: ({ query }) => Promise.resolve(query === 'bad' ? damaged : ok(searchReport({ query }))),
  };
  const { code, out, errors } = await ran(['search', '-'], searchArchive, { stdin: 'good\nbad\ngood\n' });
  const lines = jsonLines(out);
  assert.deepEqual([code, lines.map(({ hits }) => hits.length)], [1, [2, 0, 2]]);
  assert.match(lines[1].error, /a page is torn/);
  assert.match(errors, /a page is torn/);
});

test('that there is no archive is said once, however many ask', async () => {
  const none = { searchArchive: () => Promise.resolve(ok(searchReport({ hits: [], archive: null }))) };
  assert.equal((await ran(['search', '-'], none, { stdin: '1\n2\n3\n' })).errors, NONE);
});

test('no more is asked when nobody reads the answers', async () => {
  const { code, calls } = await ran(['search', '-'], {}, { stdin: '1\n2\n3\n', closesAfter: 1 });
  assert.deepEqual([code, calls.map(({ name }) => name)], [0, ['search', 'close']]);
});

test('what is shown goes to stdout, for people and as one object', async () => {
  assert.match((await ran(['show', 'x'])).out, /^compaction-batch-c1-x\n/);
  assert.deepEqual(JSON.parse((await ran(['show', 'x', '--json'])).out), shownBatch());
});

test('a name that is not known is told with those nearest to it', async () => {
  const near = ['compaction-batch-c1-x'];
  const showArchived = () =>
    Promise.resolve(err({ kind: 'not-archived', name: 'c1\u001b', near, archive: 'a.db' } as const));
  const { code, out, errors } = await ran(['show', 'c1'], { showArchived });
  assert.deepEqual(
    [code, out, errors],
    [1, '', 'c1\\x1b: not in the archive a.db. The nearest labels: compaction-batch-c1-x.\n'],
  );
});

test('a name that several bear is told with all that it may mean', async () => {
  const candidates = [
    { name: 'message:1', about: 'line 1 of a' },
    { name: 'message:2', about: 'line 2 of a' },
  ];
  const showArchived = () => Promise.resolve(err({ kind: 'ambiguous', name: 'm', candidates, hasMore: true } as const));
  const { code, errors } = await ran(['show', 'm'], { showArchived });
  assert.equal(code, 1);
  assert.equal(
    errors,
    'm: the name is ambiguous. Give one of these:\n  message:1  (line 1 of a)\n  message:2  (line 2 of a)\n  …\n',
  );
});

test('the lines behind a batch are written as they are, each with an end', async () => {
  const showOriginals: NonNullable<Parameters<typeof createFakeUseCases>[0]>['showOriginals'] = async (
    _request,
    onLine,
  ) => {
    for (const text of ['{"a":1}\r\n', '{"b":2}'])
      await onLine({ bytes: Buffer.from(text), report: async () => shownMessage() });
    return ok(2);
  };
  const { code, out, errors } = await ran(['show', 'x', '--messages'], { showOriginals });
  assert.deepEqual([code, out, errors], [0, '{"a":1}\r\n{"b":2}\n', '']);
  const json = await ran(['show', 'x', '--messages', '--json'], { showOriginals });
  assert.deepEqual(jsonLines(json.out), [shownMessage(), shownMessage()]);
});

test('a batch without lines behind it says why', async () => {
  const { code, out, errors } = await ran(['show', 'x', '--messages']);
  assert.deepEqual([code, out], [0, '']);
  assert.match(errors, /^It has no original lines/);
});

test('no more lines are read when nobody takes them', async () => {
  const goesOn: boolean[] = [];
  const showOriginals: NonNullable<Parameters<typeof createFakeUseCases>[0]>['showOriginals'] = async (
    _request,
    onLine,
  ) => {
    goesOn.push(await onLine({ bytes: Buffer.from('a\n'), report: async () => shownMessage() }));
    return ok(1);
  };
  const { code } = await ran(['show', 'x', '--messages'], { showOriginals }, { closesAfter: 1 });
  assert.deepEqual([code, goesOn], [0, [false]]);
});

test('the archive is listed and measured, for people and as one object', async () => {
  assert.match((await ran(['archive', 'list'])).out, /^2026-03-03 00:00 {2}\/logs\/talk\.jsonl\n/);
  assert.deepEqual(JSON.parse((await ran(['archive', 'list', '--json'])).out), listReport());
  assert.match((await ran(['archive', 'stats'])).out, /^\/data\/archive\.db\n {2}compactions {2}3/);
  assert.deepEqual(JSON.parse((await ran(['archive', 'stats', '--json'])).out), statsReport());
});

test('a missing archive is empty', async () => {
  const none = {
    listArchive: () => Promise.resolve(ok(listReport({ archive: null, compactions: [] }))),
    measureArchive: () => Promise.resolve(ok(statsReport({ archive: null }))),
  };
  for (const action of ['list', 'stats']) {
    const { code, out, errors } = await ran(['archive', action], none);
    assert.deepEqual([code, out, errors], [0, '', NONE]);
  }
});

test('an archive that is sound is told to be, and one that is not is a failure too', async () => {
  const sound = await ran(['archive', 'check']);
  assert.deepEqual([sound.code, sound.out.split('\n')[0]], [0, '/data/archive.db: sound']);
  assert.equal((await ran(['archive', 'check', '-q'])).out, '');
  const problems = [{ kind: 'block', message: 'block 3 cannot be decompressed', files: ['/logs/talk.jsonl'] }] as const;
  const answer = { checkArchive: () => Promise.resolve(ok(checkReport({ result: 'damaged', problems }))) };
  const broken = await ran(['archive', 'check', '-q'], answer);
  assert.equal(broken.code, 1);
  assert.match(broken.out, /damaged, 1 problem/);
  const json = await ran(['archive', 'check', '--json'], answer);
  assert.deepEqual([json.code, JSON.parse(json.out).result], [1, 'damaged']);
});

test('an archive that cannot be read says why, whatever is asked of it', async () => {
  const fails = () => Promise.resolve(damaged);
  const answers = {
    listArchive: fails,
    measureArchive: fails,
    checkArchive: fails,
    showArchived: fails,
    showOriginals: fails,
  };
  for (const argv of [
    ['archive', 'list'],
    ['archive', 'stats'],
    ['archive', 'check'],
    ['show', 'x'],
    ['show', 'x', '--messages'],
  ]) {
    const { code, out, errors } = await ran(argv, answers);
    assert.deepEqual([code, out, /a page is torn/.test(errors)], [1, '', true], argv.join(' '));
  }
});
